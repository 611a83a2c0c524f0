import { median } from '#server/media/statistics.ts';
import type { StutterRun } from './stutter-history.ts';

/** Moving pictures after a run that show its motion. */
const FLANK = 6;
/** The picture after a run is shown twice if its repeat changes by at most this share of the quieter side... */
export const MAX_REPEAT_SHARE = 0.12;
/** ...and the sides move by this much (grey levels), so that one repeat stands out. */
export const MIN_LEVEL = 4;
/** The picture after the repeat must change by this share of the motion again. */
const ALIVE_SHARE = 0.4;

/**
 * Extends a held run by the picture after it, if that one is shown too early. Tools that fill the time of lost pictures
 * at a constant rate, such as ffmpeg's `-vsync cfr`, repeat the last picture before the gap for all lost ones but one,
 * and show the next picture twice. Its first showing stands in the place of a lost picture, just as the repeats do.
 * @param moves change of each decoded picture (block difference, grey levels)
 * @param cuts first pictures of new shots
 * @param isTorn true for decoded pictures whose own data are damaged
 */
export function withEarlyNext(
  run: StutterRun,
  moves: readonly number[],
  cuts: ReadonlySet<number>,
  isTorn: (decoded: number) => boolean,
): StutterRun {
  const early = run.last + 1;
  const repeat = early + 1;
  const behind = repeat + 1;
  const near = [early, repeat, behind];
  if (run.history !== 'held' || behind >= moves.length || near.some((at) => cuts.has(at) || isTorn(at)))
    return run;
  const before = median(moves.slice(Math.max(1, run.first - FLANK), run.first));
  const after = median(moves.slice(behind, behind + FLANK));
  const level = Math.min(before, after);
  const isRepeat = (moves[repeat] ?? 0) <= MAX_REPEAT_SHARE * level;
  const isAlive = [moves[early] ?? 0, moves[behind] ?? 0].every((value) => value >= ALIVE_SHARE * after);
  return level >= MIN_LEVEL && isRepeat && isAlive ? { ...run, last: early } : run;
}
