/** Pure maths on sampled signals and series. Levels are dBFS: 0 dB is a full-scale square wave. */

/** Smallest power that counts; keeps the logarithm finite on digital silence (-140 dB). */
const SILENT_POWER = 1e-14;

/** Power (mean square) as decibels. */
export function powerToDb(power: number): number {
  return 10 * Math.log10(Math.max(power, SILENT_POWER));
}

/**
 * Value below which the share `q` (0 to 1) of the values lies, linearly interpolated between ranks
 * (definition 7 of Hyndman and Fan 1996); NaN for an empty list. The input is not changed.
 */
export function percentile(values: ArrayLike<number>, q: number): number {
  // For plain arrays this copies many times faster than `from`.
  const sorted = new Float64Array(values).sort();
  if (sorted.length === 0) return Number.NaN;
  const rank = Math.min(1, Math.max(0, q)) * (sorted.length - 1);
  const low = Math.floor(rank);
  const a = sorted[low] ?? 0;
  const b = sorted[Math.min(low + 1, sorted.length - 1)] ?? a;
  return a + (b - a) * (rank - low);
}

export function median(values: ArrayLike<number>): number {
  return percentile(values, 0.5);
}

export function mean(values: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[i] ?? 0;
  return values.length > 0 ? sum / values.length : 0;
}

/** Standard deviation of the whole population. */
export function deviation(values: ArrayLike<number>): number {
  const centre = mean(values);
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += ((values[i] ?? 0) - centre) ** 2;
  return values.length > 0 ? Math.sqrt(sum / values.length) : 0;
}

/** Least-squares line through the points; slope 0 when all x are equal. */
export function fitLine(x: ArrayLike<number>, y: ArrayLike<number>): { slope: number; intercept: number } {
  const mx = mean(x);
  const my = mean(y);
  let xx = 0;
  let xy = 0;
  for (let i = 0; i < x.length; i++) {
    const dx = (x[i] ?? 0) - mx;
    xx += dx * dx;
    xy += dx * ((y[i] ?? 0) - my);
  }
  const slope = xx > 0 ? xy / xx : 0;
  return { slope, intercept: my - slope * mx };
}

/** The `rank`-th (from 0) of `count` values in ascending order; `scratch` is reordered. */
export function selectRank(scratch: Float64Array, count: number, rank: number): number {
  let left = 0;
  let right = count - 1;
  while (left < right) {
    const pivot = scratch[(left + right) >> 1] ?? 0;
    let i = left;
    let j = right;
    while (i <= j) {
      while ((scratch[i] ?? 0) < pivot) i++;
      while ((scratch[j] ?? 0) > pivot) j--;
      if (i <= j) {
        const swap = scratch[i] ?? 0;
        scratch[i] = scratch[j] ?? 0;
        scratch[j] = swap;
        i++;
        j--;
      }
    }
    if (rank <= j) right = j;
    else if (rank >= i) left = i;
    else break;
  }
  return scratch[rank] ?? 0;
}

/**
 * `percentile` of the first `count` values, one at least, without sorting all of them.
 * @param scratch is reordered
 */
export function selectQuantile(scratch: Float64Array, count: number, q: number): number {
  const place = q * (count - 1);
  const rank = Math.floor(place);
  const low = selectRank(scratch, count, rank);
  if (rank === place) return low;
  // Everything behind the rank is at least as large.
  let high = Number.POSITIVE_INFINITY;
  for (let i = rank + 1; i < count; i += 1) high = Math.min(high, scratch[i] ?? high);
  return low + (high - low) * (place - rank);
}
