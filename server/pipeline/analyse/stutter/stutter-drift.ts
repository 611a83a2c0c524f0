import { LAGS, type FrameSeries } from '#server/media/grey/grey-series.ts';
import { median } from '#server/media/statistics.ts';

/**
 * Least distance between compared pictures of a run. Over fewer pictures, what encoders refine in copies adds up just
 * like motion.
 */
const LEAST_LAG = 4;
/**
 * Change over that distance against the largest single change of the run. Copies stay the same: in 119 runs of 4 to 8
 * added to 23 public clips it is 1.1 by the median and at most 2.2. In a logo with a moving light before a cut (16
 * pictures) it is 7.
 */
const MIN_DRIFT = 2.5;
/** Over the shortest distance encoders may still refine: 2.6 in five copies of an aerial shot of a coast. */
const MIN_DRIFT_REFINED = 3.2;
/** Smaller changes are rounding, grey levels. */
const LEAST = 0.1;
/**
 * Less over the whole run than this share of a single step beside it is what encoders refine, however evenly. Four
 * copies of a fast ball gain 0.03 in all.
 */
const REFINED_SHARE = 0.05;
/** Steps on each side that show what is usual. */
const FLANK = 6;

/** From this many distances on, both halves are checked: refining of copies ends, drifting goes on. */
const IN_HALVES = 4;

/**
 * A last picture this many times livelier than all before it is motion that starts again; the run is then checked
 * without it.
 */
const LIVELY_END = 2;

/**
 * True for a run in which something keeps moving, however slowly: its small changes add up, those of copies do not.
 * @param run first and last copy; the true picture stands right before
 */
export function drifts(
  { blockDiff }: FrameSeries,
  run: { readonly first: number; readonly last: number },
): boolean {
  const { first } = run;
  const last = withoutLivelyEnd(blockDiff.get(1) ?? [], run);
  const lag = LAGS.findLast((one) => one <= last - first + 1 && one >= LEAST_LAG);
  if (lag === undefined) return false;
  const changes = (blockDiff.get(lag) ?? []).slice(first - 1 + lag, last + 1);
  const middle = Math.floor(changes.length / 2);
  const halves = changes.length < IN_HALVES ? [changes] : [changes.slice(0, middle), changes.slice(middle)];
  const far = Math.min(...halves.map((half) => Math.max(...half)));
  const moves = blockDiff.get(1) ?? [];
  const single = Math.max(LEAST, ...moves.slice(first, last + 1));
  const beside = [moves.slice(Math.max(1, first - FLANK), first), moves.slice(run.last + 1).slice(0, FLANK)];
  if (far < REFINED_SHARE * Math.min(...beside.map((side) => (side.length < FLANK ? 0 : median(side)))))
    return false;
  return far >= (lag === LEAST_LAG ? MIN_DRIFT_REFINED : MIN_DRIFT) * single;
}

function withoutLivelyEnd(
  moves: readonly number[],
  { first, last }: { readonly first: number; readonly last: number },
): number {
  const others = Math.max(LEAST, ...moves.slice(first, last));
  return (moves[last] ?? 0) >= LIVELY_END * others ? last - 1 : last;
}
