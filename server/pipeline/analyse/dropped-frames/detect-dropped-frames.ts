import type { PictureTimes } from '../analysis.ts';
import { classifyIntervals, type Intervals } from '../packets/picture-intervals.ts';

/** A hole in the times between two displayed pictures. */
export interface TimestampGap {
  /** Last picture before the hole; the next picture is the first after it. */
  readonly frameBefore: number;
  /** Number of pictures that would fit inside at the usual interval. */
  readonly missing: number;
  /** Interval divided by the local median. */
  readonly ratio: number;
  readonly confidence: number;
}

/**
 * A loss is claimed only if this share of the intervals around it keeps the rhythm; holes of whole pictures keep it
 * too.
 */
const REGULAR_SHARE = 0.8;
/** There is a rhythm only if this share of the intervals is exactly one picture. */
const SINGLE_SHARE = 0.5;
/** An interval keeps the rhythm if it is at most this far from a whole number of pictures, pictures. */
export const WHOLE_SLACK = 0.15;
const WINDOW = 15;
/** In a clip of variable rate, a hole must be this many times as long as the longest usual interval... */
const VARIABLE_RATIO = 3;
/** ...and at least this long, ms. */
const VARIABLE_MIN_MS = 250;
/**
 * If there are more holes of that length, they are how the clip was recorded: stretches in which nothing changed on a
 * screen.
 */
const VARIABLE_MOST = 4;
/** One hole in 25 intervals may be a loss without raising the limit that losses are compared with. */
const USUAL_SHARE = 0.96;
/** Confidence in an even rhythm is the sum of both; each interval that breaks it takes more than its share away. */
const CONFIDENCE = { least: 0.8, byRhythm: 0.19, power: 4 } as const;
const VARIABLE_CONFIDENCE = 0.7;

/**
 * Finds holes in the timestamps. In a clip of constant rate: intervals of at least 1.5 times the local median with
 * regular neighbours. In a clip of naturally variable rate: only intervals of at least three times the longest usual
 * one, and none if there are many of them.
 */
export function detectTimestampGaps(times: PictureTimes): TimestampGap[] {
  const intervals = classifyIntervals(times.ptsTicks, times.timeBase);
  if (times.variableByNature || intervals.variableByNature) return variableGaps(times, intervals.ticks);
  return intervals.ticks.flatMap((ticks, i) => {
    // Recorders and AVI writers start unevenly, and a cut by stream copy omits pictures before the last one.
    if (i === 0 || i === intervals.ticks.length - 1 || intervals.kinds[i] !== 'long') return [];
    const from = Math.max(0, i - WINDOW);
    const others = intervals.kinds.flatMap((_, k) => (k >= from && k <= i + WINDOW && k !== i ? [k] : []));
    const around = others.map((k) => intervals.kinds[k]);
    const share = (count: number) => count / Math.max(1, around.length);
    const single = share(around.filter((kind) => kind === 'regular').length);
    const whole = share(
      around.filter((kind, k) => kind === 'long' && isWhole(intervals, others[k] ?? i)).length,
    );
    const regular = single + whole;
    if (single < SINGLE_SHARE || regular < REGULAR_SHARE) return [];
    const usual = intervals.localMedianTicks[i] ?? ticks;
    const missing = Math.round(ticks / usual) - 1;
    return missing < 1
      ? []
      : [{ frameBefore: i, missing, ratio: ticks / usual, confidence: confidenceOf(regular) }];
  });
}

const confidenceOf = (regularShare: number): number =>
  CONFIDENCE.least + CONFIDENCE.byRhythm * regularShare ** CONFIDENCE.power;

function isWhole({ ticks, localMedianTicks }: Intervals, at: number): boolean {
  const pictures = (ticks[at] ?? 0) / (localMedianTicks[at] ?? 1);
  return Math.abs(pictures - Math.round(pictures)) <= WHOLE_SLACK;
}

function variableGaps(times: PictureTimes, ticks: readonly number[]): TimestampGap[] {
  const sorted = [...ticks].sort((a, b) => a - b);
  const longestUsual = sorted[Math.floor((sorted.length - 1) * USUAL_SHARE)] ?? 0;
  const minTicks = (VARIABLE_MIN_MS * times.timeBase.den) / (times.timeBase.num * 1000);
  if (ticks.filter((interval) => interval >= minTicks).length > VARIABLE_MOST) return [];
  return ticks.flatMap((interval, i) => {
    // As in a constant rate: recorders start with a longer first picture, and fragments express a late start so.
    if (i === 0 || interval < VARIABLE_RATIO * longestUsual || interval < minTicks) return [];
    const missing = Math.round(interval / times.medianIntervalTicks) - 1;
    const ratio = interval / times.medianIntervalTicks;
    return [{ frameBefore: i, missing, ratio, confidence: VARIABLE_CONFIDENCE }];
  });
}
