/** One plane of whole samples of at most eight bits, rows end to end. */
export interface GreyPlane {
  readonly width: number;
  readonly height: number;
  readonly samples: Uint8Array;
}

/**
 * Motion between two pictures as it is seen half way between them: the content at `place` of the middle picture
 * stood at `place - half` in the first and stands at `place + half` in the second. One vector for each cell of
 * `CELL` x `CELL` pixels, for its middle.
 */
export interface MotionField {
  readonly columns: number;
  readonly rows: number;
  /** Half displacements, pixels with quarters, row by row. */
  readonly halfX: Float32Array;
  readonly halfY: Float32Array;
}

/** Side of a cell of the field, pixels. */
export const CELL = 8;
/** Side of the blocks that are searched, pixels of their level, and of the window that is compared around them. */
const BLOCK = 8;
const MARGIN = 4;
/** Halvings stop before the shorter side falls below this. */
const COARSEST_SIDE = 40;
/** Half displacement searched in full on the coarsest level, pixels. */
const COARSE_REACH = 4;
/** Grey levels of mean difference that a vector must gain for each pixel that it leaves its neighbours by. */
const SMOOTHNESS = 0.6;
/** Steps of the local search around the best candidate on one level. */
const LOCAL_STEPS = 3;

interface Level {
  readonly a: GreyPlane;
  readonly b: GreyPlane;
}

interface Grid {
  readonly columns: number;
  readonly rows: number;
  readonly x: Float32Array;
  readonly y: Float32Array;
}

/**
 * Motion between two pictures of one shot, by bilateral block matching from coarse to fine: each block of the
 * middle picture gets the vector along which both pictures agree best, so that the new picture has neither holes
 * nor overlaps (Choi, Han and Ko, "New frame rate up-conversion using bi-directional motion estimation", 2000).
 * Vectors are proposed by the coarser level and by neighbours, which keeps the field smooth (de Haan et al.,
 * "True-motion estimation with 3-D recursive search block matching", 1993), then refined to quarter pixels.
 */
export function estimateMotion(a: GreyPlane, b: GreyPlane): MotionField {
  const levels: Level[] = [{ a, b }];
  for (let last = levels[0]; last && Math.min(last.a.width, last.a.height) >= 2 * COARSEST_SIDE;) {
    last = { a: halve(last.a), b: halve(last.b) };
    levels.push(last);
  }
  let grid: Grid | null = null;
  for (let level = levels.length - 1; level >= 1; level -= 1) {
    const planes = levels[level];
    if (planes) grid = searchLevel(planes, grid);
  }
  return refineCells({ a, b }, grid);
}

/** Half the size, each pixel the mean of four. */
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

function makeGrid(width: number, height: number, side: number): Grid {
  const columns = Math.ceil(width / side);
  const rows = Math.ceil(height / side);
  return { columns, rows, x: new Float32Array(columns * rows), y: new Float32Array(columns * rows) };
}

