/**
 * Pure maths on one or two small grey pictures (8 bits, rows without padding). Used on the 160-pixel
 * stream of the analysis, where the area average of the scaler has already removed most sensor noise.
 */

/** Side of the square blocks that local differences are averaged over, pixels of the small picture. */
export const BLOCK = 8;

export interface GreySize {
  readonly width: number;
  readonly height: number;
}

/** Pixels of the small picture: as many as 160 x 88, whatever the shape of the clip. */
const SMALL_AREA = 160 * 88;

/**
 * Size of the small picture for a clip: aspect kept within half a block, both sides multiples of `BLOCK`.
 * @param width coded width in pixels
 * @param height coded height in pixels
 */
export function smallSize(width: number, height: number): GreySize {
  const scale = Math.sqrt(SMALL_AREA / (width * height));
  const side = (pixels: number) => Math.max(BLOCK * 2, Math.round((pixels * scale) / BLOCK) * BLOCK);
  return { width: side(width), height: side(height) };
}

/**
 * Sums of absolute differences of two pictures, one per block, row by row; written into `out`.
 * @param rowStep 2 looks at every second row only, at half the cost
 */
export function blockDifferences(
  a: Uint8Array,
  b: Uint8Array,
  { width, height }: GreySize,
  out: Float64Array,
  rowStep: 1 | 2 = 1,
): void {
  const columns = width / BLOCK;
  out.fill(0);
  for (let y = 0; y < height; y += rowStep) {
    const blockRow = ((y / BLOCK) | 0) * columns;
    let at = y * width;
    for (let column = 0; column < columns; column += 1) {
      let sum = 0;
      for (const end = at + BLOCK; at < end; at += 1) {
        const difference = (a[at] ?? 0) - (b[at] ?? 0);
        sum += difference < 0 ? -difference : difference;
      }
      out[blockRow + column] = (out[blockRow + column] ?? 0) + sum;
    }
  }
}

/** Share of the blocks that count as "the moving part": the strongest twentieth, at least three. */
const STRONGEST_SHARE = 0.05;

/** Mean of the strongest twentieth of the values: a high percentile that does not hang on one block. */
export function strongestMean(values: Float64Array): number {
  const sorted = Float64Array.from(values).sort();
  const count = Math.min(sorted.length, Math.max(3, Math.round(sorted.length * STRONGEST_SHARE)));
  let sum = 0;
  for (let i = sorted.length - count; i < sorted.length; i += 1) sum += sorted[i] ?? 0;
  return count > 0 ? sum / count : 0;
}

/** Counts of the 256 grey levels, written into `out`. */
export function histogram(picture: Uint8Array, out: Uint32Array): void {
  out.fill(0);
  for (let i = 0; i < picture.length; i += 1) {
    const level = picture[i] ?? 0;
    out[level] = (out[level] ?? 0) + 1;
  }
}

/** Grey level below which `share` (0 to 1) of the pixels lie. */
export function percentileLevel(counts: Uint32Array, share: number): number {
  let total = 0;
  for (const count of counts) total += count;
  let seen = 0;
  for (let level = 0; level < counts.length; level += 1) {
    seen += counts[level] ?? 0;
    if (seen >= share * total) return level;
  }
  return counts.length - 1;
}

/**
 * Distance of two histograms, 0 (equal) to 1 (disjoint): the earth mover's distance on the cumulative
 * counts, so that a slight change of brightness is a small distance (Rubner et al., 2000), in units of
 * half the grey scale and cut off at 1.
 */
export function histogramDistance(a: Uint32Array, b: Uint32Array, pixels: number): number {
  let difference = 0;
  let work = 0;
  for (let level = 0; level < a.length; level += 1) {
    difference += (a[level] ?? 0) - (b[level] ?? 0);
    work += Math.abs(difference);
  }
  return Math.min(1, work / pixels / 128);
}

/** Mean squared gradient of neighbouring pixels, grey levels squared: falls when a picture blurs. */
export function gradientEnergy(picture: Uint8Array, { width, height }: GreySize): number {
  let sum = 0;
  for (let y = 0; y + 1 < height; y += 1) {
    const row = y * width;
    for (let x = 0; x + 1 < width; x += 1) {
      const here = picture[row + x] ?? 0;
      const right = (picture[row + x + 1] ?? 0) - here;
      const below = (picture[row + x + width] ?? 0) - here;
      sum += right * right + below * below;
    }
  }
  return sum / ((width - 1) * (height - 1));
}
