import type { FrameSeries } from '#server/media/grey/grey-series.ts';
import { median } from '#server/media/statistics.ts';
import { sideMoves } from './stutter-clockwork.ts';

/** By this many pictures after a run, whatever enters is visible... */
const FLANK = 6;
/**
 * ...and the picture has this many times the detail (mean squared gradient) of the run. It has 100 and 54 times as much
 * in two montages with resting plates; after runs added right after cuts at most 1.2 times, in one of motion graphics
 * 4.7.
 */
const MIN_GAIN = 10;

/** Place of a run. */
interface StagePlace {
  readonly first: number;
  readonly last: number;
  /** Change of each decoded picture, grey levels. */
  readonly moves: readonly number[];
  /** First pictures of new shots. */
  readonly cutSet: ReadonlySet<number>;
}

/** A step this many times those after it leads over lost pictures; things that enter start slowly. */
const LEAP_RATIO = 1.5;

/**
 * True for a run right after a cut that shows an empty stage: a plate or a backdrop that rests until words, pictures or
 * somebody enter. A filmed shot has its detail from the first picture on, and so has a copy of it.
 */
export function isEmptyStage({ sharpness }: Pick<FrameSeries, 'sharpness'>, run: StagePlace): boolean {
  const { first, last, moves, cutSet } = run;
  if (cutSet.has(last + 1) || (!cutSet.has(first - 1) && !cutSet.has(first))) return false;
  const behind = sideMoves(moves, cutSet, last + 2, 1);
  if ((moves[last + 1] ?? 0) >= LEAP_RATIO * median(behind)) return false;
  const shown = last + Math.min(FLANK, 1 + behind.length);
  return (sharpness[shown] ?? 0) >= MIN_GAIN * Math.max(1, sharpness[last] ?? 0);
}
