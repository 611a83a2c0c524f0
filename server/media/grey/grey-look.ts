import { quantile } from '#server/media/statistics.ts';
import { BLOCK, type GreySize } from './grey-frame.ts';

/** What one small picture shows about focus, and about whether it was drawn or filmed, whatever its content. */
export interface PictureLook {
  /**
   * How gently even the steepest edges rise: the squared change over two pixels divided by four times that over one, in
   * the sharpest tenth of the blocks with an edge, rows and columns separately. 0.25 where each pixel stands alone, 0.5
   * at a step from one pixel to the next, 1 on a slope. Null where hardly anything is drawn.
   */
  readonly softness: number | null;
  /** Share of the blocks that have a single grey, 0 to 1: many in drawings and screens, few in filmed pictures. */
  readonly flatShare: number;
}

/** Mean squared change over two pixels from which a block has a noticeable edge, grey levels squared. */
const EDGE = 16;
/** Fewest blocks and directions with an edge from which focus can be judged. */
const LEAST_EDGES = 4;
/**
 * Share of the sharpest edges that decide. Fast motion is soft along its direction only, and the background may be out
 * of focus, so the sharpest edges show whether everything is.
 */
const SHARPEST = 0.1;
/** Largest difference of grey levels within a block of a single grey, from rounding. */
const ROUNDING = 1;

/**
 * Judges focus from an 8-bit picture, rows without padding. It uses existing edges only, so neither light nor content
 * decides. In 397 clips as uploaded the median was 0.36, and 0.62 in the softest hundredth. After a Gaussian blur of 1
 * % of the side of a square of equal area the median was 0.75, and 0.65 in the sharpest twentieth.
 */
export function measureLook(picture: Uint8Array, { width, height }: GreySize): PictureLook {
  const ratios: number[] = [];
  const least = EDGE * BLOCK * BLOCK;
  let blocks = 0;
  let flat = 0;
  for (let top = 0; top + BLOCK <= height; top += BLOCK) {
    for (let left = 0; left + BLOCK <= width; left += BLOCK) {
      const block = { picture, width, top, left };
      blocks += 1;
      if (isFlat(block)) {
        flat += 1;
        continue;
      }
      for (const sums of [
        squares(block, 1, left + BLOCK + 2 <= width),
        squares(block, width, top + BLOCK + 2 <= height),
      ])
        if (sums.two > least) ratios.push(sums.two / (4 * Math.max(1, sums.one)));
    }
  }
  return {
    softness: ratios.length < LEAST_EDGES ? null : quantile(ratios, SHARPEST),
    flatShare: flat / Math.max(1, blocks),
  };
}

interface Block {
  readonly picture: Uint8Array;
  readonly width: number;
  readonly top: number;
  readonly left: number;
}

function isFlat({ picture, width, top, left }: Block): boolean {
  let low = 255;
  let high = 0;
  for (let y = top; y < top + BLOCK; y += 1) {
    for (let at = y * width + left, end = at + BLOCK; at < end; at += 1) {
      const level = picture[at] ?? 0;
      if (level < low) low = level;
      if (level > high) high = level;
    }
    if (high - low > ROUNDING) return false;
  }
  return true;
}

/** Squared changes over one pixel and over two, in the direction of `step`; none for blocks at the far border. */
function squares(
  { picture, width, top, left }: Block,
  step: number,
  isInside: boolean,
): { one: number; two: number } {
  let one = 0;
  let two = 0;
  if (!isInside) return { one, two };
  for (let y = top; y < top + BLOCK; y += 1) {
    for (let at = y * width + left, end = at + BLOCK; at < end; at += 1) {
      const here = picture[at] ?? 0;
      const near = (picture[at + step] ?? 0) - here;
      const far = (picture[at + 2 * step] ?? 0) - here;
      one += near * near;
      two += far * far;
    }
  }
  return { one, two };
}
