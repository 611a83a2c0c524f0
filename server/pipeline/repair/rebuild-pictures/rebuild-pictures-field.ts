import {
  BLOCK,
  clamp,
  makeGrid,
  type Grid,
  type GreyPlane,
  type Level,
  type MotionField,
} from './rebuild-pictures-grid.ts';
import { createMotionKernel, type MotionKernel } from './rebuild-pictures-kernel.ts';
import { refineCells } from './rebuild-pictures-refine.ts';

/** Margin around a block that is compared as well, pixels of its level. */
const MARGIN = 4;
/** Halving stops before the shorter side falls below this, pixels. */
const COARSEST_SIDE = 40;
/** Half displacement that is searched exhaustively on the coarsest level, pixels. */
const COARSE_REACH = 4;
/** Mean difference (grey levels) that a vector must gain for each pixel that it deviates from its neighbours. */
const SMOOTHNESS = 0.6;
/** Steps of the local search around the best candidate on one level. */
const LOCAL_STEPS = 3;

/**
 * Motion between two pictures of one shot, by bilateral block matching from coarse to fine. Each block of the middle
 * picture gets the vector along which both pictures agree best, so that the new picture has neither holes nor overlaps
 * (Choi, Han and Ko, "New frame rate up-conversion using bi-directional motion estimation", 2000). Vectors are proposed
 * by the coarser level and by neighbours, which keeps the field smooth (de Haan et al., "True-motion estimation with
 * 3-D recursive search block matching", 1993), then refined to quarter pixels.
 */
export function estimateMotion(a: GreyPlane, b: GreyPlane, kernel = createSearchKernel(a)): MotionField {
  kernel.clear();
  const held = (plane: GreyPlane): GreyPlane => {
    const samples = kernel.take(plane.samples.length);
    samples.set(plane.samples);
    return { ...plane, samples };
  };
  const finest: Level = { kernel, a: held(a), b: held(b) };
  const levels: Level[] = [finest];
  for (let last = levels[0]; last && Math.min(last.a.width, last.a.height) >= 2 * COARSEST_SIDE;) {
    last = { kernel, a: held(halve(last.a)), b: held(halve(last.b)) };
    levels.push(last);
  }
  let grid: Grid | null = null;
  for (let level = levels.length - 1; level >= 1; level -= 1) {
    const planes = levels[level];
    if (planes) grid = searchLevel(planes, grid);
  }
  return refineCells(finest, grid);
}

/** A kernel with room for two planes and all their halvings, which add a third. */
export function createSearchKernel({ width, height }: Pick<GreyPlane, 'width' | 'height'>): MotionKernel {
  return createMotionKernel(Math.ceil((8 / 3) * width * height));
}

/** A plane at half the size; each pixel is the mean of four. */
export function halve(plane: GreyPlane): GreyPlane {
  const width = plane.width >> 1;
  const height = plane.height >> 1;
  const samples = new Uint8Array(width * height);
  const { samples: from } = plane;
  for (let y = 0; y < height; y += 1) {
    let at = 2 * y * plane.width;
    for (let x = 0; x < width; x += 1, at += 2) {
      const above = (from[at] ?? 0) + (from[at + 1] ?? 0);
      const below = (from[at + plane.width] ?? 0) + (from[at + plane.width + 1] ?? 0);
      samples[y * width + x] = (above + below + 2) >> 2;
    }
  }
  return { width, height, samples };
}

/** Whole-pixel half displacements of all blocks of a level. */
function searchLevel(level: Level, coarser: Grid | null): Grid {
  const grid = makeGrid(level.a.width, level.a.height, BLOCK);
  if (coarser) inherit(grid, coarser);
  const { columns, rows } = grid;
  const search = createBlockSearch(level, grid);
  // Forwards and backwards, so that a good vector spreads in every direction.
  for (const backward of [false, true]) {
    for (let step = 0; step < columns * rows; step += 1) {
      const at = backward ? columns * rows - 1 - step : step;
      search(at, coarser === null && !backward, backward ? 1 : -1);
    }
  }
  return grid;
}

/** Vectors of the coarser level, doubled, at the places of this one. */
function inherit(grid: Grid, coarser: Grid): void {
  for (let row = 0; row < grid.rows; row += 1) {
    for (let column = 0; column < grid.columns; column += 1) {
      const from =
        Math.min(coarser.rows - 1, row >> 1) * coarser.columns + Math.min(coarser.columns - 1, column >> 1);
      grid.x[row * grid.columns + column] = 2 * (coarser.x[from] ?? 0);
      grid.y[row * grid.columns + column] = 2 * (coarser.y[from] ?? 0);
    }
  }
}

