import type { FrameSeries } from '#server/media/grey/grey-series.ts';
import { median } from '#server/media/statistics.ts';
import { MAX_HISTOGRAM } from '../dropped-frames/detect-hidden-drops.ts';

/** Pictures on each side that show how much of the whole picture usually changes. */
const FLANK = 6;
/** A jump behind a single repeat is twice a usual step, and no more than this many times: else it leads to another shot. */
const MAX_SINGLE_JUMP = 4;

/**
 * True where the step behind a single repeat leads to another shot: it is too long, by what moves most or by the whole picture. A jump cut in
 * lively motion changes the liveliest blocks no more than the motion does, but all the others as well; a flash changes the brightness of all.
 * @param at the repeat
 * @param livelier usual change of the liveliest blocks on its livelier side
 */
export function leadsElsewhere(
  { blockDiff, meanDiff, histogramDiff }: FrameSeries,
  at: number,
  livelier: number,
): boolean {
  const before = median(meanDiff.slice(Math.max(1, at - FLANK), at));
  const after = median(meanDiff.slice(at + 2, at + 2 + FLANK));
  const move = blockDiff.get(1)?.[at + 1] ?? 0;
  if ((histogramDiff[at + 1] ?? 0) > MAX_HISTOGRAM) return true;
  return (
    move > MAX_SINGLE_JUMP * livelier || (meanDiff[at + 1] ?? 0) > MAX_SINGLE_JUMP * Math.max(before, after)
  );
}
