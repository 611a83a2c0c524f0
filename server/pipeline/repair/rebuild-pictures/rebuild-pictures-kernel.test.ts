import { describe, expect, it } from 'vitest';
import { createMotionKernel } from './rebuild-pictures-kernel.ts';

const WIDTH = 40;
const HEIGHT = 30;

function planes() {
  const kernel = createMotionKernel(2 * WIDTH * HEIGHT);
  const [a, b] = [1, 2].map((seed) => {
    const plane = kernel.take(WIDTH * HEIGHT);
    for (let at = 0; at < plane.length; at += 1) plane[at] = ((at + 1) * 7919 * seed) >> 4;
    return plane;
  });
  if (!a || !b) throw new Error('two planes are needed');
  return { kernel, a, b };
}

/** A value between pixels, by bilinear interpolation. */
function at(plane: Uint8Array, x: number, y: number): number {
  const [left, top] = [Math.floor(x), Math.floor(y)];
  const value = (column: number, row: number) => plane[row * WIDTH + column] ?? 0;
  const [dx, dy] = [x - left, y - top];
  const upper = value(left, top) * (1 - dx) + value(left + 1, top) * dx;
  const lower = value(left, top + 1) * (1 - dx) + value(left + 1, top + 1) * dx;
  return upper * (1 - dy) + lower * dy;
}

describe('createMotionKernel', () => {
  it.each([12, 16])('sums whole and quarter pixels of windows %i wide like a plain loop', (size) => {
    const { kernel, a, b } = planes();
    for (const [ax, ay, bx, by] of [
      [0, 0, 0, 0],
      [1, 3, 3, 1],
      [2, 0, 2, 0],
      [0, 1, 0, 3],
    ] as const) {
      let wanted = 0;
      for (let row = 0; row < size; row += 2) {
        for (let column = 0; column < size; column += 1) {
          const first = at(a, 5 + column + ax / 4, 4 + row + ay / 4);
          wanted += Math.abs(first - at(b, 9 + column + bx / 4, 7 + row + by / 4));
        }
      }
      const [fromA, fromB] = [a.byteOffset + 4 * WIDTH + 5, b.byteOffset + 7 * WIDTH + 9];
      expect(kernel.quarterSum(fromA, fromB, WIDTH, size, size / 2, { ax, ay, bx, by })).toBe(wanted);
      if (ax + ay + bx + by === 0) {
        expect(kernel.wholeSum(fromA, fromB, WIDTH, size, size / 2)).toBe(wanted);
      }
    }
  });
});
