import {
  assemble,
  block,
  i16x8,
  i32,
  i32x4,
  repeatWhile,
  u8x16,
  v128,
  type Code,
  type FunctionSource,
  type Local,
} from '#server/media/wasm/assemble.ts';
import { loadModule } from '#server/media/wasm/load.ts';
import { absoluteDifference, advance, lanesSum } from '#server/media/wasm/vectors.ts';

/** Sums over windows of two planes in the kernel's memory, exactly as a plain loop gives them. */
export interface MotionKernel {
  /** Allocates a piece of the memory; its `byteOffset` is its address. */
  take(bytes: number): Uint8Array;
  /** Frees all pieces. */
  clear(): void;
  /**
   * Sum of absolute differences of two windows, every second row.
   * @param a address of the first pixel in the one plane, `b` in the other
   * @param size width of the window, 12 or 16
   * @param rows number of rows that are compared
   */
  wholeSum(a: number, b: number, width: number, size: number, rows: number): number;
  /**
   * The same between pixels, by bilinear interpolation; one more pixel and one more row are read.
   * @param places distance of the windows to the right of and below `a` and `b`, in quarters of a pixel, 0 to 3
   */
  quarterSum(a: number, b: number, width: number, size: number, rows: number, places: Quarters): number;
}

export interface Quarters {
  readonly ax: number;
  readonly ay: number;
  readonly bx: number;
  readonly by: number;
}

/** (a, b, stride, mask, rows): differences of 16 bytes in each row, limited by the mask. */
const WHOLE_SUM: FunctionSource = {
  name: 'wholeSum',
  result: 'i32',
  body: (scope) => {
    const a = scope.param('i32');
    const b = scope.param('i32');
    const stride = scope.param('i32');
    const mask = scope.param('i32');
    const rows = scope.param('i32');
    const va = scope.local('v128');
    const vb = scope.local('v128');
    const kept = scope.local('v128');
    const sum = scope.local('v128');
    const scratch = scope.local('v128');
    return block(
      kept.set(v128.load(mask.get)),
      repeatWhile(
        i32.gtS(rows.get, i32.const(0)),
        va.set(v128.load(a.get)),
        vb.set(v128.load(b.get)),
        sum.set(i16x8.add(sum.get, u8x16.addPairs(v128.and(absoluteDifference(va, vb), kept.get)))),
        advance(a, stride.get),
        advance(b, stride.get),
        advance(rows, i32.const(-1)),
      ),
      sum.set(i32x4.addPairs(sum.get)),
      lanesSum(sum, scratch),
    );
  },
};

/**
 * (a, b, width, mask, rows, ax, ay, bx, by): sixteen times the sum of the differences of 16 interpolated pixels in
 * every second row; the mask limits the last eight. Products of quarters keep every value a whole number.
 */
const QUARTER_SUM: FunctionSource = {
  name: 'quarterSum',
  result: 'i32',
  body: (scope) => {
    const a = scope.param('i32');
    const b = scope.param('i32');
    const width = scope.param('i32');
    const mask = scope.param('i32');
    const rows = scope.param('i32');
    const quarters = [0, 1, 2, 3].map(() => scope.param('i32'));
    const kept = scope.local('v128');
    const ones = scope.local('v128');
    const step = scope.local('v128');
    const sum = scope.local('v128');
    const scratch = scope.local('v128');
    const shares = quarters.map((quarter) => {
      const [near, far] = [scope.local('v128'), scope.local('v128')];
      const set = block(
        near.set(i16x8.splat(i32.sub(i32.const(4), quarter.get))),
        far.set(i16x8.splat(quarter.get)),
      );
      return { near, far, set };
    });
    const [ax, ay, bx, by] = shares;
    if (!ax || !ay || !bx || !by) throw new RangeError('four shares are needed');
    const mix = (near: Code, far: Code, share: { near: Local; far: Local }) =>
      i16x8.add(i16x8.mul(near, share.near.get), i16x8.mul(far, share.far.get));
    const eight = (at: Local, offset: number, x: typeof ax, y: typeof ax) => {
      const row = (from: Code) => mix(v128.load8x8u(from, offset), v128.load8x8u(from, offset + 1), x);
      return mix(row(at.get), row(i32.add(at.get, width.get)), y);
    };
    const difference = (offset: number) =>
      step.set(i16x8.abs(i16x8.sub(eight(a, offset, ax, ay), eight(b, offset, bx, by))));
    const count = sum.set(i32x4.add(sum.get, i32x4.dot(step.get, ones.get)));
    return block(
      kept.set(v128.load(mask.get)),
      ones.set(i16x8.splat(i32.const(1))),
      ...shares.map(({ set }) => set),
      repeatWhile(
        i32.gtS(rows.get, i32.const(0)),
        difference(0),
        count,
        difference(8),
        step.set(v128.and(step.get, kept.get)),
        count,
        advance(a, i32.shl(width.get, i32.const(1))),
        advance(b, i32.shl(width.get, i32.const(1))),
        advance(rows, i32.const(-1)),
      ),
      lanesSum(sum, scratch),
    );
  },
};

const MODULE = new WebAssembly.Module(assemble([WHOLE_SUM, QUARTER_SUM]));
/** Vectors read up to this many bytes beyond the pixels they count. */
const MARGIN_BYTES = 32;
/** Masks for windows of 16 and 12 pixels: sixteen bytes as a whole, then the last eight as 16-bit lanes. */
const MASKS = [
  [16, 0, 16],
  [12, 32, 48],
] as const;
const FIRST_FREE = 64;

/** @param bytes that will be allocated, in at most 40 pieces */
export function createMotionKernel(bytes: number): MotionKernel {
  const most = FIRST_FREE + bytes + 40 * (MARGIN_BYTES + 16);
  const { buffer, run } = loadModule(MODULE, most);
  const [whole, quarter] = [run('wholeSum'), run('quarterSum')];
  for (const [size, bytesAt, lanesAt] of MASKS) {
    new Uint8Array(buffer, bytesAt, size).fill(0xff);
    new Uint8Array(buffer, lanesAt, 2 * (size - 8)).fill(0xff);
  }
  const maskOf = (size: number) => (size === 16 ? MASKS[0] : MASKS[1]);
  let free = FIRST_FREE;
  return {
    take(size) {
      const from = free;
      free += Math.ceil((size + MARGIN_BYTES) / 16) * 16;
      return new Uint8Array(buffer, from, size);
    },
    clear() {
      free = FIRST_FREE;
    },
    wholeSum: (a, b, width, size, rows) => Number(whole(a, b, 2 * width, maskOf(size)[1], rows)),
    quarterSum: (a, b, width, size, rows, { ax, ay, bx, by }) =>
      Number(quarter(a, b, width, maskOf(size)[2], rows, ax, ay, bx, by)) / 16,
  };
}
