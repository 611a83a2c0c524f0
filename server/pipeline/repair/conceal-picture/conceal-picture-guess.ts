import type { LostBlocks } from '#server/media/lost-blocks.ts';
import { createSearchKernel } from '../rebuild-pictures/rebuild-pictures-field.ts';
import { CELL, type GreyPlane } from '../rebuild-pictures/rebuild-pictures-grid.ts';
import { greyOf } from '../rebuild-pictures/rebuild-pictures-judge.ts';
import type { MotionKernel } from '../rebuild-pictures/rebuild-pictures-kernel.ts';
import {
  emptySamples,
  planesOf,
  samplesOf,
  type RawFormat,
} from '../rebuild-pictures/rebuild-pictures-raw.ts';
import { asItIs, createMover, type RowMaker } from './conceal-picture-move.ts';
import {
  atRest,
  carriedOn,
  meanOfBoth,
  motionOfRows,
  withShake,
  type Displacements,
} from './conceal-picture-vectors.ts';

/** A picture with its time; planes are packed as by `rawvideo`. */
export interface TimedPicture {
  readonly pixels: Uint8Array;
  /** In any time base that all of them share. */
  readonly ticks: number;
}

/** A damaged picture and those around it, all of one size. */
export interface ConcealInput {
  /** Two pictures that it is or could be decoded from; the second one is nearer. */
  readonly earlier: TimedPicture;
  readonly before: TimedPicture;
  /** The damaged picture as decoded. */
  readonly damaged: TimedPicture;
  /** The picture shown after it, which refers to it. */
  readonly after: TimedPicture;
  /**
   * Set if pictures that refer to it are shown before it: the last of them, and one as far after it as `before` is
   * before it.
   */
  readonly pyramid: { readonly beside: TimedPicture; readonly later: TimedPicture } | null;
  /** The blocks that the decoder could not read. */
  readonly lost: LostBlocks;
  /** Whether a later intact picture will show how well the pictures fit that refer to the concealed one. */
  readonly isProvenLater: boolean;
}

/** A picture of which nothing is left; `damaged` is the decoder's substitute. */
export interface GapInput extends ConcealInput {
  /** One more picture before `earlier`; null if there is none. */
  readonly earliest: TimedPicture | null;
}

type RowSpan = readonly [number, number];

/** Estimates of how the lost part moved from the picture before. */
export interface GuessedMotion {
  /** Luma row at which the first row of cells begins. */
  readonly top: number;
  /** Luma rows with lost blocks: the first, and one past the last. */
  readonly lostTop: number;
  readonly lostEnd: number;
  /**
   * Rows that certainly show no fault, as first and one past the last: those before the loss if there are enough, and
   * those after it.
   */
  readonly known: readonly RowSpan[];
  /** The motion of the two pictures before, continued. */
  readonly past: Displacements;
  /** The motion to later pictures, reversed in time. These pictures have the same fault, but vectors of their own. */
  readonly futures: readonly Displacements[];
  /** The mean of the past and each future, which reflects how the motion changes. */
  readonly means: readonly Displacements[];
}

/** Height of the area before or after the lost blocks whose motion is measured, pixels. */
const KNOWN_HEIGHT = 128;
/** Rows of cells at its end that are left out, because a decoder notices a fault late. */
const LATE_ROWS = 2;

/** The grey plane of pictures in a raw format. */
export const planeOf =
  (format: RawFormat) =>
  ({ pixels }: TimedPicture): GreyPlane =>
    greyOf(pixels, format);

/** Makes the estimates, all corrected by the camera shake that the known rows next to the loss show. */
export function guessMotion(input: ConcealInput, format: RawFormat, kernel: MotionKernel): GuessedMotion {
  const { width, height } = format;
  const { earlier, before, damaged, after, pyramid, lost } = input;
  const across = Math.ceil(width / lost.size);
  const lostTop = lost.size * Math.floor(lost.first / across);
  const lostEnd = Math.min(height, lost.size * Math.ceil(lost.end / across));
  const top = Math.max(0, lostTop - KNOWN_HEIGHT);
  const plane = planeOf(format);
  const motion = (a: TimedPicture, b: TimedPicture, end = height) =>
    motionOfRows(plane(a), plane(b), top, end, kernel);
  const step = damaged.ticks - before.ticks;
  const backwards = (next: TimedPicture) =>
    carriedOn(motion(damaged, next), -1, step / (next.ticks - damaged.ticks));
  const pastTimes = step / (before.ticks - earlier.ticks);
  const past = carriedOn(motion(earlier, before), 1 + 2 * pastTimes, pastTimes);
  const futures = [after, ...(pyramid ? [pyramid.later] : [])].map(backwards);
  const known = knownRows({ top, lostTop, lostEnd, height });
  const [nearest] = known;
  const shown = nearest && carriedOn(motionOfRows(plane(before), plane(damaged), ...nearest, kernel), 1, 1);
  const steadied = (guess: Displacements) =>
    nearest && shown ? withShake(guess, shown, (nearest[0] - top) / CELL) : guess;
  return {
    top,
    lostTop,
    lostEnd,
    known,
    past: steadied(past),
    futures: futures.map(steadied),
    means: futures.map((future) => steadied(meanOfBoth(past, future))),
  };
}

