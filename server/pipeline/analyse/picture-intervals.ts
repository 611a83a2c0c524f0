import { median, quantile } from '#server/media/statistics.ts';

/** Intervals to each side that make the local rhythm (`repair` notes: +-15). */
const WINDOW = 15;
/** Relative deviation that still counts as the same interval; covers 33/34 ms style rounding. */
const SAME_SHARE = 0.12;
/** Rounding of coarse time bases, milliseconds. */
const SAME_MS = 1.2;
/** An interval from here on, against its local median, is long (a lost picture makes at least 2). */
const LONG = 1.5;
/** Below this it is short; losing pictures never shortens an interval. */
const SHORT = 0.75;
/** Share of short intervals from which the clip varies by nature. */
const SHORT_SHARE = 0.02;
/** Share of intervals off the rhythm from which the clip varies by nature. */
const OFF_SHARE = 0.2;
/** Spread of the ordinary intervals (5th to 95th percentile over the median) that a constant rate never has. */
const DRIFT_SHARE = 0.15;
/** Share of long intervals with a long neighbour (a camera that slows down in the dark) that shows nature. */
const CLUSTER_SHARE = 0.3;

export type IntervalKind = 'regular' | 'long' | 'short' | 'odd';

export interface Intervals {
  /** Median interval of the whole clip, ticks. */
  readonly medianTicks: number;
  /** Interval after each picture but the last, ticks. */
  readonly ticks: readonly number[];
  /** Median of the intervals around each. */
  readonly localMedianTicks: readonly number[];
  readonly kinds: readonly IntervalKind[];
  readonly variableByNature: boolean;
}

/**
 * Judges the rhythm of a clip by its timestamps. A clip is variable by nature when short intervals occur
 * (a lost picture cannot make one), when many intervals are off the rhythm, or when long intervals come in
 * groups as auto exposure makes them; constants measured on eleven phone clips of variable and on
 * thirty of constant rate.
 * @param ptsTicks times in display order
 */
export function classifyIntervals(
  ptsTicks: readonly number[],
  timeBase: { readonly num: number; readonly den: number },
): Intervals {
  const ticks: number[] = [];
  for (let i = 1; i < ptsTicks.length; i += 1) ticks.push((ptsTicks[i] ?? 0) - (ptsTicks[i - 1] ?? 0));
  const roundingTicks = (SAME_MS * timeBase.den) / (timeBase.num * 1000);
  const localMedianTicks = ticks.map((_, i) => median(ticks.slice(Math.max(0, i - WINDOW), i + WINDOW + 1)));
  const kinds = ticks.map((value, i): IntervalKind => {
    const usual = localMedianTicks[i] ?? value;
    if (Math.abs(value - usual) <= Math.max(roundingTicks, SAME_SHARE * usual)) return 'regular';
    if (value >= LONG * usual) return 'long';
    return value <= SHORT * usual ? 'short' : 'odd';
  });
  return {
    medianTicks: ticks.length > 0 ? median(ticks) : 1,
    ticks,
    localMedianTicks,
    kinds,
    variableByNature: isVariable(kinds) || drifts(ticks, kinds, roundingTicks),
  };
}

function isVariable(kinds: readonly IntervalKind[]): boolean {
  const count = (kind: IntervalKind) => kinds.filter((other) => other === kind).length;
  const long = count('long');
  const short = count('short');
  if (short >= 2 && short > SHORT_SHARE * kinds.length) return true;
  if (long + short + count('odd') > OFF_SHARE * kinds.length) return true;
  const clustered = kinds.filter(
    (kind, i) => kind === 'long' && (kinds[i - 1] === 'long' || kinds[i + 1] === 'long'),
  ).length;
  return long >= 2 && clustered > CLUSTER_SHARE * long;
}

/** True when the interval itself wanders, as auto exposure of phones makes it, without any sudden step. */
function drifts(ticks: readonly number[], kinds: readonly IntervalKind[], roundingTicks: number): boolean {
  const ordinary = ticks.filter((_, i) => kinds[i] === 'regular' || kinds[i] === 'odd');
  const spread = quantile(ordinary, 0.95) - quantile(ordinary, 0.05);
  return spread > Math.max(2 * roundingTicks, DRIFT_SHARE * median(ordinary));
}
