import { findStartCode } from '#server/media/h264/check-sample.ts';
import { H264Error } from '#server/media/h264/h264-error.ts';
import { isSlice, joinSample } from '#server/media/h264/nal.ts';
import { parseSliceHeader } from '#server/media/h264/slice-header.ts';
import type { SquareMotion } from '#server/media/square-motion.ts';
import { Mp4Error } from '#server/media/mp4/mp4-error.ts';
import { concealLost, concealPicture } from '../../conceal-picture/conceal-picture.ts';
import { motionOfGap } from '../../conceal-picture/conceal-picture-motion.ts';
import { isTurnOfRepeat } from '../../conceal-picture/repeats-in-turn.ts';
import type { TimedPicture } from '../../conceal-picture/conceal-picture-guess.ts';
import type { LostBlocks } from '#server/media/lost-blocks.ts';
import type { RawFormat } from '../../rebuild-pictures/rebuild-pictures-raw.ts';
import type { EncodedPicture } from '../smart-render-encoder.ts';
import type { Part } from '../smart-render-part.ts';
import type { SmartSource } from '../smart-render-source.ts';
import { picturesAround, placesAround } from '../smart-render-surroundings.ts';
import type { VerbatimPps } from '../smart-render-verbatim.ts';
import { decodePart, type PartInput } from './smart-render-exchange-decode.ts';
import { startOfLoss } from './smart-render-exchange-start.ts';
import {
  allMacroblocks,
  createDamageLog,
  lostMacroblocks,
  type SaidDamage,
} from './smart-render-exchange-lost.ts';

export interface ConcealStep extends PartInput {
  readonly pps: VerbatimPps;
  /** Stores the bytes of a sample. */
  readonly store: (sample: number, bytes: Buffer) => Promise<EncodedPicture>;
}

/** How far the concealment of a stretch's damaged pictures has come. */
export interface ConcealState {
  /** By sample of the original. */
  readonly coded: ReadonlyMap<number, EncodedPicture>;
  /** Damaged samples that are still to be concealed, decode order. */
  readonly open: readonly number[];
  /** Samples of which a decoder shows nothing; others replace them in `coded`. */
  readonly missing: ReadonlySet<number>;
  /** Whether those are coded as moved blocks instead of sample by sample. */
  readonly areMoved: boolean;
  readonly format: RawFormat;
  /** What a decode without any exchange showed. */
  readonly shown: ShownBefore | null;
}

/** Most damaged pictures of a stretch that are concealed again; each needs a decode of what comes before it. */
export const MOST_CONCEALED = 6;

/** What a forgiving decode of an unchanged part showed around its first damaged picture. */
export interface ShownBefore {
  /** The sample at which it began. */
  readonly from: number;
  /** By place. */
  readonly pictures: ReadonlyMap<number, Buffer>;
  /** The decoder's messages about the damaged pictures, one after the other. */
  readonly said: readonly SaidDamage[];
}

export interface Concealed {
  /** As the decoder shows it. */
  readonly decoded: Uint8Array;
  /** Null if the loss is unknown, or there is nothing to conceal it from. */
  readonly concealed: Uint8Array | null;
  /** The part of it that cannot be read, or is wrong before that. */
  readonly lost?: LostBlocks;
  /** The picture shown before it, from which it is concealed. */
  readonly before?: { readonly pixels: Uint8Array; readonly sample: number };
  /** Motion of a picture of which nothing is left, if such pictures are coded as moved blocks. */
  readonly moved?: { readonly motion: SquareMotion; readonly from: number } | null;
}

/**
 * Decodes the pictures before and around the first open picture of a part, and conceals it.
 * @returns null if nothing shows the picture
 * @throws MediaToolError when ffmpeg fails or the run is cancelled
 */
