import path from 'node:path';
import { H264Error } from '#server/media/h264/h264-error.ts';
import { joinSample, toRbsp } from '#server/media/h264/nal.ts';
import { createHevcSliceChecker } from '#server/media/hevc/check-hevc-slices.ts';
import { type DamagedUnits, openDamaged } from '#server/media/hevc/conceal-slice.ts';
import { HevcError } from '#server/media/hevc/hevc-error.ts';
import { baseSlices } from '#server/media/hevc/hevc-nal.ts';
import { readHevcSets } from '#server/media/hevc/hevc-references.ts';
import { readSliceSegment } from '#server/media/hevc/hevc-slice-header.ts';
import { movedPicture } from '#server/media/hevc/moved-slice.ts';
import type { LostBlocks } from '#server/media/lost-blocks.ts';
import type { SquareMotion } from '#server/media/square-motion.ts';
import type { TimedPicture } from '../../conceal-picture/conceal-picture-guess.ts';
import {
  type ConcealedMotion,
  motionOfLost,
  motionToConceal,
} from '../../conceal-picture/conceal-picture-motion.ts';
import { rawFormat, type RawFormat } from '../../rebuild-pictures/rebuild-pictures-raw.ts';
import type { EncodedPicture } from '../smart-render-encoder.ts';
import { picturesAround, placesAround, type PlacesAround } from '../smart-render-surroundings.ts';
import { edgesOf, type StayingInput } from './smart-render-hevc-staying.ts';
import type { HevcSource } from './smart-render-hevc-source.ts';
import { placeStandIns, type GroupOrders } from './smart-render-hevc-stand-in-places.ts';
import type { StandInGroup } from './smart-render-hevc-stand-in-plan.ts';
import { decodePlaces, withWarmUp } from './smart-render-hevc-trial.ts';

export interface ConcealGroupInput extends StayingInput {
  readonly pictureBytes: number;
  readonly group: StandInGroup;
  readonly orders: GroupOrders;
  /** Stores the bytes of a sample. */
  readonly store: (bytes: Buffer) => Promise<EncodedPicture>;
}

/** Pictures that replace damaged ones. */
export interface ConcealedGroup {
  /**
   * Whether something can be read of each of them. After a lost one, the unchanged clip continues as well, just too
   * late.
   */
  readonly mustGain: boolean;
  readonly samples: readonly number[];
  /** In the order of the samples. */
  readonly pictures: readonly EncodedPicture[];
}

/** Most damaged pictures of a group that are concealed; each needs a decode of what comes before it. */
const MOST_CONCEALED = 6;

/**
 * Conceals the damaged pictures of a group that stay as decoded, so that intact pictures decode from better ones. In
 * place of lost HEVC blocks, ffmpeg leaves what its memory held. Here the readable part keeps its data, followed by
 * blocks moved as `motionToConceal` estimates. An intra picture without motion would mislead all later ones, whose
 * vectors are coded as differences to its own (4 of 12 damaged clips got worse by 2 to 7 dB, none better).
 * @param input a group of pictures that all stay as decoded (`partByKind`)
 * @returns one result for each estimate of the motion, likeliest first, then cautious ones; none if a picture cannot be
 * concealed
 * @throws MediaToolError when ffmpeg fails or the run is cancelled; HevcError or H264Error when a picture is coded in
 * an unusual way
 */
export async function concealGroup(input: ConcealGroupInput): Promise<ConcealedGroup[]> {
  const { group, raw } = input;
  const format = rawFormat(raw.pixelFormat, raw.width, raw.height);
  const standIns = group.candidates.flatMap((candidate) => candidate.standIns);
  if (!format || standIns.length > MOST_CONCEALED) return [];
  if (group.candidates.every(({ staying }) => staying.length === 0)) return [];
  const [first, ...others] = standIns.map(({ sample }) => sample).sort((a, b) => a - b);
  if (first === undefined) return [];
  const made: ConcealedGroup[] = [];
  const guessed = await guessSample(input, first, { coded: new Map(), format });
  // If nothing is readable, the likely and the cautious estimates are the same.
  const isOneWay = others.length === 0 && guessed?.likely === guessed?.cautious;
  for (const kind of isOneWay ? (['cautious'] as const) : (['likely', 'cautious'] as const)) {
    for (const [guess, bytes] of (guessed?.[kind] ?? []).entries()) {
      const coded = new Map([[first, await input.store(bytes)]]);
      let mustGain = guessed?.likely !== guessed?.cautious;
      for (const sample of others) {
        const both = await guessSample(input, sample, { coded, format });
        mustGain &&= both?.likely !== both?.cautious;
        const guesses = both?.[kind];
        const next = guesses?.[guess] ?? guesses?.[0];
        if (next) coded.set(sample, await input.store(next));
      }
      if (coded.size < standIns.length) continue;
      made.push({ mustGain, samples: [...coded.keys()], pictures: [...coded.values()] });
    }
  }
  return made;
}