/** Whole-pixel half displacements of all blocks of a level. */
function searchLevel(level: Level, coarser: Grid | null): Grid {
  const grid = makeGrid(level.a.width, level.a.height, BLOCK);
  if (coarser) inherit(grid, coarser);
  const { columns, rows } = grid;
  // Forth and back, so that a good vector spreads in every direction.
  for (const backward of [false, true]) {
    for (let step = 0; step < columns * rows; step += 1) {
      const at = backward ? columns * rows - 1 - step : step;
      searchBlock(level, grid, at, coarser === null && !backward, backward ? 1 : -1);
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

function searchBlock(level: Level, grid: Grid, at: number, full: boolean, side: -1 | 1): void {
  const { columns, rows } = grid;
  const column = at % columns;
  const row = Math.floor(at / columns);
  const ownX = grid.x[at] ?? 0;
  const ownY = grid.y[at] ?? 0;
  const neighbours: number[] = [];
  const near = (dx: number, dy: number) => {
    const [c, r] = [column + dx, row + dy];
    if (c >= 0 && c < columns && r >= 0 && r < rows) neighbours.push(r * columns + c);
  };
  near(side, 0);
  near(0, side);
  near(-side, side);
  near(-side, 0);
  near(0, -side);
  const meanX = median3(grid.x, neighbours);
  const meanY = median3(grid.y, neighbours);
  let bestX = ownX;
  let bestY = ownY;
  let best = Infinity;
  const left = column * BLOCK - MARGIN;
  const top = row * BLOCK - MARGIN;
  const size = BLOCK + 2 * MARGIN;
  const weight = SMOOTHNESS * size * (size / 2);
  const attempt = (x: number, y: number) => {
    const stray = weight * Math.min(4, Math.abs(x - meanX) + Math.abs(y - meanY));
    if (stray >= best) return;
    const error = stray + windowError(level, left, top, size, x, y, best - stray);
    if (error < best) [best, bestX, bestY] = [error, x, y];
  };
  attempt(ownX, ownY);
  attempt(0, 0);
  for (const other of neighbours) attempt(grid.x[other] ?? 0, grid.y[other] ?? 0);
  if (full) {
    for (let y = -COARSE_REACH; y <= COARSE_REACH; y += 1) {
      for (let x = -COARSE_REACH; x <= COARSE_REACH; x += 1) attempt(x, y);
    }
  }
  for (let step = 0; step < LOCAL_STEPS; step += 1) {
    const [x, y] = [bestX, bestY];
    attempt(x - 1, y);
    attempt(x + 1, y);
    attempt(x, y - 1);
    attempt(x, y + 1);
    if (bestX === x && bestY === y) break;
  }
  grid.x[at] = bestX;
  grid.y[at] = bestY;
}

/** Median of the first three neighbours' values; their mean where there are fewer. */
function median3(values: Float32Array, [first, second, third]: readonly number[]): number {
  if (first === undefined) return 0;
  const a = values[first] ?? 0;
  if (second === undefined) return a;
  const b = values[second] ?? 0;
  if (third === undefined) return (a + b) / 2;
  const c = values[third] ?? 0;
  return Math.max(Math.min(a, b), Math.min(Math.max(a, b), c));
}

/** Sum of absolute differences along a whole-pixel half displacement, every second row; stops above `limit`. */
function windowError(
  { a, b }: Level,
  left: number,
  top: number,
  size: number,
  x: number,
  y: number,
  limit: number,
): number {
  const { width, height } = a;
  let sum = 0;
  const inside =
    left - Math.abs(x) >= 0 &&
    top - Math.abs(y) >= 0 &&
    left + size + Math.abs(x) <= width &&
    top + size + Math.abs(y) <= height;
  for (let row = 0; row < size && sum < limit; row += 2) {
    if (inside) {
      let inA = (top + row - y) * width + left - x;
      let inB = (top + row + y) * width + left + x;
      for (let column = 0; column < size; column += 1, inA += 1, inB += 1) {
        const difference = (a.samples[inA] ?? 0) - (b.samples[inB] ?? 0);
        sum += difference < 0 ? -difference : difference;
      }
      continue;
    }
    const rowA = clamp(top + row - y, height) * width;
    const rowB = clamp(top + row + y, height) * width;
    for (let column = 0; column < size; column += 1) {
      const difference =
        (a.samples[rowA + clamp(left + column - x, width)] ?? 0) -
        (b.samples[rowB + clamp(left + column + x, width)] ?? 0);
      sum += difference < 0 ? -difference : difference;
    }
  }
  return sum;
}

function clamp(at: number, length: number): number {
  return at < 0 ? 0 : at >= length ? length - 1 : at;
}

/** The finest level: sixteen-pixel blocks refined to quarter pixels, then each cell picks among its neighbours. */
function refineCells(level: Level, half: Grid | null): MotionField {
  const { width, height } = level.a;
  const cells = makeGrid(width, height, CELL);
  const blocks = makeGrid(width, height, 2 * BLOCK);
  if (half) {
    for (let row = 0; row < blocks.rows; row += 1) {
      for (let column = 0; column < blocks.columns; column += 1) {
        const from = Math.min(half.rows - 1, row) * half.columns + Math.min(half.columns - 1, column);
        refineBlock(level, blocks, row, column, 2 * (half.x[from] ?? 0), 2 * (half.y[from] ?? 0));
      }
    }
  }
  for (let row = 0; row < cells.rows; row += 1) {
    for (let column = 0; column < cells.columns; column += 1) pickForCell(level, cells, blocks, row, column);
  }
  return { columns: cells.columns, rows: cells.rows, halfX: cells.x, halfY: cells.y };
}

function refineBlock(
  level: Level,
  blocks: Grid,
  row: number,
  column: number,
  startX: number,
  startY: number,
): void {
  const size = 2 * BLOCK;
  const [left, top] = [column * size, row * size];
  let bestX = startX;
  let bestY = startY;
  let best = fineError(level, left, top, size, startX, startY, Infinity);
  for (const step of [1, 0.5, 0.25]) {
    const [x, y] = [bestX, bestY];
    for (const [dx, dy] of AROUND) {
      const error = fineError(level, left, top, size, x + dx * step, y + dy * step, best);
      if (error < best) [best, bestX, bestY] = [error, x + dx * step, y + dy * step];
    }
  }
  const at = row * blocks.columns + column;
  blocks.x[at] = bestX;
  blocks.y[at] = bestY;
}

const AROUND = [
  [-1, 0],
  [1, 0],
  [0, -1],
  [0, 1],
  [-1, -1],
  [1, -1],
  [-1, 1],
  [1, 1],
] as const;

function pickForCell(level: Level, cells: Grid, blocks: Grid, row: number, column: number): void {
  const at = row * cells.columns + column;
  const own = (row >> 1) * blocks.columns + (column >> 1);
  const beside = (column >> 1) + (column & 1 ? 1 : -1);
  const above = (row >> 1) + (row & 1 ? 1 : -1);
  const candidates = [own];
  if (beside >= 0 && beside < blocks.columns) candidates.push((row >> 1) * blocks.columns + beside);
  if (above >= 0 && above < blocks.rows) candidates.push(above * blocks.columns + (column >> 1));
  const [ownX, ownY] = [blocks.x[own] ?? 0, blocks.y[own] ?? 0];
  const differ = candidates.some((other) => blocks.x[other] !== ownX || blocks.y[other] !== ownY);
  let [bestX, bestY] = [ownX, ownY];
  if (differ) {
    let best = Infinity;
    for (const other of candidates) {
      const [x, y] = [blocks.x[other] ?? 0, blocks.y[other] ?? 0];
      const error = fineError(level, column * CELL - 2, row * CELL - 2, CELL + 4, x, y, best);
      // A neighbour's vector must be clearly better.
      if (error < (other === own ? best : 0.9 * best)) [best, bestX, bestY] = [error, x, y];
    }
  }
  cells.x[at] = bestX;
  cells.y[at] = bestY;
}

/** `windowError` for half displacements with fractions, by bilinear interpolation. */
function fineError(
  { a, b }: Level,
  left: number,
  top: number,
  size: number,
  x: number,
  y: number,
  limit: number,
): number {
  const { width, height } = a;
  const wholeX = Math.floor(x);
  const wholeY = Math.floor(y);
  const partX = x - wholeX;
  const partY = y - wholeY;
  // In the first picture the same fraction points the other way.
  const backX = partX === 0 ? -wholeX : -wholeX - 1;
  const backY = partY === 0 ? -wholeY : -wholeY - 1;
  const restX = partX === 0 ? 0 : 1 - partX;
  const restY = partY === 0 ? 0 : 1 - partY;
  let sum = 0;
  for (let row = 0; row < size && sum < limit; row += 2) {
    const a0 = clamp(top + row + backY, height) * width;
    const a1 = clamp(top + row + backY + 1, height) * width;
    const b0 = clamp(top + row + wholeY, height) * width;
    const b1 = clamp(top + row + wholeY + 1, height) * width;
    for (let column = 0; column < size; column += 1) {
      const xa = clamp(left + column + backX, width);
      const xa1 = xa + 1 < width ? xa + 1 : xa;
      const xb = clamp(left + column + wholeX, width);
      const xb1 = xb + 1 < width ? xb + 1 : xb;
      const topA = (a.samples[a0 + xa] ?? 0) * (1 - restX) + (a.samples[a0 + xa1] ?? 0) * restX;
      const lowA = (a.samples[a1 + xa] ?? 0) * (1 - restX) + (a.samples[a1 + xa1] ?? 0) * restX;
      const topB = (b.samples[b0 + xb] ?? 0) * (1 - partX) + (b.samples[b0 + xb1] ?? 0) * partX;
      const lowB = (b.samples[b1 + xb] ?? 0) * (1 - partX) + (b.samples[b1 + xb1] ?? 0) * partX;
      const difference = topA + (lowA - topA) * restY - topB - (lowB - topB) * partY;
      sum += difference < 0 ? -difference : difference;
    }
  }
  return sum;
}
