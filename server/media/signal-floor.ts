import { createMedianKernel } from './median-kernel.ts';
import { selectRank } from './signal.ts';

/** Frames whose spectra make a background: the one it belongs to and its neighbours. */
const ROWS = 3;

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
 * @param bins lowest bins that are kept, more than twice `halfWidthBins`
 * @param halfWidthBins neighbours on each side in frequency
 * @param stride every how many bins the median is taken; those between are interpolated
 */
export function createSpectralFloor(bins: number, halfWidthBins: number, stride = 1): SpectralFloor {
  const kernel = createMedianKernel({ rows: ROWS, length: bins, reach: halfWidthBins });
  const floor = new Float64Array(bins);
  const scratch = new Float64Array(ROWS * (2 * halfWidthBins + 1));
  let count = 0;
  /** At the start and the end only the newest two rows count. */
  const ofFew = (k: number) => {
    const low = Math.max(0, k - halfWidthBins);
    const high = Math.min(bins - 1, k + halfWidthBins);
    let seen = 0;
    for (let back = Math.min(2, count); back > 0; back--) {
      const row = kernel.row((count - back) % ROWS);
      for (let j = low; j <= high; j++) scratch[seen++] = row[j] ?? 0;
    }
    return selectRank(scratch, seen, seen >> 1);
  };
  const fill = (medianAt: (k: number) => number) => {
    for (let k = 0; k < bins; k += stride) {
      const here = medianAt(k);
      floor[k] = here;
      const before = floor[k - stride] ?? 0;
      for (let j = k - stride + 1; j < k; j++) {
        floor[j] = before + ((here - before) * (j - k + stride)) / stride;
      }
    }
    for (let k = bins - ((bins - 1) % stride); k < bins; k++) floor[k] = floor[k - 1] ?? 0;
    return floor;
  };
  const ofKernel = (k: number) => kernel.medians[k] ?? 0;
  return {
    push(power) {
      kernel.row(count % ROWS).set(power.subarray(0, bins));
      count += 1;
      if (count < ROWS) return count < 2 ? null : fill(ofFew);
      kernel.run();
      if (stride > 1) return fill(ofKernel);
      floor.set(kernel.medians);
      return floor;
    },
    flush: () => (count === 0 ? null : fill(ofFew)),
  };
}
