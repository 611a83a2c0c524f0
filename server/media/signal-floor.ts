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

/** @param halfWidthBins neighbours on each side in frequency; @param bins lowest bins that are kept */
export function createSpectralFloor(bins: number, halfWidthBins: number): SpectralFloor {
  const rows: Float64Array[] = [];
  const floor = new Float64Array(bins);
  const scratch = new Float64Array(3 * (2 * halfWidthBins + 1));
  const fill = (neighbours: readonly Float64Array[]) => {
    for (let k = 0; k < bins; k++) {
      const low = Math.max(0, k - halfWidthBins);
      const high = Math.min(bins - 1, k + halfWidthBins);
      let count = 0;
      for (const row of neighbours) for (let j = low; j <= high; j++) scratch[count++] = row[j] ?? 0;
      floor[k] = selectRank(scratch, count, count >> 1);
    }
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
