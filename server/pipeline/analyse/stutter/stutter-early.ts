import { median } from '#server/media/statistics.ts';
import type { StutterRun } from './stutter-history.ts';

/** Living pictures behind a run that show what moves there. */
const FLANK = 6;
/** The picture behind a run is shown twice when its repeat changes this share of the quieter side at most... */
const MAX_REPEAT_SHARE = 0.12;
/** ...and the sides move so much (grey levels) that one repeat stands out. */
const MIN_LEVEL = 4;
/** The picture behind the repeat moves again. */
const ALIVE_SHARE = 0.4;

/**
 * A held run with the picture that stands behind it too early. Who fills the time of lost pictures to a constant rate by halves, as
 * ffmpeg's `-vsync cfr` does, repeats the last picture before the hole for all but one of them and shows the next picture twice, the first
 * time a picture too early: that one stands where a lost picture belongs as the repeats do.
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
