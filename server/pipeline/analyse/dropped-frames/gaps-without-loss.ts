import { mean } from '#server/media/statistics.ts';
import type { TimestampGap } from './detect-dropped-frames.ts';

/** Steps on each side of a hole that show how far things go from picture to picture. */
const REACH = 3;
/** ...of which so many tell at least. */
const TELLING_LEAST = 4;
/** Change (grey levels of the block difference) beside a hole below which motion tells nothing: encoders make as much by themselves. */
const STILL = 3;
/** Motion is even where the longest of these steps is less than so many times the shortest... */
const EVEN = 2;
/**
 * ...and there a step over one lost picture is about twice as long as the others, of the liveliest blocks or of the whole picture: 1.43 times at least
 * over 12 planted ones. One that is longer by less in both goes over none.
 */
const LOSS_RATIO = 1.25;

/** Change of a displayed picture to the one before; null where it is not known, and at a cut. */
export type ChangeTo = (frame: number) => number | null;

/**
 * The holes of one picture in a constant rate, over which no more motion passes than over any other step: writers set pictures of 21 or nearly 30 a second to the
 * moments of a rate a little higher, so that one moment stays empty now and then. Nothing is missing there, and a picture made between
 * would slow the motion down. Of 44 holes in 14 public clips as they are passed on 14 are such; of 138 holes of 1 to 5 pictures planted
 * into moving places of 63 clips none (docs/benchmarks/repeats-and-losses.md).
 * @param blockTo change of the liveliest blocks, grey levels
 * @param wholeTo change of the whole picture
 */
export function findHolesWithoutLoss(
  gaps: readonly TimestampGap[],
  blockTo: ChangeTo,
  wholeTo: ChangeTo,
): TimestampGap[] {
  const behind = new Set(gaps.map(({ frameBefore }) => frameBefore + 1));
  const besideOf = (over: number, changeTo: ChangeTo) => {
    const beside: number[] = [];
    for (let frame = over - REACH; frame <= over + REACH; frame += 1) {
      const change = behind.has(frame) ? null : changeTo(frame);
      if (change !== null) beside.push(change);
    }
    return beside;
  };
  const isNoLonger = (over: number, changeTo: ChangeTo) => {
    const step = changeTo(over);
    return step !== null && step < LOSS_RATIO * mean(besideOf(over, changeTo));
  };
  return gaps.filter(({ frameBefore, missing }) => {
    const over = frameBefore + 1;
    const beside = besideOf(over, blockTo);
    if (missing > 1 || beside.length < TELLING_LEAST || mean(beside) < STILL) return false;
    const isEven = Math.max(...beside) < EVEN * Math.min(...beside);
    return isEven && isNoLonger(over, blockTo) && isNoLonger(over, wholeTo);
  });
}
