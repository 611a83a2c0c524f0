import { findUnitFault, isFaultBeside } from '#server/media/h264/check-sample.ts';
import { NOT_MOVED } from '#server/media/h264/moved-picture.ts';
import { joinSample } from '#server/media/h264/nal.ts';
import { writeFully } from '#server/media/mp4/file-bytes.ts';
import type { DisplayOrder } from '#server/media/mp4/display-order.ts';
import type { EncodedPicture } from '../smart-render-encoder.ts';
import { samplesOfPart, type Part } from '../smart-render-part.ts';
import type { TornPicture } from '#server/media/h264/slice-data/torn-picture.ts';
import { openTornSample, tornSample } from '../smart-render-torn.ts';
import { movedSample, verbatimSample, type VerbatimPps } from '../smart-render-verbatim.ts';
import { MOST_CONCEALED, withGroupBefore, type ShownBefore } from './smart-render-exchange-around.ts';
import { decodePart, type DecodedPart, type PartInput } from './smart-render-exchange-decode.ts';
import { createDamageLog } from './smart-render-exchange-lost.ts';
import type { SmartSource } from '../smart-render-source.ts';
import { placesAround } from '../smart-render-surroundings.ts';
import { referencesInFront } from './smart-render-exchange-heads.ts';
import type { DamagedSample } from './smart-render-exchange-plan.ts';
import type { ExchangeInput } from './smart-render-exchange.ts';

/** One stretch whose pictures are exchanged. */
export type VerbatimInput = PartInput & Pick<ExchangeInput, 'source' | 'spool' | 'takeSpool'>;

/** Pictures that replace damaged ones. */
export interface Verbatim {
  /** By sample of the original. */
  readonly coded: ReadonlyMap<number, EncodedPicture>;
  /** Places of the pictures with written samples (`marksPath`), in their order. */
  readonly marked: readonly number[];
  /** Wanted pictures that never came out of the decoder. */
  readonly missing: readonly DamagedSample[];
  /** Pictures that keep a readable part (`tornSample`), by sample. */
  readonly torn: ReadonlyMap<number, TornPicture>;
  /** What the decode of the unchanged part showed around the first damaged picture; null if it must not be used. */
  readonly around: ShownBefore | null;
}

export const UNSEEN: Omit<Verbatim, 'coded'> = {
  marked: [],
  missing: [],
  torn: new Map(),
  around: null,
};

/** Stores the bytes of a sample. */
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

/** Pictures without the damaged units next to them; null if the pictures themselves are damaged. */
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
  /** Whether pictures that never come out are coded as the previous reference, which takes almost no bytes. */
  readonly areMoved: boolean;
  /** Whether readable parts of pictures keep their data (`tornSample`). */
  readonly keepsReadable: boolean;
}

/** Total size of the pictures, bytes. */
export const sizeOf = ({ coded }: Verbatim) =>
  [...coded.values()].reduce((sum, { bytes }) => sum + bytes.sizeBytes, 0);

