/** Middle value; the mean of the two middle ones for an even count, 0 for none. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** Value below which `share` (0 to 1) of the values lie, interpolated; 0 for none. */
export function quantile(values: readonly number[], share: number): number {
  if (values.length === 0) return 0;
  // For plain arrays this copies many times faster than `from`.
  const sorted = new Float64Array(values).sort();
  const place = share * (sorted.length - 1);
  const low = sorted[Math.floor(place)] ?? 0;
  const high = sorted[Math.ceil(place)] ?? low;
  return low + (high - low) * (place - Math.floor(place));
}

export function mean(values: readonly number[]): number {
  let sum = 0;
  for (const value of values) sum += value;
  return values.length > 0 ? sum / values.length : 0;
}

/** How much nearer a value is to a second one than to a first, as a difference of log distances; all above 0. */
export function nearerToSecond(value: number, first: number, second: number): number {
  return Math.abs(Math.log(value / first)) - Math.abs(Math.log(value / second));
}

export function clamp(value: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, value));
}

/** The most frequent number, the earliest if there are several; 0 for none. */
export function mostFrequent(values: readonly number[]): number {
  const counts = new Map<number, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1])[0]?.[0] ?? 0;
}

/** The first of some ascending numbers that exceeds a bound; Infinity where none does. */
export function firstAbove(rising: readonly number[], bound: number): number {
  let [low, high] = [0, rising.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((rising[middle] ?? Infinity) <= bound) low = middle + 1;
    else high = middle;
  }
  return rising[low] ?? Infinity;
}
