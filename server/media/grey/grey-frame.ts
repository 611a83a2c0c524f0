/**
 * Pure maths on what was counted in one or two small grey pictures (8 bits, rows without padding; the sums over
 * their pixels are made by `grey-kernel.ts`). Used on the 160-pixel stream of the analysis, where the area average of
 * the scaler has already removed most sensor noise.
 */

/** Side of the square blocks that local differences are averaged over, pixels of the small picture. */
export const BLOCK = 8;

export interface GreySize {
  readonly width: number;
  readonly height: number;
}

/** Pixels of the small picture: as many as 160 x 88 has, whatever the shape of the clip. */
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

/** Filter that makes the small picture. Everything that compares such pictures must use the same one. */
export const smallGrey = ({ width, height }: GreySize): string =>
  `scale=${width}:${height}:flags=area,format=gray`;

/** Share of the blocks that count as "the moving part": the strongest twentieth, at least three. */
const STRONGEST_SHARE = 0.05;

/**
 * Mean of the strongest twentieth of the values: a high percentile that does not depend on a single block.
 * @param values whole numbers, not negative
 */
export function strongestMean(values: Int32Array): number {
  const count = Math.min(values.length, Math.max(3, Math.round(values.length * STRONGEST_SHARE)));
  if (count === 0) return 0;
  // The strongest so far, ascending. Few values are larger than the first.
  const strongest = new Int32Array(count);
  let sum = 0;
  for (let i = 0; i < values.length; i += 1) {
    const value = values[i] ?? 0;
    if (value <= (strongest[0] ?? 0)) continue;
    sum += value - (strongest[0] ?? 0);
    let at = 0;
    for (; at + 1 < count && (strongest[at + 1] ?? 0) < value; at += 1)
      strongest[at] = strongest[at + 1] ?? 0;
    strongest[at] = value;
  }
  return sum / count;
}

/** What the histogram of a picture's grey levels shows. */
export interface Levels {
  readonly mean: number;
  /** Lowest level at or below which a tenth (p10) and nine tenths (p90) of the pixels lie. */
  readonly p10: number;
  readonly p90: number;
  /** Mean of the brightest tenth of the pixels. */
  readonly brightest: number;
}

/**
 * @param counts of the 256 levels
 * @param pixels their sum, above 0
 */
export function measureLevels(counts: Uint32Array, pixels: number): Levels {
  const tenth = 0.1 * pixels;
  let total = 0;
  let bright = 0;
  let seen = 0;
  let p10 = -1;
  let p90 = -1;
  for (let level = 0; level < counts.length; level += 1) {
    const count = counts[level] ?? 0;
    total += count * level;
    const left = pixels - seen;
    seen += count;
    bright += level * (Math.min(tenth, left) - Math.min(tenth, pixels - seen));
    if (p10 < 0 && seen >= tenth) p10 = level;
    if (p90 < 0 && seen >= 0.9 * pixels) p90 = level;
  }
  return { mean: total / pixels, p10, p90, brightest: bright / tenth };
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
