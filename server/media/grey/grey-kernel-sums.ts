import {
  block,
  f64,
  i16x8,
  i32,
  i32x4,
  repeatWhile,
  u8x16,
  v128,
  type FunctionSource,
  type Code,
} from '../wasm/assemble.ts';
import { absoluteDifference, addNeighbours, advance, lanesSum, NOT_LAST_LANE } from '../wasm/vectors.ts';

/** Side of the blocks, pixels: half a vector of bytes. */
const BLOCK = 8;

/**
 * (a, b, width, blockRows, rowStep, out): sums of absolute differences of every block, 32 bits each. Two blocks are
 * measured at once. Behind the last block of an odd row one more value is written, which the next row overwrites.
 */
const differences: FunctionSource = {
  name: 'differences',
  result: null,
  body: (scope) => {
    const a = scope.param('i32');
    const b = scope.param('i32');
    const width = scope.param('i32');
    const rows = scope.param('i32');
    const step = scope.param('i32');
    const out = scope.param('i32');
    const x = scope.local('i32');
    const row = scope.local('i32');
    const at = scope.local('i32');
    const stride = scope.local('i32');
    const toB = scope.local('i32');
    const toOut = scope.local('i32');
    const va = scope.local('v128');
    const vb = scope.local('v128');
    const sum = scope.local('v128');
    const scratch = scope.local('v128');
    const one = block(
      va.set(v128.load(at.get)),
      vb.set(v128.load(i32.add(at.get, toB.get))),
      sum.set(i16x8.add(sum.get, u8x16.addPairs(absoluteDifference(va, vb)))),
      advance(at, stride.get),
    );
    return block(
      stride.set(i32.mul(width.get, step.get)),
      toB.set(i32.sub(b.get, a.get)),
      repeatWhile(
        i32.gtS(rows.get, i32.const(0)),
        x.set(i32.const(0)),
        toOut.set(out.get),
        repeatWhile(
          i32.ltS(x.get, width.get),
          at.set(i32.add(a.get, x.get)),
          sum.set(v128.zero),
          row.set(i32.const(0)),
          repeatWhile(
            i32.ltS(row.get, i32.const(BLOCK)),
            one,
            one,
            one,
            one,
            advance(row, i32.mul(step.get, i32.const(4))),
          ),
          sum.set(i32x4.addPairs(sum.get)),
          addNeighbours(sum, scratch),
          i32.store(toOut.get, i32x4.lane(sum.get, 0)),
          i32.store(toOut.get, i32x4.lane(sum.get, 2), 4),
          advance(toOut, i32.const(8)),
          advance(x, i32.const(2 * BLOCK)),
        ),
        // Four bytes for each block of the row: half as many as it has pixels.
        out.set(i32.add(out.get, i32.shrU(width.get, i32.const(1)))),
        advance(a, i32.mul(width.get, i32.const(BLOCK))),
        advance(rows, i32.const(-1)),
      ),
    );
  },
};

/** (picture, width, height): sum of the squared steps to the right and downwards, exact in a double. */
const gradient: FunctionSource = {
  name: 'gradient',
  result: 'f64',
  body: (scope) => {
    const picture = scope.param('i32');
    const width = scope.param('i32');
    const height = scope.param('i32');
    const x = scope.local('i32');
    const last = scope.local('i32');
    const total = scope.local('f64');
    const here = scope.local('v128');
    const step = scope.local('v128');
    const sum = scope.local('v128');
    const scratch = scope.local('v128');
    const eight = (mask: readonly number[] | null) => {
      const squares = (other: Code) =>
        block(
          step.set(i16x8.sub(other, here.get)),
          mask === null ? [] : step.set(v128.and(step.get, v128.const(mask))),
          sum.set(i32x4.add(sum.get, i32x4.dot(step.get, step.get))),
        );
      return block(
        here.set(v128.load8x8u(picture.get)),
        squares(v128.load8x8u(picture.get, 1)),
        squares(v128.load8x8u(i32.add(picture.get, width.get))),
        advance(picture, i32.const(8)),
      );
    };
    return block(
      last.set(i32.sub(width.get, i32.const(8))),
      repeatWhile(
        i32.gtS(height.get, i32.const(1)),
        sum.set(v128.zero),
        x.set(i32.const(0)),
        repeatWhile(i32.ltS(x.get, last.get), eight(null), advance(x, i32.const(8))),
        eight(NOT_LAST_LANE),
        total.set(f64.add(total.get, f64.fromI32(lanesSum(sum, scratch)))),
        advance(height, i32.const(-1)),
      ),
      total.get,
    );
  },
};

/** (picture, width, height, columns, rows): sums of each column and of each row, 32 bits each. */
const project: FunctionSource = {
  name: 'project',
  result: null,
  body: (scope) => {
    const picture = scope.param('i32');
    const width = scope.param('i32');
    const height = scope.param('i32');
    const columns = scope.param('i32');
    const rows = scope.param('i32');
    const x = scope.local('i32');
    const y = scope.local('i32');
    const at = scope.local('i32');
    const levels = scope.local('v128');
    const low = scope.local('v128');
    const high = scope.local('v128');
    const scratch = scope.local('v128');
    return block(
      x.set(i32.const(0)),
      repeatWhile(
        i32.ltS(x.get, width.get),
        low.set(v128.zero),
        high.set(v128.zero),
        at.set(i32.add(picture.get, x.get)),
        y.set(i32.const(0)),
        repeatWhile(
          i32.ltS(y.get, height.get),
          levels.set(v128.load8x8u(at.get)),
          low.set(i32x4.add(low.get, i32x4.lowFromU16(levels.get))),
          high.set(i32x4.add(high.get, i32x4.highFromU16(levels.get))),
          advance(at, width.get),
          advance(y, i32.const(1)),
        ),
        v128.store(columns.get, low.get),
        v128.store(columns.get, high.get, 16),
        advance(columns, i32.const(32)),
        advance(x, i32.const(8)),
      ),
      repeatWhile(
        i32.gtS(height.get, i32.const(0)),
        low.set(v128.zero),
        x.set(i32.const(0)),
        repeatWhile(
          i32.ltS(x.get, width.get),
          low.set(i32x4.add(low.get, i32x4.addPairs(v128.load8x8u(picture.get)))),
          advance(picture, i32.const(8)),
          advance(x, i32.const(8)),
        ),
        i32.store(rows.get, lanesSum(low, scratch)),
        advance(rows, i32.const(4)),
        advance(height, i32.const(-1)),
      ),
    );
  },
};

/**
 * (picture, bytes, counts): counts of the 256 levels, 32 bits each. `counts` must hold zeros before; `bytes` is a
 * multiple of 8.
 */
const histogram: FunctionSource = {
  name: 'histogram',
  result: null,
  body: (scope) => {
    const picture = scope.param('i32');
    const bytes = scope.param('i32');
    const counts = scope.param('i32');
    const end = scope.local('i32');
    const place = scope.local('i32');
    const count = (offset: number) =>
      block(
        place.set(i32.add(counts.get, i32.shl(i32.load8(picture.get, offset), i32.const(2)))),
        i32.store(place.get, i32.add(i32.load(place.get), i32.const(1))),
      );
    return block(
      end.set(i32.add(picture.get, bytes.get)),
      repeatWhile(
        i32.ltS(picture.get, end.get),
        ...Array.from({ length: 8 }, (_, offset) => count(offset)),
        advance(picture, i32.const(8)),
      ),
    );
  },
};

/** Sums over whole pictures. */
export const PICTURE_SUMS: readonly FunctionSource[] = [differences, gradient, project, histogram];