export async function concealFirst(
  step: ConcealStep,
  part: Part,
  { coded, open, missing, areMoved, format, shown: before }: ConcealState,
): Promise<Concealed | null> {
  const { source, order } = step;
  const [sample = -1] = open;
  const wide = withGroupBefore(source, part);
  const places = placesAround(order, part, sample) ?? placesAround(order, wide, sample);
  if (!places) return null;
  const numbers = Object.values(places).map((place) => order.samples[place] ?? 0);
  const from = Math.min(...numbers) < part.from ? wide.from : part.from;
  const end = 1 + Math.max(...numbers);
  const done = new Map([...coded].filter(([other]) => !open.includes(other) || missing.has(other)));
  const units = await unlessUnreadable(() => source.units(sample));
  const cut = units && cutOff(units);
  if (cut && !missing.has(sample))
    done.set(sample, await step.store(sample, joinSample(cut, source.config.lengthSize)));
  const told = open.filter((other) => other < end && !missing.has(other)).length;
  const isShown = before?.from === from && done.size === 0;
  const { said, pixelsAt } = isShown
    ? { said: before.said.slice(0, told), pixelsAt: before.pictures }
    : await decodeAround(step, { ...part, from, end }, done, Object.values(places));
  const pictures = new Map<number, TimedPicture>();
  for (const [place, pixels] of pixelsAt) {
    const ticks = source.samples[order.samples[place] ?? -1]?.pts ?? 0;
    pictures.set(place, { pixels, ticks });
  }
  const decoded = pictures.get(places.own)?.pixels;
  if (!decoded) return null;
  const around = picturesAround(pictures, places, format);
  const isProvenLater = keyBehind(source, part) !== null;
  if (missing.has(sample)) {
    // The picture before is shown in its place.
    if (isTurnOfRepeat(source.samples, sample)) return { decoded, concealed: null };
    const isNextLost = missing.has(order.samples[places.after] ?? -1);
    const gap = around && { ...around, lost: allMacroblocks(source.sps), isProvenLater };
    if (!areMoved) return { decoded, concealed: gap && concealLost(gap, isNextLost, format) };
    const motion = gap && motionOfGap(gap, isNextLost, format);
    const from = order.samples[places.before];
    return { decoded, concealed: null, moved: motion && from !== undefined ? { motion, from } : null };
  }
  // If there are several messages, none says which picture it is about.
  const [damage] = said.length === told ? said : [];
  const slices = units?.filter(isSlice) ?? [];
  const heads = await unlessUnreadable(() => slices.map((slice) => parseSliceHeader(slice, source.sps)));
  const noticed = damage && heads && lostMacroblocks(source.sps, heads, damage);
  const beforePixels = pictures.get(places.before)?.pixels;
  const beforeSample = order.samples[places.before];
  const inFront =
    beforePixels && beforeSample !== undefined ? { pixels: beforePixels, sample: beforeSample } : undefined;
  if (!units || !noticed || !around) return { decoded, concealed: null, before: inFront };
  const lost = await startOfLoss(source, { sample, units, damaged: open }, noticed, around, format);
  return {
    decoded,
    before: inFront,
    lost,
    concealed: concealPicture({ ...around, lost, isProvenLater }, format),
  };
}

/**
 * Decodes a part with the exchanges so far; returns the messages about the other damaged pictures, and the pictures of
 * some places.
 */
async function decodeAround(
  step: ConcealStep,
  part: Part,
  done: ReadonlyMap<number, EncodedPicture>,
  kept: readonly number[],
): Promise<{ readonly said: readonly SaidDamage[]; readonly pixelsAt: ReadonlyMap<number, Buffer> }> {
  const { onLine, said } = createDamageLog();
  const replaced = { coded: done, pps: step.pps.unit, onLine };
  const silent = { ...step, onShare: undefined };
  const { places, pictures } = await decodePart(silent, part, { replaced, isForgiving: true, kept });
  const pixelsAt = new Map<number, Buffer>();
  for (const [number, read] of pictures) pixelsAt.set(places[number] ?? -1, await read());
  return { said: said(), pixelsAt };
}

/** The intact key picture right after a part, which shows how well its last picture fits; null if there is none. */
export const keyBehind = ({ samples }: SmartSource, { end }: Part): number | null =>
  samples[end]?.sync === true ? end : null;

/** The part, and everything before it from the previous key picture on. */
export function withGroupBefore({ samples }: SmartSource, part: Part): Part {
  const from = samples.findLastIndex(({ sync }, sample) => sync && sample < part.from);
  return { ...part, from: Math.max(0, from) };
}

async function unlessUnreadable<T>(read: () => T | Promise<T>): Promise<T | null> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof H264Error || error instanceof Mp4Error) return null;
    throw error;
  }
}

/** Bytes of a slice before a fault below which nothing of it is read. */
const SHORTEST = 16;

/**
 * Cuts slices off at bytes that cannot occur in coded data. A decoder takes what follows for data; only at the end of
 * the data does it report from where it guesses. Null if there are no such bytes.
 */
function cutOff(units: readonly Buffer[]): Buffer[] | null {
  const cuts = units.map((unit) => (isSlice(unit) ? findStartCode(unit) : null));
  if (cuts.every((cut) => cut === null || cut < SHORTEST)) return null;
  return units.map((unit, at) => unit.subarray(0, Math.max(SHORTEST, cuts[at] ?? unit.length)));
}
