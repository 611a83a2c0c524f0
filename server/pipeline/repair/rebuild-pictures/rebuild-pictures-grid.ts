import type { MotionKernel } from './rebuild-pictures-kernel.ts';

/** One plane of whole samples of at most eight bits, rows end to end. */
export interface GreyPlane {
  readonly width: number;
  readonly height: number;
  readonly samples: Uint8Array;
}

/**
 * Motion between two pictures, as seen half way between them. The content at `place` of the middle picture was at
 * `place - half` in the first and is at `place + half` in the second. One vector for the centre of each cell of `CELL`
 * x `CELL` pixels.
 */
export interface MotionField {
  readonly columns: number;
  readonly rows: number;
  /** Half displacements, pixels in quarter steps, row by row. */
  readonly halfX: Float32Array;
  readonly halfY: Float32Array;
}

/** Side of a cell of the field, pixels. */
export const CELL = 8;

/** Side of the blocks that are searched, pixels of their level. */
export const BLOCK = 8;

/** The two pictures at one size, in the memory of the kernel. */
export interface Level {
  readonly kernel: MotionKernel;
  readonly a: GreyPlane;
  readonly b: GreyPlane;
}

/** Half displacements of the blocks of one level, row by row. */
export interface Grid {
  readonly columns: number;
  readonly rows: number;
  readonly x: Float32Array;
  readonly y: Float32Array;
}

export function makeGrid(width: number, height: number, side: number): Grid {
  const columns = Math.ceil(width / side);
  const rows = Math.ceil(height / side);
  return { columns, rows, x: new Float32Array(columns * rows), y: new Float32Array(columns * rows) };
}

/** The nearest place inside a row or column of `length`. */
export function clamp(at: number, length: number): number {
  return at < 0 ? 0 : at >= length ? length - 1 : at;
}
