import { createMedianKernel, createSparseMedianKernel, type MedianKernel } from './median-kernel.ts';
import { selectRank } from './signal.ts';

/** Number of frames whose spectra make a background: its own and the one on each side. */
const ROWS = 3;

/**
 * Smooth background under a spectrum: for each bin, the median of the powers around it in frequency and time. Harmonics
 * of a voice are narrow within the neighbourhood and disappear; wind, which has no lines, stays (the idea of
 * median-filter separation, Fitzgerald 2010).
 */
export interface SpectralFloor<Numbers extends Float32Array | Float64Array = Float64Array> {
  /**
   * Background of the frame BEFORE the newest one (it needs a neighbour on both sides), or null for the
   * first frame. The array is reused.
   */
  push(power: Numbers): Numbers | null;
  /** Background of the last frame, when no more come; null when none came. */
  flush(): Numbers | null;
}

/**
 * @param bins lowest bins that are kept, more than twice `halfWidthBins`
 * @param halfWidthBins neighbours on each side in frequency
 */
export function createSpectralFloor(bins: number, halfWidthBins: number): SpectralFloor {
  const kernel = createMedianKernel({ rows: ROWS, length: bins, reach: halfWidthBins });
  return createFloor({ kernel, floor: new Float64Array(bins), halfWidthBins, stride: 1 });
}

/** The same in single precision; the median is taken at every second bin and interpolated between. */
export function createSparseSpectralFloor(bins: number, halfWidthBins: number): SpectralFloor<Float32Array> {
  const kernel = createSparseMedianKernel({ rows: ROWS, length: bins, reach: halfWidthBins });
  return createFloor({ kernel, floor: new Float32Array(bins), halfWidthBins, stride: 2 });
}

interface FloorParts<Numbers> {
  readonly kernel: MedianKernel<Numbers>;
  readonly floor: Numbers;
  readonly halfWidthBins: number;
  /** Bins from one median of the kernel to the next. */
  readonly stride: number;
}

function createFloor<Numbers extends Float32Array | Float64Array>({
  kernel,
  floor,
  halfWidthBins,
  stride,
}: FloorParts<Numbers>): SpectralFloor<Numbers> {
  const bins = floor.length;
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
  const ofKernel = (k: number) => kernel.medians[k / stride] ?? 0;
  return {
    push(power) {
      const row = kernel.row(count % ROWS);
      row.set(power.subarray(0, row.length));
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
