import type { LostBetween } from '#server/media/lost-counts.ts';
import { median } from '#server/media/statistics.ts';
import { ROOM_FOR_ANOTHER } from '#server/media/time-base.ts';
import type { PictureTimes } from '../analysis.ts';
import type { TimestampGap } from './detect-dropped-frames.ts';

/** Intervals on each side that define the usual one. */
const WINDOW = 15;
/**
 * Number of last intervals in which a cut by stream copy may omit pictures that would be decoded later: as many as
 * pyramids hold back.
 */
const AT_END = 4;
const CONFIDENCE = 0.97;
/**
 * In a variable rate, no picture comes sooner than this share of the usual interval; in a constant rate, exactly as
 * many as there is room for. After a lost key picture the counts restart, so the step over it counts anything: thirteen
 * pictures in a hole of one, seven in a hole of three.
 */
const SOONEST_SHARE = 0.4;

/**
 * Finds holes in the times for which the coded stream itself says that pictures are missing (`missingCounts`). Neither
 * rhythm nor motion is needed, so holes are also found in clips of variable rate and in still scenes. The first
 * interval and the last ones are skipped: recorders start unevenly, and cuts by stream copy omit pictures at the end.
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

/** Combines holes found by times and by the stream, each once; the count of the stream takes precedence. */
export function withCounted(
  listed: readonly TimestampGap[],
  counted: readonly TimestampGap[],
): TimestampGap[] {
  const known = new Set(counted.map(({ frameBefore }) => frameBefore));
  const all = [...listed.filter(({ frameBefore }) => !known.has(frameBefore)), ...counted];
  return all.sort((a, b) => a.frameBefore - b.frameBefore);
}
