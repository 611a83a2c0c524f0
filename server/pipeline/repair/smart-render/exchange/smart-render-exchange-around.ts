import { findStartCode } from '#server/media/h264/check-sample.ts';
import { H264Error } from '#server/media/h264/h264-error.ts';
import { isSlice, joinSample } from '#server/media/h264/nal.ts';
import type { DisplayOrder } from '#server/media/mp4/display-order.ts';
import { Mp4Error } from '#server/media/mp4/mp4-error.ts';
import { concealPicture, type TimedPicture } from '../../conceal-picture/conceal-picture.ts';
import { isSameShot, type RawFormat } from '../../rebuild-pictures/rebuild-pictures-raw.ts';
import type { EncodedPicture } from '../smart-render-encoder.ts';
import type { Part } from '../smart-render-part.ts';
import type { SmartSource } from '../smart-render-source.ts';
import type { VerbatimPps } from '../smart-render-verbatim.ts';
import { decodePart, type PartInput } from './smart-render-exchange-decode.ts';

export interface ConcealStep extends PartInput {
  readonly pps: VerbatimPps;
  /** Tells whether what the decoder says is a complaint about its input. */
  readonly isComplaint: (line: string) => boolean;
  /** Keeps the bytes of a sample. */
  readonly store: (sample: number, bytes: Buffer) => Promise<EncodedPicture>;
}

/** How far the damaged pictures of a stretch are concealed. */
export interface ConcealState {
  /** By sample of the original. */
  readonly coded: ReadonlyMap<number, EncodedPicture>;
  /** Damaged samples that are still to be concealed, decode order. */
  readonly open: readonly number[];
  readonly format: RawFormat;
}

export interface Concealed {
  /** As the decoder shows it. */
  readonly decoded: Uint8Array;
  /** Null where it is not told what is lost, or nothing is known to conceal it from. */
  readonly concealed: Uint8Array | null;
}

/** What the decoder says of each picture of which it guesses macroblocks, as soon as it has decoded it. */
const GUESSED = /\] concealing (\d+) DC, /;
/** With this ffmpeg ends its preparations, for which decoders look at the first pictures. */
const MAPPED = /Stream mapping:/;

/**
 * Decodes what stands before the first open picture of a part and around it, and conceals it.
 * @returns null where nothing shows the picture
 * @throws MediaToolError when ffmpeg fails or the run is cancelled
 */
export async function concealFirst(
  step: ConcealStep,
  part: Part,
  { coded, open, format }: ConcealState,
): Promise<Concealed | null> {
  const { source, order } = step;
  const [sample = -1] = open;
  const wide = withGroupBefore(source, part);
  const places = placesAround(order, part, sample) ?? placesAround(order, wide, sample);
  if (!places) return null;
  const numbers = Object.values(places).map((place) => order.samples[place] ?? 0);
  const from = Math.min(...numbers) < part.from ? wide.from : part.from;
  const end = 1 + Math.max(...numbers);
  const done = new Map([...coded].filter(([other]) => !open.includes(other)));
  const units = await unitsOf(source, sample);
  const cut = units && cutOff(units);
  if (cut) done.set(sample, await step.store(sample, joinSample(cut, source.config.lengthSize)));
  let guessed: number[] = [];
  const onLine = (line: string) => {
    if (MAPPED.test(line)) guessed = [];
    const said = GUESSED.exec(line);
    if (said) guessed.push(Number(said[1]));
  };
  const firstPlace = Math.min(...Object.values(places));
  const options = { replaced: { coded: done, pps: step.pps.unit, onLine }, isForgiving: true, firstPlace };
  const pictures = new Map<number, TimedPicture>();
  const wanted = new Set(Object.values(places));
  const silent = { ...step, onShare: undefined };
  for await (const { place, pixels } of decodePart(silent, { ...part, from, end }, options)) {
    const ticks = source.samples[order.samples[place] ?? -1]?.pts ?? 0;
    if (wanted.has(place)) pictures.set(place, { pixels, ticks });
  }
  const shown = (place: number | undefined) => (place === undefined ? undefined : pictures.get(place));
  const [damaged, earlier, before, after] = [
    shown(places.own),
    shown(places.earlier),
    shown(places.before),
    shown(places.after),
  ];
  if (!damaged) return null;
  const decoded = damaged.pixels;
  // Of several such pictures none says which one it is.
  const isTold = guessed.length === open.filter((other) => other < end).length;
  const lostCount = isTold && (await isOnePiece(source, sample, units)) ? guessed[0] : undefined;
  if (lostCount === undefined || !earlier || !before || !after) return { decoded, concealed: null };
  const isOneShot = [earlier, after].every(({ pixels }) => isSameShot(before.pixels, pixels, format));
  const isRising =
    earlier.ticks < before.ticks && before.ticks < damaged.ticks && damaged.ticks < after.ticks;
  if (!isOneShot || !isRising) return { decoded, concealed: null };
  const [beside, later] = [shown(places.beside), shown(places.later)];
  const around = { earlier, before, damaged, after, pyramid: beside && later ? { beside, later } : null };
  const firstLost = source.sps.widthMbs * source.sps.heightMbs - lostCount;
  const isProvenLater = keyBehind(source, part) !== null;
  return { decoded, concealed: concealPicture({ ...around, firstLost, isProvenLater }, format) };
}