/**
 * Decodes a part and codes some of its pictures sample by sample; null if it has no pictures at all.
 * @param seenIn the part together with what is decoded before it
 * @param instead intact samples whose pictures replace some that never come out; otherwise the one shown before does
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
  const coded = new Map<number, EncodedPicture>();
  const torn = new Map<number, TornPicture>();
  const references = keepsReadable ? await referencesInFront(source, order, damaged) : NONE;
  const needed = [...samplesOfPart(part), ...instead.values()].map(placeOf);
  // The picture shown before all of these may be shown in place of a lost one.
  const firstNeeded = Math.max(0, Math.min(...needed) - 1);
  const around = damaged.length > MOST_CONCEALED ? [] : placesOfFirst(source, order, part, damaged);
  const log = createDamageLog();
  const kept = [
    ...around,
    ...damaged.flatMap(({ sample }) => [placeOf(sample), placeInFront(order, damaged, placeOf(sample))]),
    ...[...references.values()].map(({ place }) => place),
    ...[...instead.values()].map(placeOf),
  ];
  const firstPlace = Math.min(firstNeeded, ...around);
  const whole = { replaced: null, firstPlace, isMarked: true, onLine: log.onLine };
  let decoded = await decodePart(input, seenIn, { ...whole, kept });
  const { places } = decoded;
  const standIns = new Map([...instead].map(([sample, other]) => [sample, placeOf(other)]));
  const { takes, missing } = takeInTurn(places, damaged, placeOf, standIns);
  if (takes.length !== damaged.length) return null;
  const fromNumber = ({ item, number }: Take) =>
    places.lastIndexOf(references.get(item.sample)?.place ?? -1, number);
  const keptNumbers = takes.flatMap((take) => [take.number, fromNumber(take)]).filter((at) => at >= 0);
  // What is shown in place of a lost picture is only known when all pictures have come.
  if (!keptNumbers.every((number) => decoded.pictures.has(number)))
    decoded = await decodePart(input, seenIn, { ...whole, keptNumbers });
  for (const take of takes) {
    const { item, number, isMissing } = take;
    const pixels = await decoded.pictures.get(number)?.();
    if (!pixels) return null;
    const reference = references.get(item.sample);
    const from = reference && (await decoded.pictures.get(fromNumber(take))?.());
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
  }
  // Each damaged picture must report its loss once, in the order of their data; otherwise it is unknown which one
  // reported what.
  const isTold = missing.length === 0 && log.said().length === damaged.length;
  const shown = isTold ? await picturesAt(decoded, around) : null;
  return {
    coded,
    marked: places,
    missing,
    torn,
    around: shown && { from: seenIn.from, pictures: shown, said: log.said() },
  };
}

/** Places of the pictures that the first damaged one is concealed from (`concealFirst`). */
function placesOfFirst(
  source: SmartSource,
  order: DisplayOrder,
  part: Part,
  [first]: readonly DamagedSample[],
): number[] {
  const wide = withGroupBefore(source, part);
  const places =
    first && (placesAround(order, part, first.sample) ?? placesAround(order, wide, first.sample));
  return places ? Object.values(places) : [];
}

/** The pictures of some places; null if one was not kept. */
async function picturesAt(
  { places, pictures }: DecodedPart,
  wanted: readonly number[],
): Promise<Map<number, Buffer> | null> {
  const found = new Map<number, Buffer>();
  for (const place of wanted) {
    const pixels = await pictures.get(places.lastIndexOf(place))?.();
    if (!pixels) return null;
    found.set(place, pixels);
  }
  return wanted.length > 0 ? found : null;
}

/** The nearest earlier place that shows none of the damaged pictures. */
function placeInFront({ samples }: DisplayOrder, damaged: readonly DamagedSample[], place: number): number {
  let at = place - 1;
  while (damaged.some(({ sample }) => sample === samples[at])) at -= 1;
  return at;
}

/** Which output picture is shown for a damaged one. */
interface Take {
  readonly item: DamagedSample;
  /** In output order. */
  readonly number: number;
  readonly isMissing: boolean;
}

/**
 * The pictures for damaged ones: their own, or if that never came, the stand-in or the one shown before.
 * @param places of the pictures that came
 * @param standIns places by sample
 */
function takeInTurn(
  places: readonly number[],
  damaged: readonly DamagedSample[],
  placeOf: (sample: number) => number,
  standIns: ReadonlyMap<number, number>,
): { readonly takes: readonly Take[]; readonly missing: readonly DamagedSample[] } {
  const waiting = [...damaged].sort((a, b) => placeOf(a.sample) - placeOf(b.sample));
  const takes: Take[] = [];
  const missing: DamagedSample[] = [];
  const take = (item: DamagedSample, number: number) => {
    if (takes.some((done) => done.item === item)) return;
    takes.push({ item, number, isMissing: missing.includes(item) });
  };
  for (const [number, place] of places.entries()) {
    for (const item of damaged) if (standIns.get(item.sample) === place) take(item, number);
    for (let next = waiting[0]; next && placeOf(next.sample) <= place; next = waiting[0]) {
      waiting.shift();
      const isShown = placeOf(next.sample) === place;
      if (!isShown) missing.push(next);
      if (isShown || !standIns.has(next.sample)) take(next, isShown ? number : Math.max(0, number - 1));
    }
  }
  missing.push(...waiting);
  for (const item of missing) if (places.length > 0) take(item, places.length - 1);
  return { takes, missing };
}
