import type { FrameSeries } from '#server/media/grey/grey-series.ts';
import { median } from '#server/media/statistics.ts';
import { MAX_HISTOGRAM } from '../dropped-frames/detect-hidden-drops-step.ts';
import { isSharp, type RunPlace } from './stutter-cadence.ts';

/** Pictures on each side that show how much the whole picture usually changes. */
const FLANK = 6;
/** The jump after a single repeat is about twice a usual step; above this many times it leads to another shot. */
const MAX_SINGLE_JUMP = 4;
/**
 * Over one lost picture the mean squared gradient stays within this factor. Where a caption comes or goes it changes by
 * more, and the step shows nothing of the filmed motion.
 */
const MAX_DETAIL_RATIO = 1.5;

/**
 * True if the step after a single repeat leads to another shot, because it is too large in the liveliest blocks or in
 * the whole picture. A jump cut in lively motion changes the liveliest blocks no more than the motion does, but all
 * others as well; a flash changes the brightness everywhere. Or it leads to a picture with or without a caption.
 * @param at the repeat
 * @param livelier usual change of the liveliest blocks on its livelier side
 */
export function leadsElsewhere(
  { blockDiff, meanDiff, histogramDiff, sharpness }: FrameSeries,
  at: number,
  livelier: number,
): boolean {
  const before = median(meanDiff.slice(Math.max(1, at - FLANK), at));
  const after = median(meanDiff.slice(at + 2, at + 2 + FLANK));
  const move = blockDiff.get(1)?.[at + 1] ?? 0;
  if ((histogramDiff[at + 1] ?? 0) > MAX_HISTOGRAM) return true;
  const [held, next] = [sharpness[at] ?? 0, sharpness[at + 1] ?? 0];
  if (Math.max(held, next) > MAX_DETAIL_RATIO * Math.min(held, next)) return true;
  return (
    move > MAX_SINGLE_JUMP * livelier || (meanDiff[at + 1] ?? 0) > MAX_SINGLE_JUMP * Math.max(before, after)
  );
}

/** A rate that was converted to a slightly higher one repeats a picture at least this often: about once a second. */
const LONGEST_BEAT_S = 1.25;
/**
 * This many other repeats on the beat of a single one, up to this many beats away and within this many pictures, show
 * how the clip was made.
 */
const MIN_BEATS = 3;
const BEATS = 4;
const SLACK = 1;

/**
 * True for a single repeat that recurs at equal distances, as when 24 pictures are shown as 25, or 28.8 as 30 with one
 * left out for each one shown twice. Repeats from defects keep no rhythm.
 */
export function keepsTime({
  first,
  holds,
  moves,
  fps,
}: Pick<RunPlace, 'first' | 'holds' | 'moves' | 'fps'>): boolean {
  const singles = holds.flatMap(([from, to]) =>
    from === to && from !== first && isSharp(moves, from, to) ? [from] : [],
  );
  const beats = singles.map((at) => Math.abs(at - first)).filter((beat) => beat <= LONGEST_BEAT_S * fps);
  return beats.some((beat) => {
    const due = Array.from({ length: BEATS }, (_, k) => [
      first - (k + 1) * beat,
      first + (k + 1) * beat,
    ]).flat();
    return due.filter((place) => singles.some((at) => Math.abs(at - place) <= SLACK)).length >= MIN_BEATS;
  });
}