/**
 * Replacements for a damaged sample, likeliest first. Cautious ones keep everything readable, even if it shows faults
 * before the unreadable part.
 */
interface Guesses {
  readonly likely: readonly Buffer[];
  readonly cautious: readonly Buffer[];
}

interface SoFar {
  readonly coded: ReadonlyMap<number, EncodedPicture>;
  readonly format: RawFormat;
}

/**
 * Estimates of a sample with its loss concealed; null if the loss is unknown, or there is nothing to conceal it from.
 */
async function guessSample(input: ConcealGroupInput, sample: number, soFar: SoFar): Promise<Guesses | null> {
  const { source, order, orders } = input;
  const next = order.samples[(order.placeOf[sample] ?? 0) + 1] ?? -1;
  // If the next shown picture is lost, nothing tells how well a readable part would fit it.
  const isAmidLost = orders.exchanged.has(next) && (await isLost(source, next));
  if (isAmidLost || (await isLost(source, sample))) {
    const likely = await guessLost(input, sample, soFar);
    return likely && { likely, cautious: likely };
  }
  const units = await source.units(sample);
  const damaged = createHevcSliceChecker(source.parameterSets).findLoss(units);
  const opened = damaged && openDamaged(units, damaged, source.parameterSets);
  if (!damaged || !opened) return null;
  const concealed = await guessTorn(input, sample, { opened, damaged }, soFar);
  const join = (made: Buffer[]) => joinSample(made, source.lengthSize);
  return {
    likely: concealed ? opened.conceal(concealed.lost, concealed.motions).map(join) : [],
    cautious: opened.conceal(damaged, [...(concealed?.motions.slice(0, 1) ?? []), STILL]).map(join),
  };
}

const STILL: SquareMotion = () => ({ x: 0, y: 0 });

interface Torn {
  readonly opened: DamagedUnits;
  readonly damaged: LostBlocks;
}

/** Whether nothing of a sample can be read: neither its lengths nor any slice header make sense. */
async function isLost(source: HevcSource, sample: number): Promise<boolean> {
  try {
    const [slice] = baseSlices(await source.units(sample));
    if (slice) readHead(source, slice);
    return slice === undefined;
  } catch (error) {
    if (error instanceof HevcError || error instanceof H264Error) return true;
    throw error;
  }
}

/** Bytes that surely hold a slice's header. */
const HEAD_BYTES = 1024;

const readHead = ({ parameterSets }: HevcSource, slice: Buffer) =>
  readSliceSegment(toRbsp(slice.subarray(0, HEAD_BYTES)), readHevcSets(parameterSets).of, null);

async function guessTorn(
  input: ConcealGroupInput,
  sample: number,
  { opened, damaged }: Torn,
  { coded, format }: SoFar,
): Promise<ConcealedMotion | null> {
  const { source, order, group, orders } = input;
  const delta = opened.firstReference;
  const own = orders.exchanged.get(sample);
  if (delta === null || own === undefined) return null;
  const reference = sampleOf(orders, own + delta);
  if (reference === undefined) return null;
  const shown = await decodeAround(input, sample, { coded, reference: order.placeOf[reference] ?? -1 });
  const around = shown && picturesAround(shown.pictures, shown.places, format);
  if (!around) return null;
  const staying = group.candidates.flatMap((candidate) => candidate.staying);
  const exchanged = new Set(group.candidates.flatMap(({ standIns }) => standIns.map((one) => one.sample)));
  const part = { from: group.start.sample, end: Math.min(source.samples.length, group.endSample + 1) };
  const isProvenLater = edgesOf(order, { part, staying, exchanged }).length > 0;
  const concealed = motionToConceal({ ...around, lost: damaged, isProvenLater }, format);
  if (!concealed) return null;
  // If no later picture can tell the estimates apart, the likeliest is used.
  return isProvenLater ? concealed : { ...concealed, motions: concealed.motions.slice(0, 1) };
}