/** Least height of the known rows, pixels. */
const FEWEST_KNOWN = 2 * CELL;

function knownRows({
  top,
  lostTop,
  lostEnd,
  height,
}: Pick<GuessedMotion, 'top' | 'lostTop' | 'lostEnd'> & { readonly height: number }): RowSpan[] {
  const above: RowSpan = [top, lostTop - CELL * LATE_ROWS];
  const below: RowSpan = [lostEnd, Math.min(height, lostEnd + KNOWN_HEIGHT)];
  return [above, below].filter(([from, end]) => end - from >= FEWEST_KNOWN);
}

/** Functions that make the picture of each estimate from the one before. */
export const moversOf = (
  guesses: readonly Displacements[],
  { before }: ConcealInput,
  { top }: GuessedMotion,
  format: RawFormat,
): RowMaker[] => guesses.map((guess) => createMover(samplesOf(before.pixels, format), guess, top));

/**
 * Without later proof, estimates must miss the first known rows by this many times less (squared) than they differ from
 * the decoder's picture: 4 dB. That avoids two of three results that would be worse (by 3.2 and 3.6 dB), and gives up
 * one gain of 2.6 dB.
 */
const UNPROVEN_TIMES = 2.5;

/** Mean square difference without meaning: still areas without coding noise differ by as much. */
const STILL_NOISE = 4;

/**
 * Whether the estimates miss the known rows by too much compared with their difference from the decoder's picture in
 * the loss; then the motion does not continue. (On 34 held-out pictures the worst loses 3.3 dB; 8.2 dB without this
 * check.)
 */
export function missesKnown(
  { before, damaged, isProvenLater }: ConcealInput,
  { known, lostTop, lostEnd }: GuessedMotion,
  makers: readonly RowMaker[],
  format: RawFormat,
): boolean {
  const allowed = meanMiss(damaged.pixels, makers, [lostTop, lostEnd], format);
  // Without later proof, they may not miss those rows by more than the unmoved picture before does either.
  const still = asItIs(samplesOf(before.pixels, format));
  return known.some((rows, at) => {
    const missed = meanMiss(damaged.pixels, makers, rows, format);
    if (at > 0 || isProvenLater) return missed >= allowed;
    const isBeaten = missed > STILL_NOISE && missed > meanMiss(damaged.pixels, [still], rows, format);
    return isBeaten || missed * UNPROVEN_TIMES >= allowed;
  });
}

/**
 * Without later proof, the previous motion may miss the last intact picture by at most this share (squared) of what the
 * unmoved picture before it does. Of eight lost pictures, five at 0.64 and less gained 2.6 to 10.5 dB, one at 0.80 lost
 * 3.8 dB.
 */
const UNPROVEN_SHARE = 0.7;

/**
 * Whether motion continues in the pictures before a lost one: the last of them must be nearer to the motion-compensated
 * picture before it than to the unmoved one, and clearly so if no intact picture will prove it. True if there are too
 * few pictures to tell.
 */
export function goesOn({ earliest, earlier, before, isProvenLater }: GapInput, format: RawFormat): boolean {
  if (!earliest) return true;
  const plane = planeOf(format);
  const kernel = createSearchKernel(format);
  const pair = motionOfRows(plane(earliest), plane(earlier), 0, format.height, kernel);
  const times = (before.ticks - earlier.ticks) / (earlier.ticks - earliest.ticks);
  const from = samplesOf(earlier.pixels, format);
  const missedBy = (vectors: Displacements) =>
    meanMiss(before.pixels, [createMover(from, vectors, 0)], [0, format.height], format);
  const moved = carriedOn(pair, 1 + 2 * times, times);
  return missedBy(moved) <= (isProvenLater ? 1 : UNPROVEN_SHARE) * missedBy(atRest(moved));
}

/** Estimates are judged on every third luma row; the result is the same. */
const JUDGED_EACH = 3;

/** Mean square difference between some luma rows of a picture and the mean of several estimates there. */
function meanMiss(
  picture: Uint8Array,
  makers: readonly RowMaker[],
  [from, end]: readonly [number, number],
  format: RawFormat,
): number {
  const [plane] = planesOf(format);
  if (!plane || from >= end) return 0;
  const samples = samplesOf(picture, format);
  const rows = makers.map((maker) => ({ maker, row: emptySamples(format, plane.width) }));
  let [sum, count] = [0, 0];
  for (let y = from; y < end; y += JUDGED_EACH) {
    for (const { maker, row } of rows) maker(plane, y, row);
    for (let x = 0; x < plane.width; x += 1) {
      let shown = 0;
      for (const { row } of rows) shown += row[x] ?? 0;
      sum += ((samples[y * plane.width + x] ?? 0) - shown / rows.length) ** 2;
      count += 1;
    }
  }
  return sum / count;
}
