import { median } from '#server/media/statistics.ts';
import { estimateMotion } from '../rebuild-pictures/rebuild-pictures-field.ts';
import { CELL, type GreyPlane, type MotionField } from '../rebuild-pictures/rebuild-pictures-grid.ts';
import type { MotionKernel } from '../rebuild-pictures/rebuild-pictures-kernel.ts';

/** Where the content of each cell of a picture came from: this far to the left and above in the picture before. */
export interface Displacements {
  readonly columns: number;
  readonly rows: number;
  /** Fractional pixels, row by row, for each cell of `CELL` x `CELL` pixels. */
  readonly x: Float32Array;
  readonly y: Float32Array;
}

/** Fixed-point iterations that find the vector whose content arrives at a place. */
const ARRIVAL_STEPS = 3;

/**
 * Displacements from the picture before to a damaged one if the motion of a pair of pictures continues.
 * @param pair motion as seen half way between the two
 * @param away distance of the damaged picture after that point, in halves of the pair's distance; negative before it
 * @param times distance between the damaged picture and the one before, as a multiple of the pair's distance
 */
export function carriedOn(pair: MotionField, away: number, times: number): Displacements {
  const { columns, rows, halfX, halfY } = pair;
  const x = new Float32Array(columns * rows);
  const y = new Float32Array(columns * rows);
  for (let row = 0; row < rows; row += 1) {
    for (let column = 0; column < columns; column += 1) {
      const at = row * columns + column;
      let from = at;
      for (let step = 0; step < ARRIVAL_STEPS; step += 1) {
        const besideX = column - Math.round((away * (halfX[from] ?? 0)) / CELL);
        const besideY = row - Math.round((away * (halfY[from] ?? 0)) / CELL);
        from = inside(besideY, rows) * columns + inside(besideX, columns);
      }
      x[at] = 2 * times * (halfX[from] ?? 0);
      y[at] = 2 * times * (halfY[from] ?? 0);
    }
  }
  return { columns, rows, x, y };
}

const inside = (at: number, count: number) => Math.max(0, Math.min(count - 1, at));

/** As many cells, none of which moved. */
export function atRest({ columns, rows }: Displacements): Displacements {
  return { columns, rows, x: new Float32Array(columns * rows), y: new Float32Array(columns * rows) };
}

/** The mean of two displacements, cell by cell. */
export function meanOfBoth(a: Displacements, b: Displacements): Displacements {
  const mean = (one: Float32Array, other: Float32Array) =>
    one.map((value, at) => (value + (other[at] ?? 0)) / 2);
  return { ...a, x: mean(a.x, b.x), y: mean(a.y, b.y) };
}

/** Least number of cells for telling camera shake from a moving object. */
const FEWEST_CELLS = 40;

/**
 * Moves an estimate by the median of its error against known displacements, because camera shake moves the whole
 * picture.
 * @param known as the picture itself shows them in some rows of cells; the outermost cells are left out
 * @param firstRow row of the estimate that matches the first of these
 */
export function withShake(guess: Displacements, known: Displacements, firstRow: number): Displacements {
  const moved = (own: Float32Array, told: Float32Array) => {
    const missed: number[] = [];
    for (let row = 1; row < known.rows - 1; row += 1) {
      for (let column = 1; column < guess.columns - 1; column += 1) {
        const at = row * guess.columns + column;
        missed.push((told[at] ?? 0) - (own[at + firstRow * guess.columns] ?? 0));
      }
    }
    if (missed.length < FEWEST_CELLS) return own;
    const shake = median(missed);
    return own.map((value) => value + shake);
  };
  return { ...guess, x: moved(guess.x, known.x), y: moved(guess.y, known.y) };
}

/** Motion between rows `[top, end)` of two planes. */
export function motionOfRows(
  a: GreyPlane,
  b: GreyPlane,
  top: number,
  end: number,
  kernel: MotionKernel,
): MotionField {
  const rows = ({ width, samples }: GreyPlane): GreyPlane => ({
    width,
    height: end - top,
    samples: samples.subarray(top * width, end * width),
  });
  return estimateMotion(rows(a), rows(b), kernel);
}
