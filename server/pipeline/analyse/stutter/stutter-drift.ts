import { LAGS, type FrameSeries } from '#server/media/grey/grey-series.ts';

/** A distance over which pictures of a run are compared: over fewer, what encoders still refine in copies adds up as motion does. */
const LEAST_LAG = 4;
/**
 * Change over that distance against the largest single change of the run. Copies stay what they are: of 119 runs of 4 to 8 planted into 23 public
 * clips it is 1.1 by the median and 2.2 at most, in a logo whose light wanders on before a cut, claimed as 16 copies, it is 7.
 */
const MIN_DRIFT = 2.5;
/** Over the shortest distance encoders may still refine: in five copies of a coast seen from the air it is 2.6. */
const MIN_DRIFT_REFINED = 3.2;
/** Changes below this are rounding, grey levels. */
const LEAST = 0.1;

/** So many distances and more are asked in two halves: what encoders refine in copies comes to an end, and what drifts goes on. */
const IN_HALVES = 4;

/** A last picture this many times livelier than all before it ends the run as motion sets in again: what comes before it is asked. */
const LIVELY_END = 2;

/**
 * True for a run in which something moves on, however slowly: its small changes add up, as those of no copies do.
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
  const single = Math.max(LEAST, ...(blockDiff.get(1) ?? []).slice(first, last + 1));
  return far >= (lag === LEAST_LAG ? MIN_DRIFT_REFINED : MIN_DRIFT) * single;
}

function withoutLivelyEnd(
  moves: readonly number[],
  { first, last }: { readonly first: number; readonly last: number },
): number {
  const others = Math.max(LEAST, ...moves.slice(first, last));
  return (moves[last] ?? 0) >= LIVELY_END * others ? last - 1 : last;
}
