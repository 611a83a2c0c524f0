import type { GreySize } from './grey-frame.ts';
import type { GreyKernel } from './grey-kernel.ts';

/** Side of the square windows that are followed (the kernel's), and the distance between their corners, pixels. */
export const FLOW_WINDOW = 16;
export const FLOW_STRIDE = 16;
/** Number of windows along a side of so many pixels. */
export const windowsAlong = (pixels: number): number => Math.floor((pixels - FLOW_WINDOW) / FLOW_STRIDE) + 1;
/** Windows whose mean change is below this do not move measurably (grey levels). */
const STILL = 0.7;
/** Smallest eigenvalue of the gradient tensor, per pixel, that makes a window followable (Shi and Tomasi 1994). */
const MIN_TEXTURE = 4;
/** Steps of the sub-pixel refinement. */
const REFINEMENTS = 3;

/** Displacement of each window, row by row. */
export interface Flow {
  readonly x: Float64Array;
  readonly y: Float64Array;
  /** 1 where the window was followed (standing still counts), 0 where not. */
  readonly valid: Uint8Array;
}

/**
 * Motion of the windows of a small grey picture from one picture to the next: the best whole-pixel place by
 * mean absolute difference, refined by the gradient equation (B. Lucas and T. Kanade, "An iterative image
 * registration technique", 1981).
 * @param before place of the first picture in the kernel
 * @param after place of the second
 */
export function blockFlow(kernel: GreyKernel, before: number, after: number): Flow {
  const { size } = kernel;
  const pictures = [kernel.picture(before), kernel.picture(after)] as const;
  const [columns, rows] = [windowsAlong(size.width), windowsAlong(size.height)];
  const flow: Flow = {
    x: new Float64Array(columns * rows),
    y: new Float64Array(columns * rows),
    valid: new Uint8Array(columns * rows),
  };
  let guessX = 0;
  let guessY = 0;
  for (let row = 0; row < rows; row += 1) {
    for (let column = 0; column < columns; column += 1) {
      const left = column * FLOW_STRIDE;
      const top = row * FLOW_STRIDE;
      const at = row * columns + column;
      const texture = toTensor(kernel.texture(before, left, top));
      if (texture.smallest < MIN_TEXTURE) continue;
      if (kernel.windowChange(before, after, left, top) < STILL * FLOW_WINDOW * FLOW_WINDOW) {
        flow.valid[at] = 1;
        continue;
      }
      const [wholeX, wholeY] = kernel.search(before, after, left, top, guessX, guessY);
      const refined = refine(...pictures, size, left, top, wholeX, wholeY, texture);
      if (!refined) continue;
      flow.x[at] = refined[0];
      flow.y[at] = refined[1];
      flow.valid[at] = 1;
      guessX = Math.round(refined[0]);
      guessY = Math.round(refined[1]);
    }
  }
  return flow;
}

interface Tensor {
  readonly xx: number;
  readonly xy: number;
  readonly yy: number;
  /** Smaller eigenvalue per pixel. */
  readonly smallest: number;
}

/** @param sums products of differences over two pixels, so four times those of the gradient */
function toTensor(sums: Int32Array): Tensor {
  const [xx, xy, yy] = [(sums[0] ?? 0) / 4, (sums[1] ?? 0) / 4, (sums[2] ?? 0) / 4];
  const half = (xx + yy) / 2;
  const root = Math.sqrt(((xx - yy) / 2) ** 2 + xy * xy);
  return { xx, xy, yy, smallest: (half - root) / (FLOW_WINDOW * FLOW_WINDOW) };
}

function refine(
  before: Uint8Array,
  after: Uint8Array,
  { width, height }: GreySize,
  left: number,
  top: number,
  startX: number,
  startY: number,
  { xx, xy, yy }: Tensor,
): [number, number] | null {
  const determinant = xx * yy - xy * xy;
  let dx = startX;
  let dy = startY;
  for (let round = 0; round < REFINEMENTS; round += 1) {
    const baseX = Math.floor(dx);
    const baseY = Math.floor(dy);
    const fx = dx - baseX;
    const fy = dy - baseY;
    let bx = 0;
    let by = 0;
    for (let y = Math.max(1, top); y < Math.min(height - 1, top + FLOW_WINDOW); y += 1) {
      const sy = y + baseY;
      if (sy < 0 || sy + 1 >= height) continue;
      for (let x = Math.max(1, left); x < Math.min(width - 1, left + FLOW_WINDOW); x += 1) {
        const sx = x + baseX;
        if (sx < 0 || sx + 1 >= width) continue;
        const at = y * width + x;
        const to = sy * width + sx;
        const upper = (after[to] ?? 0) * (1 - fx) + (after[to + 1] ?? 0) * fx;
        const lower = (after[to + width] ?? 0) * (1 - fx) + (after[to + width + 1] ?? 0) * fx;
        const change = upper * (1 - fy) + lower * fy - (before[at] ?? 0);
        bx += (((before[at + 1] ?? 0) - (before[at - 1] ?? 0)) / 2) * change;
        by += (((before[at + width] ?? 0) - (before[at - width] ?? 0)) / 2) * change;
      }
    }
    const stepX = -(yy * bx - xy * by) / determinant;
    const stepY = -(xx * by - xy * bx) / determinant;
    dx += Math.max(-1, Math.min(1, stepX));
    dy += Math.max(-1, Math.min(1, stepY));
  }
  if (Math.abs(dx - startX) > 1.5 || Math.abs(dy - startY) > 1.5) return null;
  return [dx, dy];
}
