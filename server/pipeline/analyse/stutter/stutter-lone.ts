import { median, quantile } from '#server/media/statistics.ts';

/** Fewer other pictures do not show how still a clip ever is. */
const LEAST_OTHERS = 60;
/** The stillest of a clip's other pictures: this share of them changes less. */
const STILLEST = 0.02;
/** A run is stiller than anything else in its clip if it changes by at most this share of these. */
const LONE_SHARE = 0.15;

interface Run {
  readonly first: number;
  readonly last: number;
}

/**
 * True for a run in a clip in which nothing else is nearly as still: whatever it shows never rests, so the run is of
 * copies.
 * @param moves change of each picture, grey levels
 * @param copies other runs that are copies for certain; they do not show how the clip moves
 */
export function isLone(run: Run, moves: readonly number[], copies: readonly Run[]): boolean {
  const isBeside = (at: number) => [run, ...copies].some(({ first, last }) => at >= first && at <= last);
  const others = moves.filter((_, at) => at > 0 && !isBeside(at));
  if (others.length < LEAST_OTHERS) return false;
  return median(moves.slice(run.first, run.last + 1)) <= LONE_SHARE * quantile(others, STILLEST);
}
