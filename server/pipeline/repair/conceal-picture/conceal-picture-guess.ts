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
  carriedOn,
  meanOfBoth,
  motionOfRows,
  withShake,
  type Displacements,
} from './conceal-picture-vectors.ts';

/** A picture, planes as `rawvideo` packs them, and when it is shown. */
export interface TimedPicture {
  readonly pixels: Uint8Array;
  /** Of any time base that all of them share. */
  readonly ticks: number;
}

/** A damaged picture and those around it, all of one size. */
export interface ConcealInput {
  /** Two pictures that it is decoded from or could be, the nearer one second. */
  readonly earlier: TimedPicture;
  readonly before: TimedPicture;
  /** As the decoder shows it. */
  readonly damaged: TimedPicture;
  /** The one shown behind it, which is made of it. */
  readonly after: TimedPicture;
  /** Where pictures that are made of it are shown in front of it: the last of them, and one as far behind it as `before` is in front. */
  readonly pyramid: { readonly beside: TimedPicture; readonly later: TimedPicture } | null;
  /** What of it the decoder has not read. */
  readonly lost: LostBlocks;
  /** Whether a whole picture behind will show how well those fit that are made of the concealed one. */
  readonly isProvenLater: boolean;
}

/** A picture of which nothing is left: `damaged` is what stands in its place. */
export interface GapInput extends ConcealInput {
  /** One more in front of `earlier`; null where there is none. */
  readonly earliest: TimedPicture | null;
}

type RowSpan = readonly [number, number];

/** Guesses of how the lost part moved from the picture before. */
export interface GuessedMotion {
  /** Row of luma that the first row of their cells begins at. */
  readonly top: number;
  /** Rows of luma that lost blocks lie in: the first, and one past the last. */
  readonly lostTop: number;
  readonly lostEnd: number;
  /** Rows that surely show no fault, the first and one past the last: those in front of the loss, if there are enough, and those behind it. */
  readonly known: readonly RowSpan[];
  /** As the motion of the two pictures before goes on. */
  readonly past: Displacements;
  /** As the motion to later pictures goes back in time, which are wrong alike and moved by vectors of their own. */
  readonly futures: readonly Displacements[];
  /** What the past and each future tell on the mean, which says how the motion changes. */
  readonly means: readonly Displacements[];
}

/** Rows of pixels in front of the lost blocks, or behind them, whose motion is looked at. */
const KNOWN_HEIGHT = 128;
/** Rows of cells at the end of those that are left out: a fault is noticed late. */
const LATE_ROWS = 2;

/** The grey planes of pictures of a format. */
export const planeOf =
  (format: RawFormat) =>
  ({ pixels }: TimedPicture): GreyPlane =>
    greyOf(pixels, format);

/** Guesses, all moved by as much as the known rows beside the loss say that the camera shook. */
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

/** Rows of pixels of cells at least by which something is known. */
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

/** What makes the picture of each guess from the one before. */
export const moversOf = (
  guesses: readonly Displacements[],
  { before }: ConcealInput,
  { top }: GuessedMotion,
  format: RawFormat,
): RowMaker[] => guesses.map((guess) => createMover(samplesOf(before.pixels, format), guess, top));

/**
 * How many times less, in squares, guesses must miss the first known rows by than they differ from the decoder's, where nothing proves them later:
 * 4 dB, by which two of three results without such a picture that came out worse (by 3.2 and 3.6 dB) are left, and one that gained 2.6 dB.
 */
const UNPROVEN_TIMES = 2.5;

/** Mean square difference that tells nothing: what is still, and no noise of coding, differs by as much. */
const STILL_NOISE = 4;

/**
 * Whether guesses miss the known rows beside the loss by too much against what they differ from the decoder's by in the loss: motion does
 * not go on there (on 34 pictures kept out the worst loses 3.3 dB instead of 8.2).
 */
export function missesKnown(
  { before, damaged, isProvenLater }: ConcealInput,
  { known, lostTop, lostEnd }: GuessedMotion,
  makers: readonly RowMaker[],
  format: RawFormat,
): boolean {
  const allowed = meanMiss(damaged.pixels, makers, [lostTop, lostEnd], format);
  // Nor may they miss those by more than the picture before as it is does, where nothing proves them later.
  const still = asItIs(samplesOf(before.pixels, format));
  return known.some((rows, at) => {
    const missed = meanMiss(damaged.pixels, makers, rows, format);
    if (at > 0 || isProvenLater) return missed >= allowed;
    const isBeaten = missed > STILL_NOISE && missed > meanMiss(damaged.pixels, [still], rows, format);
    return isBeaten || missed * UNPROVEN_TIMES >= allowed;
  });
}

/**
 * What the motion before misses the last whole picture by at most, in squares, as a share of what the one in front of that does, where nothing
 * proves a result later: of eight lost pictures five that missed it by 0.64 and less gained 2.6 to 10.5 dB, one of 0.80 lost 3.8.
 */
const UNPROVEN_SHARE = 0.7;

/**
 * Whether motion goes on in the pictures in front of a lost one: the last of them is nearer to what the motion before it makes of the one
 * before than to that one, and clearly so where no whole picture will prove it. True where there are too few to tell.
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
  const still = { ...moved, x: new Float32Array(moved.x.length), y: new Float32Array(moved.y.length) };
  return missedBy(moved) <= (isProvenLater ? 1 : UNPROVEN_SHARE) * missedBy(still);
}

/** Rows of luma on which guesses are judged, every so many: a picture says the same of all. */
const JUDGED_EACH = 3;

/** Mean square difference between some rows of luma of a picture and the mean of what others show there. */
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