/** Most neighbours whose vectors are tried; fewer at the edges. */
const MOST_NEIGHBOURS = 5;

/**
 * Finds the vectors of the blocks of a level one after the other. Working memory is reused from block to block: a
 * picture has thousands of them, and allocating it for each took a fifth of the search.
 */
function createBlockSearch(level: Level, grid: Grid) {
  const { columns, rows } = grid;
  const size = BLOCK + 2 * MARGIN;
  const weight = SMOOTHNESS * size * (size / 2);
  const neighbours = new Int32Array(MOST_NEIGHBOURS);
  let count = 0;
  let [column, row, meanX, meanY] = [0, 0, 0, 0];
  let [best, bestX, bestY] = [0, 0, 0];
  const near = (dx: number, dy: number) => {
    const c = column + dx;
    const r = row + dy;
    if (c >= 0 && c < columns && r >= 0 && r < rows) neighbours[count++] = r * columns + c;
  };
  const attempt = (x: number, y: number) => {
    const stray = weight * Math.min(4, Math.abs(x - meanX) + Math.abs(y - meanY));
    if (stray >= best) return;
    const left = column * BLOCK - MARGIN;
    const top = row * BLOCK - MARGIN;
    const error = stray + windowError(level, left, top, size, x, y, best - stray);
    if (error >= best) return;
    best = error;
    bestX = x;
    bestY = y;
  };
  return (at: number, full: boolean, side: -1 | 1): void => {
    column = at % columns;
    row = Math.floor(at / columns);
    count = 0;
    near(side, 0);
    near(0, side);
    near(-side, side);
    near(-side, 0);
    near(0, -side);
    meanX = median3(grid.x, neighbours, count);
    meanY = median3(grid.y, neighbours, count);
    bestX = grid.x[at] ?? 0;
    bestY = grid.y[at] ?? 0;
    best = Infinity;
    attempt(bestX, bestY);
    attempt(0, 0);
    for (let i = 0; i < count; i += 1) {
      const other = neighbours[i] ?? 0;
      attempt(grid.x[other] ?? 0, grid.y[other] ?? 0);
    }
    if (full) {
      for (let y = -COARSE_REACH; y <= COARSE_REACH; y += 1) {
        for (let x = -COARSE_REACH; x <= COARSE_REACH; x += 1) attempt(x, y);
      }
    }
    for (let step = 0; step < LOCAL_STEPS; step += 1) {
      const x = bestX;
      const y = bestY;
      attempt(x - 1, y);
      attempt(x + 1, y);
      attempt(x, y - 1);
      attempt(x, y + 1);
      if (bestX === x && bestY === y) break;
    }
    grid.x[at] = bestX;
    grid.y[at] = bestY;
  };
}

/** Median of the first three neighbours' values; their mean if there are fewer. */
function median3(values: Float32Array, neighbours: Int32Array, count: number): number {
  if (count === 0) return 0;
  const a = values[neighbours[0] ?? 0] ?? 0;
  if (count === 1) return a;
  const b = values[neighbours[1] ?? 0] ?? 0;
  if (count === 2) return (a + b) / 2;
  const c = values[neighbours[2] ?? 0] ?? 0;
  return Math.max(Math.min(a, b), Math.min(Math.max(a, b), c));
}

/** Sum of absolute differences along a whole-pixel half displacement, every second row; stops above `limit`. */
function windowError(
  { kernel, a, b }: Level,
  left: number,
  top: number,
  size: number,
  x: number,
  y: number,
  limit: number,
): number {
  const { width, height } = a;
  const inA = a.samples;
  const inB = b.samples;
  const inside =
    left - Math.abs(x) >= 0 &&
    top - Math.abs(y) >= 0 &&
    left + size + Math.abs(x) <= width &&
    top + size + Math.abs(y) <= height;
  if (inside) {
    const fromA = inA.byteOffset + (top - y) * width + left - x;
    const fromB = inB.byteOffset + (top + y) * width + left + x;
    return kernel.wholeSum(fromA, fromB, width, size, size / 2);
  }
  let sum = 0;
  for (let row = 0; row < size && sum < limit; row += 2) {
    const rowA = clamp(top + row - y, height) * width;
    const rowB = clamp(top + row + y, height) * width;
    for (let column = 0; column < size; column += 1) {
      const difference =
        (inA[rowA + clamp(left + column - x, width)] ?? 0) -
        (inB[rowB + clamp(left + column + x, width)] ?? 0);
      sum += difference < 0 ? -difference : difference;
    }
  }
  return sum;
}
