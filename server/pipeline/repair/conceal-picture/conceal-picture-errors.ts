import type { GreyPlane } from '../rebuild-pictures/rebuild-pictures-grid.ts';
import type { MotionKernel } from '../rebuild-pictures/rebuild-pictures-kernel.ts';
import { createMover } from './conceal-picture-move.ts';
import { carriedOn, motionOfRows } from './conceal-picture-vectors.ts';

/**
 * Mean square errors of the blocks in rows `[0, end)` of a picture, compared with another picture moved along the
 * motion between the two. Blocks with content that the other does not have get large errors.
 * @param size width and height of the blocks, pixels
 */
export function movedErrors(
  from: GreyPlane,
  to: GreyPlane,
  end: number,
  size: number,
  kernel: MotionKernel,
): Float64Array {
  const { width } = to;
  const mover = createMover(from.samples, carriedOn(motionOfRows(from, to, 0, end, kernel), 1, 1), 0);
  const across = Math.ceil(width / size);
  const sums = new Float64Array(across * Math.ceil(end / size));
  const counts = new Float64Array(sums.length);
  const row = new Uint8Array(width);
  const plane = { start: 0, width, height: to.height, across: 1, down: 1 };
  for (let y = 0; y < end; y += 1) {
    mover(plane, y, row);
    const firstOfRow = Math.floor(y / size) * across;
    for (let x = 0; x < width; x += 1) {
      const block = firstOfRow + Math.floor(x / size);
      sums[block] = (sums[block] ?? 0) + ((to.samples[y * width + x] ?? 0) - (row[x] ?? 0)) ** 2;
      counts[block] = (counts[block] ?? 0) + 1;
    }
  }
  return sums.map((sum, block) => sum / Math.max(1, counts[block] ?? 0));
}
