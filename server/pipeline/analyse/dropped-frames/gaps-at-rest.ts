import { median } from '#server/media/statistics.ts';
import { ticksToMs } from '#server/media/time-base.ts';
import type { PictureTimes } from '../analysis.ts';
import type { ChangeTo } from './change-to.ts';
import type { TimestampGap } from './detect-dropped-frames.ts';

/** Change of a picture (grey levels of the block difference) up to which nothing moves on a screen. */
const REST = 0.6;
/** ...and change across a hole that is too small to hide motion: what moves for a quarter of a second changes more. */
const LITTLE = 2.5;

/**
 * Keeps holes of a variable rate in which something was lost. Screen recorders write no picture while nothing changes,
 * so a hole without loss follows resting motion or has almost no difference across it. Measured on a phone's screen
 * recording (0.12 to 0.36 before the holes, 1.6 across a hole between two of them; moving pictures beside them 3 to
 * 100). Noise keeps cameras from ever resting that much.
 * @param moveTo change of a displayed picture from the one before; null where it is unknown, and at a cut
 */
export function withoutRests(gaps: readonly TimestampGap[], moveTo: ChangeTo): TimestampGap[] {
  return gaps.filter(({ frameBefore }) => {
    const [before, over] = [moveTo(frameBefore), moveTo(frameBefore + 1)];
    return (before ?? REST) >= REST && (over ?? LITTLE) >= LITTLE;
  });
}

/** Pictures whose steps lie beside a hole, as many on each side. */
const besideHole = ({ frameBefore }: TimestampGap, reach: number): number[] =>
  Array.from({ length: reach }, (_, far) => [frameBefore - far, frameBefore + 2 + far]).flat();

/** Steps on each side of a hole that show how far things move. */
const REACH = 3;
/** The step across a hole that covers a lost picture is at least this many times as long as those beside it. */
const FARTHER = 1.4;

/**
 * Keeps holes under which something was lost, where the container counts places and an empty one says that the picture
 * stays, as in AVI. Recorders of screens write them where nothing changes, others where they came too late. In 40 such
 * holes of four public recordings the step before or across was at most 0.2; motion that goes on and has come farther
 * than usual is a loss. A single hole of the same writer that a rate of 29.72 leaves in 29.75 was no farther.
 */
export function withoutHolds(gaps: readonly TimestampGap[], moveTo: ChangeTo): TimestampGap[] {
  const behind = new Set(gaps.map(({ frameBefore }) => frameBefore + 1));
  const moveBeside = (frame: number) => (behind.has(frame) ? null : moveTo(frame));
  return gaps.filter((gap) => {
    const { frameBefore } = gap;
    const over = moveTo(frameBefore + 1);
    if (over === null || [frameBefore, frameBefore + 2].some((next) => (moveTo(next) ?? 0) < REST))
      return false;
    const moves = besideHole(gap, REACH).flatMap((frame) => moveBeside(frame) ?? []);
    return moves.length > 0 && over >= FARTHER * median(moves);
  });
}

/** Recorders of screens find their rate within this time, ms (holes at 50 and 200 ms in two of 18)... */
const START_MS = 300;
/** ...on a screen that stands still: changes of the pictures around are at most this, grey levels (0.1 there). */
const STILL = 0.15;

/** Leaves out holes at the very start of a clip in which nothing moves. */
export function withoutUnevenStart(
  gaps: readonly TimestampGap[],
  { ptsTicks, timeBase }: Pick<PictureTimes, 'ptsTicks' | 'timeBase'>,
  moveTo: ChangeTo,
): TimestampGap[] {
  return gaps.filter((gap) => {
    const over = gap.frameBefore + 1;
    const endTicks = (ptsTicks[over] ?? Infinity) - (ptsTicks[0] ?? 0);
    if (ticksToMs(endTicks, timeBase) > START_MS) return true;
    return [over, ...besideHole(gap, REACH)]
      .filter((frame) => frame > 0)
      .some((frame) => (moveTo(frame) ?? Infinity) > STILL);
  });
}

/** Steps on each side of a hole that must rest, and how little they change, grey levels. */
const WAIT_REACH = 2;
const WAITING = 1.2;
/** A change after which everything rests again, grey levels: a page or a slide appears (45 to 112 in one clip). */
const FLIP = 20;

/**
 * Leaves out holes between rest and a single change, or a cut, behind which everything rests again: no picture was
 * written while nothing changed, as by recorders of screens and encoders that skip what repeats.
 */
export function withoutWaits(gaps: readonly TimestampGap[], moveTo: ChangeTo): TimestampGap[] {
  const rests = (frame: number) => (moveTo(frame) ?? Infinity) <= WAITING;
  return gaps.filter((gap) => {
    const isFlip = (moveTo(gap.frameBefore + 1) ?? Infinity) >= FLIP;
    return !isFlip || !besideHole(gap, WAIT_REACH).every(rests);
  });
}
