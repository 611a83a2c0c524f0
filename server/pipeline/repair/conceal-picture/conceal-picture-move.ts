import { CELL } from '../rebuild-pictures/rebuild-pictures-grid.ts';
import type { Plane, Samples } from '../rebuild-pictures/rebuild-pictures-raw.ts';
import type { Displacements } from './conceal-picture-vectors.ts';

/** Writes row `y` of a plane into the first samples of `out`. */
export type RowMaker = (plane: Plane, y: number, out: Samples) => void;

/** Copies rows of a picture without motion. */
export const asItIs =
  (picture: Samples): RowMaker =>
  ({ start, width }, y, out) =>
    out.set(picture.subarray(start + y * width, start + (y + 1) * width));

/**
 * Makes rows of a picture whose content has moved. Each sample is taken from where its vector points, with bilinear
 * interpolation between samples and between the vectors of neighbouring cells.
 * @param top luma row at which the first row of cells begins
 */
export function createMover(picture: Samples, vectors: Displacements, top: number): RowMaker {
  const { columns, rows } = vectors;
  const rowX = new Float64Array(columns + 1);
  const rowY = new Float64Array(columns + 1);
  return ({ start, width, height, across, down }, y, out) => {
    const cellY = Math.max(0, Math.min(rows - 1, ((y + 0.5) * down - top) / CELL - 0.5));
    const upper = Math.floor(cellY) * columns;
    const lower = Math.min(rows - 1, Math.floor(cellY) + 1) * columns;
    const share = cellY - Math.floor(cellY);
    for (let column = 0; column <= columns; column += 1) {
      const own = Math.min(columns - 1, column);
      const [u, l] = [upper + own, lower + own];
      rowX[column] = ((vectors.x[u] ?? 0) * (1 - share) + (vectors.x[l] ?? 0) * share) / across;
      rowY[column] = ((vectors.y[u] ?? 0) * (1 - share) + (vectors.y[l] ?? 0) * share) / down;
    }
    const cellsPerSample = across / CELL;
    for (let x = 0; x < width; x += 1) {
      const cellX = Math.max(0, Math.min(columns - 1, (x + 0.5) * cellsPerSample - 0.5));
      const left = Math.floor(cellX);
      const between = cellX - left;
      const awayX = (rowX[left] ?? 0) * (1 - between) + (rowX[left + 1] ?? 0) * between;
      const awayY = (rowY[left] ?? 0) * (1 - between) + (rowY[left + 1] ?? 0) * between;
      const fromX = Math.max(0, Math.min(width - 1, x - awayX));
      const fromY = Math.max(0, Math.min(height - 1, y - awayY));
      const [wholeX, wholeY] = [Math.floor(fromX), Math.floor(fromY)];
      const [partX, partY] = [fromX - wholeX, fromY - wholeY];
      const at = start + wholeY * width + wholeX;
      const right = wholeX + 1 < width ? 1 : 0;
      const below = wholeY + 1 < height ? width : 0;
      const above = (picture[at] ?? 0) * (1 - partX) + (picture[at + right] ?? 0) * partX;
      const under = (picture[at + below] ?? 0) * (1 - partX) + (picture[at + below + right] ?? 0) * partX;
      out[x] = above * (1 - partY) + under * partY + 0.5;
    }
  };
}
