import { ROOM_FOR_ANOTHER, type TimeBase } from '#server/media/time-base.ts';
import { median, quantile } from '#server/media/statistics.ts';

/** Number of intervals on each side that give the local rhythm. */
const WINDOW = 15;
/** Relative difference up to which intervals count as equal; covers rounding such as 33/34 ms. */
const SAME_SHARE = 0.12;
/** Rounding of coarse time bases, ms. */
const SAME_MS = 1.2;
/** Below this share of the usual interval it is short; lost pictures never shorten an interval. */
const SHORT = 0.75;
/** Share of short intervals from which the rate is variable by nature. */
const SHORT_SHARE = 0.02;
/** Share of irregular intervals from which the rate is variable by nature. */
const OFF_SHARE = 0.2;
/** Spread of the ordinary intervals (5th to 95th percentile over the median) that a constant rate never has. */
const DRIFT_SHARE = 0.15;
/**
 * This many equal long intervals in a row mean that the camera slows down: at 10 % losses chance gives 0.0001 for each
 * picture.
 */
const SLOW_RUN = 4;
/** If most long intervals exceed this many usual ones, nothing was recorded in them (still stretches). */
const STILL_RATIO = 12;
/** Fewer long intervals than this may be losses. */
const STILL_LEAST = 3;

export type IntervalKind = 'regular' | 'long' | 'short' | 'odd';

export interface Intervals {
  /** Median interval of the whole clip, ticks. */
  readonly medianTicks: number;
  /** Interval after each picture but the last, ticks. */
  readonly ticks: readonly number[];
  /** Median of the intervals around each, ticks. */
  readonly localMedianTicks: readonly number[];
  readonly kinds: readonly IntervalKind[];
  readonly variableByNature: boolean;
}

/**
 * Judges the rhythm of a clip by its timestamps. The rate is variable by nature in four cases: short intervals occur
 * (losses cannot make any), many intervals are irregular, long intervals come in equal rows as from auto exposure
 * (losses close together make unequal ones), or most long ones are still stretches as in screen recordings. Constants
 * measured on eleven phone clips of variable rate and thirty of constant rate, with losses of one to ten pictures in
 * bursts, close together and at random.
 * @param ptsTicks times in display order
 */
export function classifyIntervals(ptsTicks: readonly number[], timeBase: TimeBase): Intervals {
  const ticks: number[] = [];
  for (let i = 1; i < ptsTicks.length; i += 1) ticks.push((ptsTicks[i] ?? 0) - (ptsTicks[i - 1] ?? 0));
  const roundingTicks = (SAME_MS * timeBase.den) / (timeBase.num * 1000);
  const localMedianTicks = ticks.map((_, i) => median(ticks.slice(Math.max(0, i - WINDOW), i + WINDOW + 1)));
  const kinds = ticks.map((value, i): IntervalKind => {
    const usual = localMedianTicks[i] ?? value;
    if (Math.abs(value - usual) <= Math.max(roundingTicks, SAME_SHARE * usual)) return 'regular';
    if (value >= ROOM_FOR_ANOTHER * usual) return 'long';
    return value <= SHORT * usual ? 'short' : 'odd';
  });
  return {
    medianTicks: ticks.length > 0 ? median(ticks) : 1,
    ticks,
    localMedianTicks,
    kinds,
    variableByNature: isVariable(ticks, kinds, localMedianTicks) || drifts(ticks, kinds, roundingTicks),
  };
}

function isVariable(
  ticks: readonly number[],
  kinds: readonly IntervalKind[],
  usual: readonly number[],
): boolean {
  const count = (kind: IntervalKind) => kinds.filter((other) => other === kind).length;
  const long = ticks.filter((_, i) => kinds[i] === 'long');
  const short = count('short');
  if (short >= 2 && short > SHORT_SHARE * kinds.length) return true;
  if (long.length + short + count('odd') > OFF_SHARE * kinds.length) return true;
  const ratios = ticks.flatMap((value, i) => (kinds[i] === 'long' ? [value / (usual[i] ?? value)] : []));
  if (ratios.length >= STILL_LEAST && median(ratios) > STILL_RATIO) return true;
  return slowsDown(ticks, kinds);
}

/** True when long intervals come in rows of equal ones: in one long row, or in rows that hold every long interval. */
function slowsDown(ticks: readonly number[], kinds: readonly IntervalKind[]): boolean {
  const isLong = (i: number) => kinds[i] === 'long';
  const isEqual = (i: number) => {
    const [now, before] = [ticks[i] ?? 0, ticks[i - 1] ?? 0];
    return isLong(i) && isLong(i - 1) && Math.abs(now - before) <= SAME_SHARE * before;
  };
  let row = 1;
  let longest = 0;
  let long = 0;
  let inRows = 0;
  for (let i = 0; i < ticks.length; i += 1) {
    if (!isLong(i)) continue;
    row = isEqual(i) ? row + 1 : 1;
    longest = Math.max(longest, row);
    long += 1;
    if (isEqual(i) || isEqual(i + 1)) inRows += 1;
  }
  return longest >= SLOW_RUN || (long >= 2 && inRows === long);
}

/** True when the interval itself changes slowly, as with the auto exposure of phones, without any sudden step. */
function drifts(ticks: readonly number[], kinds: readonly IntervalKind[], roundingTicks: number): boolean {
  const ordinary = ticks.filter((_, i) => kinds[i] === 'regular' || kinds[i] === 'odd');
  const spread = quantile(ordinary, 0.95) - quantile(ordinary, 0.05);
  return spread > Math.max(2 * roundingTicks, DRIFT_SHARE * median(ordinary));
}
