import type { GreyKernel } from './grey-kernel.ts';

/** Side of the windows that are searched for (the kernel's), and the distance between their corners, pixels. */
const WINDOW = 16;
const STRIDE = 8;
/** Smallest eigenvalue of the gradient tensor, per pixel, from which a window has enough texture to be located. */
const MIN_TEXTURE = 4;
/** Mean change (grey levels) below which a window stands still. */
const STILL = 3;
/** Fewer windows than this say nothing. */
const MIN_WINDOWS = 6;
/** Windows this near to a window that do not touch it, in strides... */
const NEAR = 2;
/** ...confirm its displacement if theirs differs by no more than `ALIKE` pixels; `CONFIRMED` of them must. */
const ALIKE = 2;
const CONFIRMED = 3;

/**
 * Share (0 to 1) of the textured windows of a picture that are found in the next one with the same displacement as the
 * windows around them. Within one shot they are, however far it moved; across a cut, each window turns up anywhere.
 * @param before place of the first picture in the kernel
 * @param after place of the second
 * @returns null where too few windows can be judged
 */
export function jumpCoherence(kernel: GreyKernel, before: number, after: number): number | null {
  const { width, height } = kernel.size;
  const columns = Math.floor((width - WINDOW) / STRIDE) + 1;
  const rows = Math.floor((height - WINDOW) / STRIDE) + 1;
  const found: (readonly [number, number] | null)[] = [];
  for (let row = 0; row < rows; row += 1) {
    for (let column = 0; column < columns; column += 1) {
      const [left, top] = [column * STRIDE, row * STRIDE];
      const tells =
        isTextured(kernel.texture(before, left, top)) &&
        kernel.windowChange(before, after, left, top) >= STILL * WINDOW * WINDOW;
      found.push(tells ? kernel.searchFar(before, after, left, top) : null);
    }
  }
  const known = found.filter((place) => place !== null).length;
  if (known < MIN_WINDOWS) return null;
  const confirmed = found.filter((place, at) => {
    if (!place) return false;
    const [row, column] = [Math.floor(at / columns), at % columns];
    let alike = 0;
    for (let r = Math.max(0, row - NEAR); r <= Math.min(rows - 1, row + NEAR); r += 1) {
      for (let c = Math.max(0, column - NEAR); c <= Math.min(columns - 1, column + NEAR); c += 1) {
        const other = found[r * columns + c];
        if (!other || Math.max(Math.abs(r - row), Math.abs(c - column)) < NEAR) continue;
        if (Math.hypot(other[0] - place[0], other[1] - place[1]) <= ALIKE) alike += 1;
      }
    }
    return alike >= CONFIRMED;
  });
  return confirmed.length / known;
}

/** @param sums products of differences over two pixels, so four times those of the gradient */
function isTextured(sums: Int32Array): boolean {
  const [xx, xy, yy] = [(sums[0] ?? 0) / 4, (sums[1] ?? 0) / 4, (sums[2] ?? 0) / 4];
  const smallest = (xx + yy) / 2 - Math.sqrt(((xx - yy) / 2) ** 2 + xy * xy);
  return smallest >= MIN_TEXTURE * WINDOW * WINDOW;
}
