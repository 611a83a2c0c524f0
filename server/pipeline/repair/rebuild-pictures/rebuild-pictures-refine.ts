import {
  BLOCK,
  CELL,
  clamp,
  makeGrid,
  type Grid,
  type Level,
  type MotionField,
} from './rebuild-pictures-grid.ts';

/**
 * The finest level of a motion search: blocks of twice `BLOCK` are refined to quarter pixels, then each cell chooses
 * among their vectors.
 * @param half whole-pixel half displacements at half the size; null if the pictures are too small for that
 */
export function refineCells(level: Level, half: Grid | null): MotionField {
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
  const left = column * size;
  const top = row * size;
  let bestX = startX;
  let bestY = startY;
  let best = fineError(level, left, top, size, startX, startY, Infinity);
  for (let step = 1; step >= FINEST_STEP; step /= 2) {
    // One axis after the other, the second from where the first one ended: reaches diagonals in half the steps.
    const x = bestX;
    for (let way = -step; way <= step; way += 2 * step) {
      const error = fineError(level, left, top, size, x + way, bestY, best);
      if (error >= best) continue;
      best = error;
      bestX = x + way;
    }
    const y = bestY;
    for (let way = -step; way <= step; way += 2 * step) {
      const error = fineError(level, left, top, size, bestX, y + way, best);
      if (error >= best) continue;
      best = error;
      bestY = y + way;
    }
  }
  const at = row * blocks.columns + column;
  blocks.x[at] = bestX;
  blocks.y[at] = bestY;
}

/** Vectors are refined to quarters of a pixel. */
const FINEST_STEP = 0.25;

function pickForCell(level: Level, cells: Grid, blocks: Grid, row: number, column: number): void {
  const at = row * cells.columns + column;
  const ownRow = row >> 1;
  const ownColumn = column >> 1;
  const own = ownRow * blocks.columns + ownColumn;
  const columnBeside = ownColumn + (column & 1 ? 1 : -1);
  const rowAbove = ownRow + (row & 1 ? 1 : -1);
  const hasBeside = columnBeside >= 0 && columnBeside < blocks.columns;
  const hasAbove = rowAbove >= 0 && rowAbove < blocks.rows;
  const beside = hasBeside ? ownRow * blocks.columns + columnBeside : own;
  const above = hasAbove ? rowAbove * blocks.columns + ownColumn : own;
  let best = own;
  if (!isAlike(blocks, own, beside) || !isAlike(blocks, own, above)) {
    const [left, top, size] = [column * CELL - 2, row * CELL - 2, CELL + 4];
    const errorOf = (block: number, limit: number) =>
      fineError(level, left, top, size, blocks.x[block] ?? 0, blocks.y[block] ?? 0, limit);
    let least = errorOf(own, Infinity);
    for (const other of [beside, above]) {
      if (other === own) continue;
      const error = errorOf(other, least);
      // A neighbour's vector must be clearly better.
      if (error >= 0.9 * least) continue;
      least = error;
      best = other;
    }
  }
  cells.x[at] = blocks.x[best] ?? 0;
  cells.y[at] = blocks.y[best] ?? 0;
}

const isAlike = ({ x, y }: Grid, one: number, other: number): boolean =>
  x[one] === x[other] && y[one] === y[other];

/**
 * Sum of absolute differences along a fractional half displacement, by bilinear interpolation, every second row; stops
 * above `limit`.
 */
function fineError(
  { kernel, a, b }: Level,
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
  // In the first picture, the same fraction points the other way.
  const backX = partX === 0 ? -wholeX : -wholeX - 1;
  const backY = partY === 0 ? -wholeY : -wholeY - 1;
  const restX = partX === 0 ? 0 : 1 - partX;
  const restY = partY === 0 ? 0 : 1 - partY;
  // Windows beyond the edge are moved inside in both pictures; one more pixel is read than is used.
  const leftA = clamp(left + backX, width - size);
  const leftB = clamp(left + wholeX, width - size);
  const topA = top + backY;
  const topB = top + wholeY;
  const inA = a.samples;
  const inB = b.samples;
  const lastRow = height - size;
  if (topA >= 0 && topB >= 0 && topA <= lastRow && topB <= lastRow) {
    const fromA = inA.byteOffset + topA * width + leftA;
    const fromB = inB.byteOffset + topB * width + leftB;
    if (partX === 0 && partY === 0) return kernel.wholeSum(fromA, fromB, width, size, size / 2);
    if (leftA + size < width && leftB + size < width) {
      const places = { ax: 4 * restX, ay: 4 * restY, bx: 4 * partX, by: 4 * partY };
      return kernel.quarterSum(fromA, fromB, width, size, size / 2, places);
    }
  }
  const lastX = width - 1;
  let sum = 0;
  for (let row = 0; row < size && sum < limit; row += 2) {
    const a0 = clamp(topA + row, height) * width;
    const a1 = clamp(topA + row + 1, height) * width;
    const b0 = clamp(topB + row, height) * width;
    const b1 = clamp(topB + row + 1, height) * width;
    let valueA = between(inA, a0, a1, leftA, restY);
    let valueB = between(inB, b0, b1, leftB, partY);
    for (let column = 1; column <= size; column += 1) {
      const nextA = between(inA, a0, a1, Math.min(lastX, leftA + column), restY);
      const nextB = between(inB, b0, b1, Math.min(lastX, leftB + column), partY);
      const difference = valueA + (nextA - valueA) * restX - valueB - (nextB - valueB) * partX;
      sum += difference < 0 ? -difference : difference;
      valueA = nextA;
      valueB = nextB;
    }
  }
  return sum;
}

/** A value between two rows. */
function between(samples: Uint8Array, upper: number, lower: number, x: number, share: number): number {
  const value = samples[upper + x] ?? 0;
  return value + ((samples[lower + x] ?? 0) - value) * share;
}
