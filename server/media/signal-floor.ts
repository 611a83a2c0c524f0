import { selectRank } from './signal.ts';

/**
 * Smooth background under a spectrum: for each bin the median of the powers around it in frequency and
 * time. Harmonics of a voice are narrow against the neighbourhood and fall out; wind, which has no lines,
 * stays (the idea of median-filter separation, Fitzgerald 2010).
 */
export interface SpectralFloor {
  /**
   * Background of the frame BEFORE the newest one (it needs a neighbour on both sides), or null for the
   * first frame. The array is reused.
   */
  push(power: Float64Array): Float64Array | null;
  /** Background of the last frame, when no more come; null when none came. */
  flush(): Float64Array | null;
}

/**
 * @param bins lowest bins that are kept
 * @param halfWidthBins neighbours on each side in frequency
 * @param stride every how many bins the median is taken; those between are interpolated
 */
export function createSpectralFloor(bins: number, halfWidthBins: number, stride = 1): SpectralFloor {
  const rows: Float64Array[] = [];
  const floor = new Float64Array(bins);
  const scratch = new Float64Array(3 * (2 * halfWidthBins + 1));
  const fill = (neighbours: readonly Float64Array[]) => {
    for (let k = 0; k < bins; k += stride) {
      const low = Math.max(0, k - halfWidthBins);
      const high = Math.min(bins - 1, k + halfWidthBins);
      let count = 0;
      for (const row of neighbours) for (let j = low; j <= high; j++) scratch[count++] = row[j] ?? 0;
      floor[k] = selectRank(scratch, count, count >> 1);
      const before = floor[k - stride] ?? 0;
      for (let j = k - stride + 1; j < k; j++) {
        floor[j] = before + (((floor[k] ?? 0) - before) * (j - k + stride)) / stride;
      }
    }
    for (let k = bins - ((bins - 1) % stride); k < bins; k++) floor[k] = floor[k - 1] ?? 0;
    return floor;
  };
  return {
    push(power) {
      const oldest = rows.length === 3 ? rows.shift() : undefined;
      const row = oldest ?? new Float64Array(bins);
      row.set(power.subarray(0, bins));
      rows.push(row);
      return rows.length < 2 ? null : fill(rows);
    },
    flush() {
      return rows.length === 0 ? null : fill(rows.slice(-2));
    },
  };
}
