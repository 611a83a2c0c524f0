import type { GreySize } from './grey-frame.ts';
import type { GreyKernel } from './grey-kernel.ts';

/** A picture as two curves: the sums of each column and of each row, shifted to a mean of zero. */
export interface Projections {
  readonly columns: Float64Array;
  readonly rows: Float64Array;
}

/** Empty curves for pictures of one size, to be filled by `project`. */
export function emptyProjections({ width, height }: GreySize): Projections {
  return { columns: new Float64Array(width), rows: new Float64Array(height) };
}

/** The curves of the picture in one place of the kernel, written into `out`. */
export function project(kernel: GreyKernel, place: number, out: Projections): void {
  const { width, height } = kernel.size;
  const sums = kernel.project(place);
  let total = 0;
  for (let y = 0; y < height; y += 1) total += sums.rows[y] ?? 0;
  const mean = total / (width * height);
  for (let x = 0; x < width; x += 1) out.columns[x] = (sums.columns[x] ?? 0) / height - mean;
  for (let y = 0; y < height; y += 1) out.rows[y] = (sums.rows[y] ?? 0) / width - mean;
}

export interface Shift {
  /** Displacement of the content in pixels of the small picture, with fractions. */
  readonly pixels: number;
  /** Mean absolute error at the best place over the error at no shift: 0 (perfect) to 1 (no shift helps). */
  readonly residual: number;
}

/** Largest displacement looked for, as a share of the curve's length. */
const REACH = 0.12;

/**
 * Displacement between two curves by least mean absolute difference over the overlap, refined by a
 * parabola: integral projection matching, the cheap global motion of digital stabilisers
 * (K. Ratakonda, "Real-time digital video stabilization for multi-media applications", ISCAS 1998).
 * @returns how far `after` is moved against `before`
 */
export function curveShift(before: Float64Array, after: Float64Array): Shift {
  const reach = Math.max(2, Math.floor(before.length * REACH));
  const errors: number[] = [];
  for (let shift = -reach; shift <= reach; shift += 1) errors.push(meanError(before, after, shift));
  let best = reach;
  for (let i = 0; i < errors.length; i += 1) if ((errors[i] ?? 0) < (errors[best] ?? 0)) best = i;
  const here = errors[best] ?? 0;
  const left = errors[best - 1];
  const right = errors[best + 1];
  let fraction = 0;
  if (left !== undefined && right !== undefined) {
    const curvature = left - 2 * here + right;
    if (curvature > 1e-9) fraction = Math.max(-0.5, Math.min(0.5, (left - right) / (2 * curvature)));
  }
  const still = errors[reach] ?? 0;
  return { pixels: best - reach + fraction, residual: still > 1e-9 ? here / still : 1 };
}

function meanError(before: Float64Array, after: Float64Array, shift: number): number {
  const from = Math.max(0, shift);
  const to = Math.min(before.length, before.length + shift);
  let sum = 0;
  for (let i = from; i < to; i += 1) sum += Math.abs((after[i] ?? 0) - (before[i - shift] ?? 0));
  return sum / Math.max(1, to - from);
}
