import { readFile } from 'node:fs/promises';
import { findUnitFault, isFaultBeside } from '#server/media/h264/check-sample.ts';
import { NOT_MOVED } from '#server/media/h264/moved-picture.ts';
import { joinSample } from '#server/media/h264/nal.ts';
import { readHashes } from '#server/media/ffmpeg/frame-hashes.ts';
import { writeFully } from '#server/media/mp4/file-bytes.ts';
import type { EncodedPicture } from '../smart-render-encoder.ts';
import { samplesOfPart, type Part } from '../smart-render-part.ts';
import type { TornPicture } from '#server/media/h264/slice-data/torn-picture.ts';
import { openTornSample, tornSample } from '../smart-render-torn.ts';
import { movedSample, verbatimSample, type VerbatimPps } from '../smart-render-verbatim.ts';
import { decodePart, hashPath, type PartInput } from './smart-render-exchange-decode.ts';
import { referencesInFront } from './smart-render-exchange-heads.ts';
import { sampled } from './smart-render-exchange-likeness.ts';
import type { DamagedSample } from './smart-render-exchange-plan.ts';
import type { ExchangeInput } from './smart-render-exchange.ts';

/** One stretch whose pictures are exchanged. */
export type VerbatimInput = PartInput & Pick<ExchangeInput, 'source' | 'spool' | 'takeSpool'>;

/** Pictures in the places of damaged ones. */
export interface Verbatim {
  /** By sample of the original. */
  readonly coded: ReadonlyMap<number, EncodedPicture>;
  /** What all pictures of the part looked like, by place. */
  readonly marks: ReadonlyMap<number, Uint8Array>;
  /** Hashes of them, by place. */
  readonly hashes: ReadonlyMap<number, string>;
  /** Wanted pictures that never came out of the decoder. */
  readonly missing: readonly DamagedSample[];
  /** Those that keep a readable part (`tornSample`), by sample. */
  readonly torn: ReadonlyMap<number, TornPicture>;
}

export const UNSEEN: Omit<Verbatim, 'coded'> = {
  marks: new Map(),
  hashes: new Map(),
  missing: [],
  torn: new Map(),
};

/** Keeps the bytes of a sample. */
export async function stored(
  { source, spool, takeSpool }: Pick<VerbatimInput, 'source' | 'spool' | 'takeSpool'>,
  sample: number,
  bytes: Buffer,
): Promise<EncodedPicture> {
  const offset = takeSpool(bytes.length);
  await writeFully(spool, bytes, offset);
  const sync = source.samples[sample]?.sync === true;
  return { bytes: { file: spool, offset, sizeBytes: bytes.length }, sync };
}

/** Pictures without the damaged units beside them; null where the pictures themselves are damaged. */
export async function makeStripped(
  input: VerbatimInput,
  damaged: readonly DamagedSample[],
): Promise<Map<number, EncodedPicture> | null> {
  const { source } = input;
  const coded = new Map<number, EncodedPicture>();
  for (const { sample } of damaged) {
    if ((await source.head(sample)) === null) return null;
    const units = await source.units(sample);
    if (!isFaultBeside(units)) return null;
    const whole = units.filter((unit) => findUnitFault(unit) === null);
    coded.set(sample, await stored(input, sample, joinSample(whole, source.config.lengthSize)));
  }
  return coded;
}

const NONE: Awaited<ReturnType<typeof referencesInFront>> = new Map();

/** How damaged pictures are coded. */
export interface VerbatimWays {
  readonly pps: VerbatimPps;
  /** Whether pictures that never come out are coded as the reference before, which takes next to no bytes. */
  readonly areMoved: boolean;
  /** Whether what can be read of pictures keeps its data (`tornSample`). */
  readonly keepsReadable: boolean;
}

/** Bytes of all pictures. */
export const sizeOf = ({ coded }: Verbatim) =>
  [...coded.values()].reduce((sum, { bytes }) => sum + bytes.sizeBytes, 0);

/**
 * Decodes a part and codes some of its pictures sample by sample; null when it has no picture at all.
 * @param seenIn the part with what is decoded before it
 * @param instead whole samples whose pictures stand in for some that never come out; else the one shown before does
 */
export async function makeVerbatim(
  input: VerbatimInput,
  { part, seenIn }: { readonly part: Part; readonly seenIn: Part },
  damaged: readonly DamagedSample[],
  { pps, areMoved, keepsReadable }: VerbatimWays,
  instead: ReadonlyMap<number, number> = new Map(),
): Promise<Verbatim | null> {
  const { source, order } = input;
  const placeOf = (sample: number) => order.placeOf[sample] ?? 0;
  const waiting = [...damaged].sort((a, b) => placeOf(a.sample) - placeOf(b.sample));
  const marks = new Map<number, Uint8Array>();
  const coded = new Map<number, EncodedPicture>();
  const missing: DamagedSample[] = [];
  const torn = new Map<number, TornPicture>();
  const references = keepsReadable ? await referencesInFront(source, order, damaged) : NONE;
  const referred = new Set([...references.values()].map(({ place }) => place));
  const shown = new Map<number, Buffer>();
  const store = async (item: DamagedSample, pixels: Buffer) => {
    if (coded.has(item.sample)) return;
    const isMissing = missing.includes(item);
    const reference = references.get(item.sample);
    const from = reference && shown.get(reference.place);
    const opened = keepsReadable && !isMissing ? await openTornSample(source, item.sample) : null;
    const readable =
      opened &&
      tornSample(source, opened, item, { pixels, from: from ? { ...reference, pixels: from } : null });
    if (opened && readable) torn.set(item.sample, opened);
    const bytes =
      readable ??
      (areMoved && isMissing
        ? await movedSample(source, item, { motion: NOT_MOVED, fromFrameNum: null }, pps)
        : await verbatimSample(source, item, pixels, pps));
    coded.set(item.sample, await stored(input, item.sample, bytes));
  };
  let last: Buffer | null = null;
  const needed = [...samplesOfPart(part), ...instead.values()].map(placeOf);
  // The one shown before all of these may be shown in the place of one that is lost.
  const firstPlace = Math.max(0, Math.min(...needed) - 1);
  for await (const { place, pixels } of decodePart(input, seenIn, { replaced: null, firstPlace })) {
    if (referred.has(place)) shown.set(place, pixels);
    for (const item of damaged) {
      const other = instead.get(item.sample);
      if (other !== undefined && placeOf(other) === place) await store(item, pixels);
    }
    for (let next = waiting[0]; next && placeOf(next.sample) <= place; next = waiting[0]) {
      waiting.shift();
      const isShown = placeOf(next.sample) === place;
      if (!isShown) missing.push(next);
      if (isShown || !instead.has(next.sample)) await store(next, isShown ? pixels : (last ?? pixels));
    }
    marks.set(place, sampled(pixels));
    last = pixels;
  }
  missing.push(...waiting);
  for (const item of missing) if (last) await store(item, last);
  if (coded.size !== damaged.length) return null;
  const lines = readHashes(await readFile(hashPath(input), 'utf8'));
  const hashes = new Map([...marks.keys()].map((place, at) => [place, lines[at] ?? '']));
  return { coded, marks, hashes, missing, torn };
}