const sampleOf = ({ kept, exchanged }: GroupOrders, count: number): number | undefined =>
  [...[...kept].map(([sample, { order }]) => [sample, order] as const), ...exchanged].find(
    ([, order]) => order === count,
  )?.[0];

/**
 * A replacement for a sample of which nothing is left: all of it moved from the nearest picture that is shown before
 * and held for later ones. Without it, decoders show grey in its place and in everything that refers to it.
 */
async function guessLost(
  input: ConcealGroupInput,
  sample: number,
  { coded, format }: SoFar,
): Promise<Buffer[] | null> {
  const { source, order, group, orders } = input;
  const sets = await setsBeside(input, sample);
  const own = orders.exchanged.get(sample);
  if (!sets || own === undefined || source.dolbyVision) return null;
  const standIns = group.candidates.flatMap((candidate) => candidate.standIns);
  const at = standIns.findIndex((one) => one.sample === sample);
  const place = placeStandIns(orders, sets.sps, group.candidates)?.[at];
  const delta = Math.max(...(place?.held ?? []).filter((held) => held < 0));
  const reference = sampleOf(orders, own + delta);
  if (!place || reference === undefined) return null;
  const before = order.placeOf[reference] ?? -1;
  const isEarlier = (one: number) => {
    const other = order.samples[one] ?? -1;
    return other >= group.start.sample && other < sample;
  };
  let earlier = before - 1;
  while (earlier >= 0 && !isEarlier(earlier)) earlier -= 1;
  const shown = await decodeShown(input, new Set([before, Math.max(0, earlier)]), coded);
  const [first, second] = [shown.get(earlier), shown.get(before)];
  const ticks = source.samples[sample]?.pts;
  if (!second || ticks === undefined) return null;
  const motions =
    first && first.ticks < second.ticks
      ? motionOfLost({ earlier: first, before: second, ticks }, format)
      : [STILL];
  return motions.map((motion) =>
    joinSample([movedPicture(sets, { ...place, reference: delta }, motion)], source.lengthSize),
  );
}

/** The parameter sets named by the nearest readable picture that is no key picture. */
async function setsBeside({ source, group, orders }: ConcealGroupInput, sample: number) {
  const near = [...orders.kept.keys()].sort((a, b) => Math.abs(a - sample) - Math.abs(b - sample));
  for (const other of near) {
    if (other === group.start.sample || source.samples[other]?.sync) continue;
    const [slice] = baseSlices(await source.units(other));
    if (slice) return readHead(source, slice).sets;
  }
  return null;
}

interface Shown {
  readonly places: PlacesAround;
  readonly pictures: ReadonlyMap<number, TimedPicture>;
}

/** Decodes the pictures around a damaged one; null if one of them is not in the group. */
async function decodeAround(
  input: ConcealGroupInput,
  sample: number,
  { coded, reference }: Pick<SoFar, 'coded'> & { readonly reference: number },
): Promise<Shown | null> {
  const { source, order, group } = input;
  const whole = withWarmUp(source, { from: group.start.sample, end: group.endSample });
  const places = placesAround(order, whole, sample, reference);
  if (!places) return null;
  return { places, pictures: await decodeShown(input, new Set(Object.values(places)), coded) };
}

/** Decodes pictures of a group with the replacements made so far; returned by place. */
async function decodeShown(
  input: ConcealGroupInput,
  wanted: ReadonlySet<number>,
  coded: ReadonlyMap<number, EncodedPicture>,
): Promise<ReadonlyMap<number, TimedPicture>> {
  const { source, order, group, raw, workDir } = input;
  const whole = withWarmUp(source, { from: group.start.sample, end: group.endSample });
  const end = 1 + Math.max(...[...wanted].map((place) => order.samples[place] ?? 0));
  return decodePlaces({
    ...input,
    label: 'decode pictures around a damaged one',
    part: { ...whole, end },
    coded,
    entry: source.entry.bytes,
    outputPath: path.join(workDir, 'smart-render-conceal-trial.mp4'),
    wanted,
    pixelFormat: raw.pixelFormat,
  });
}