/** The whole key picture right behind a part, which shows how well its last picture fits; null where there is none. */
export const keyBehind = ({ samples }: SmartSource, { end }: Part): number | null =>
  samples[end]?.sync === true ? end : null;

/** The part and all that is decoded in front of it from the key picture before on. */
function withGroupBefore({ samples }: SmartSource, part: Part): Part {
  const from = samples.findLastIndex(({ sync }, sample) => sync && sample < part.from);
  return { ...part, from: Math.max(0, from) };
}

interface Places {
  /** Two that are decoded and shown in front, the nearer one second. */
  readonly earlier: number;
  readonly before: number;
  readonly own: number;
  /** The one shown next. */
  readonly after: number;
  /** Where pictures decoded later are shown in front: the last of them, and one as far behind as `before` is in front. */
  readonly beside?: number;
  readonly later?: number;
}

/** Places of the pictures that a damaged one is concealed from; null where a part lacks one of them. */
function placesAround(order: DisplayOrder, part: Part, sample: number): Places | null {
  const own = order.placeOf[sample] ?? 0;
  const isIn = (place: number) => {
    const other = order.samples[place] ?? -1;
    return other >= part.from && other < part.end && part.omitted?.has(other) !== true;
  };
  const inFront: number[] = [];
  for (let place = own - 1; place >= 0 && inFront.length < 2; place -= 1) {
    if (isIn(place) && (order.samples[place] ?? 0) < sample) inFront.push(place);
  }
  const [before, earlier] = inFront;
  if (before === undefined || earlier === undefined || !isIn(own + 1)) return null;
  const places = { earlier, before, own, after: own + 1 };
  const later = 2 * own - before;
  return before < own - 1 && isIn(own - 1) && isIn(later) ? { ...places, beside: own - 1, later } : places;
}

async function unitsOf(source: SmartSource, sample: number): Promise<Buffer[] | null> {
  try {
    return await source.units(sample);
  } catch (error) {
    if (error instanceof H264Error || error instanceof Mp4Error) return null;
    throw error;
  }
}

/** Bytes of a slice in front of a fault below which nothing of it is read. */
const SHORTEST = 16;

/**
 * Units whose slice ends where bytes stand that coded data cannot hold: a decoder takes what follows for data, and only where there is
 * none does it tell from where on it guesses. Null where there are no such bytes.
 */
function cutOff(units: readonly Buffer[]): Buffer[] | null {
  const cuts = units.map((unit) => (isSlice(unit) ? findStartCode(unit) : null));
  if (cuts.every((cut) => cut === null || cut < SHORTEST)) return null;
  return units.map((unit, at) => unit.subarray(0, Math.max(SHORTEST, cuts[at] ?? unit.length)));
}

/** Whether a picture is one slice of other than B macroblocks, so that all behind what is read of it is guessed. */
async function isOnePiece(
  source: SmartSource,
  sample: number,
  units: readonly Buffer[] | null,
): Promise<boolean> {
  const head = units && (await source.head(sample));
  return head !== null && head.kind !== 'B' && head.firstMb === 0 && units?.filter(isSlice).length === 1;
}
