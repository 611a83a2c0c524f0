import type { FrameSeries } from '#server/media/grey/grey-series.ts';
import { median } from '#server/media/statistics.ts';
import { sideMoves } from './stutter-clockwork.ts';

/** By this many pictures behind a run whatever enters has begun to show... */
const FLANK = 6;
/**
 * ...and the picture has this many times the detail (mean squared gradient) of the run. In two montages, of whose plates two and three pictures were
 * taken out, it has 100 and 54 times as much; behind runs planted right behind cuts 1.2 times at most, in one of motion graphics 4.7.
 */
const MIN_GAIN = 10;

/** Where a run stands. */
interface StagePlace {
  readonly first: number;
  readonly last: number;
  /** Change of each decoded picture, grey levels. */
  readonly moves: readonly number[];
  /** First pictures of new shots. */
  readonly cutSet: ReadonlySet<number>;
}

/** A step this many times those behind it leads over lost pictures; whatever enters sets out. */
const LEAP_RATIO = 1.5;

/**
 * True for a run right behind a cut that shows an empty stage: a plate or a backdrop that rests until words, pictures or somebody enter. What was filmed
 * has its detail from its first picture on; a copy of it has as much.
 */
export function isEmptyStage({ sharpness }: Pick<FrameSeries, 'sharpness'>, run: StagePlace): boolean {
  const { first, last, moves, cutSet } = run;
  if (cutSet.has(last + 1) || (!cutSet.has(first - 1) && !cutSet.has(first))) return false;
  const behind = sideMoves(moves, cutSet, last + 2, 1);
  if ((moves[last + 1] ?? 0) >= LEAP_RATIO * median(behind)) return false;
  const shown = last + Math.min(FLANK, 1 + behind.length);
  return (sharpness[shown] ?? 0) >= MIN_GAIN * Math.max(1, sharpness[last] ?? 0);
}
