import type { LostBetween } from '#server/media/lost-counts.ts';
import { median } from '#server/media/statistics.ts';
import { ROOM_FOR_ANOTHER } from '#server/media/time-base.ts';
import type { PictureTimes } from '../analysis.ts';
import type { TimestampGap } from './detect-dropped-frames.ts';

/** Intervals to each side that tell what is usual. */
const WINDOW = 15;
/** Intervals at the end in which a cut by stream copy may have left out pictures that would be decoded behind it: as many as pyramids hold back. */
const AT_END = 4;
const CONFIDENCE = 0.97;
/**
 * No picture of a variable rate comes sooner than this share of the usual interval; in a constant one there are as many as there is room for. A key picture that
 * is lost took along that counts began anew with it, so that the step over it counts anything: thirteen pictures in a hole of one, seven in one of three.
 */
const SOONEST_SHARE = 0.4;

/**
 * Holes in the times for which the coded stream says itself that pictures are missing (`missingCounts`): no rhythm and no motion has to tell, so
 * that they are found in clips of variable rate and in rest as well. Not the first interval and the last ones: recorders start unevenly, and cuts by
 * stream copy leave out pictures there.
 */
export function countedGaps(
  { ptsTicks, variableByNature }: PictureTimes,
  lost: readonly LostBetween[],
): TimestampGap[] {
  const intervals = ptsTicks.slice(1).map((ticks, at) => ticks - (ptsTicks[at] ?? ticks));
  return lost.flatMap(({ placeBefore, missing }) => {
    const ticks = intervals[placeBefore];
    if (ticks === undefined || placeBefore <= 0 || placeBefore >= intervals.length - AT_END) return [];
    const usual = median(intervals.slice(Math.max(0, placeBefore - WINDOW), placeBefore + WINDOW + 1));
    if (ticks < ROOM_FOR_ANOTHER * usual) return [];
    const fits = variableByNature
      ? ticks >= SOONEST_SHARE * (missing + 1) * usual
      : Math.round(ticks / usual) === missing + 1;
    if (!fits) return [];
    return [{ frameBefore: placeBefore, missing, ratio: ticks / usual, confidence: CONFIDENCE }];
  });
}

/** Holes by the times and those by the stream, each once: what the stream counts is what is missing. */
export function withCounted(
  listed: readonly TimestampGap[],
  counted: readonly TimestampGap[],
): TimestampGap[] {
  const known = new Set(counted.map(({ frameBefore }) => frameBefore));
  const all = [...listed.filter(({ frameBefore }) => !known.has(frameBefore)), ...counted];
  return all.sort((a, b) => a.frameBefore - b.frameBefore);
}
