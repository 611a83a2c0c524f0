import type { PictureTimes } from '../analysis.ts';
import { classifyIntervals, type Intervals } from '../packets/picture-intervals.ts';

/** A hole in the times between two displayed pictures. */
export interface TimestampGap {
  /** Last picture before the hole; the next picture is the first behind it. */
  readonly frameBefore: number;
  /** Pictures that the usual interval would place inside. */
  readonly missing: number;
  /** Interval over the local median. */
  readonly ratio: number;
  readonly confidence: number;
}

/** Share of intervals around a hole that keep the rhythm, holes of whole pictures among them, without which no loss is claimed. */
const REGULAR_SHARE = 0.8;
/** Share of intervals of exactly one picture without which there is no rhythm. */
const SINGLE_SHARE = 0.5;
/** Distance from a whole number of pictures up to which an interval keeps the rhythm, pictures. */
export const WHOLE_SLACK = 0.15;
const WINDOW = 15;
/** In a clip of variable rate only a hole this many times its longest usual interval counts... */
const VARIABLE_RATIO = 3;
/** ...and at least this long, milliseconds. */
const VARIABLE_MIN_MS = 250;
/** More holes of that length are how the clip was taken: stretches in which nothing changed on a screen. */
const VARIABLE_MOST = 4;

/**
 * Holes in the timestamps. In a clip of constant rate: an interval of 1.5 times the local median and more
 * where its neighbours are regular. In a clip that varies by nature nothing below three times its longest
 * usual interval is called a loss, and nothing at all where such holes are many.
 */
export function detectTimestampGaps(times: PictureTimes): TimestampGap[] {
  const intervals = classifyIntervals(times.ptsTicks, times.timeBase);
  if (times.variableByNature || intervals.variableByNature) return variableGaps(times, intervals.ticks);
  return intervals.ticks.flatMap((ticks, i) => {
    // Recorders and writers of AVI start unevenly, and a cut by stream copy leaves out pictures before the last.
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
      : [{ frameBefore: i, missing, ratio: ticks / usual, confidence: 0.8 + 0.19 * regular ** 4 }];
  });
}

function isWhole({ ticks, localMedianTicks }: Intervals, at: number): boolean {
  const pictures = (ticks[at] ?? 0) / (localMedianTicks[at] ?? 1);
  return Math.abs(pictures - Math.round(pictures)) <= WHOLE_SLACK;
}

function variableGaps(times: PictureTimes, ticks: readonly number[]): TimestampGap[] {
  const sorted = [...ticks].sort((a, b) => a - b);
  // Up to one hole in 25 intervals may be a loss without becoming the rule that losses are held against.
  const longestUsual = sorted[Math.floor((sorted.length - 1) * 0.96)] ?? 0;
  const minTicks = (VARIABLE_MIN_MS * times.timeBase.den) / (times.timeBase.num * 1000);
  if (ticks.filter((interval) => interval >= minTicks).length > VARIABLE_MOST) return [];
  return ticks.flatMap((interval, i) => {
    // As in a constant rate: a first picture that stands is how recorders start, and how fragments tell that the others come late.
    if (i === 0 || interval < VARIABLE_RATIO * longestUsual || interval < minTicks) return [];
    const missing = Math.round(interval / times.medianIntervalTicks) - 1;
    return [{ frameBefore: i, missing, ratio: interval / times.medianIntervalTicks, confidence: 0.7 }];
  });
}
