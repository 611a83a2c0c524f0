import {
  block,
  i16x8,
  i32,
  i32x4,
  repeatWhile,
  u8x16,
  v128,
  when,
  type Code,
  type FunctionSource,
  type Local,
} from '../wasm/assemble.ts';
import {
  absoluteDifference,
  advance,
  lanesSum,
  larger,
  NOT_LAST_LANE,
  sixteen,
  smaller,
} from '../wasm/vectors.ts';

/** Side of the windows that are followed, pixels: a whole vector of bytes. */
const WINDOW = 16;
/** Farthest displacements that are searched, pixels of the small picture. */
const REACH = 10;
const FAR_REACH = 20;
/** Mask of every second of 16 bytes, which leaves one in each 16-bit lane. */
const EVERY_SECOND = sixteen((byte) => (byte % 2 === 0 ? 0xff : 0));
/** Places are packed into one number as `(dy + PLACE_BIAS) << PLACE_BITS | (dx + PLACE_BIAS)`. */
export const PLACE_BIAS = 64;
export const PLACE_BITS = 8;

/**
 * (picture, width, height, left, top, out): sums of the products of the differences across each pixel of a window
 * (right minus left, lower minus upper): xx, xy, yy, 32 bits each. Pixels at the edge of the picture are left out.
 */
const texture: FunctionSource = {
  name: 'texture',
  result: null,
  body: (scope) => {
    const picture = scope.param('i32');
    const width = scope.param('i32');
    const height = scope.param('i32');
    const left = scope.param('i32');
    const top = scope.param('i32');
    const out = scope.param('i32');
    const at = scope.local('i32');
    const end = scope.local('i32');
    const gx = scope.local('v128');
    const gy = scope.local('v128');
    const xx = scope.local('v128');
    const xy = scope.local('v128');
    const yy = scope.local('v128');
    const scratch = scope.local('v128');
    const maskLeft = scope.local('v128');
    const maskRight = scope.local('v128');
    const eight = (offset: number, mask: Local) =>
      block(
        gx.set(
          i16x8.sub(v128.load8x8u(at.get, offset + 1), v128.load8x8u(i32.sub(at.get, i32.const(1)), offset)),
        ),
        gx.set(v128.and(gx.get, mask.get)),
        gy.set(
          i16x8.sub(
            v128.load8x8u(i32.add(at.get, width.get), offset),
            v128.load8x8u(i32.sub(at.get, width.get), offset),
          ),
        ),
        gy.set(v128.and(gy.get, mask.get)),
        xx.set(i32x4.add(xx.get, i32x4.dot(gx.get, gx.get))),
        xy.set(i32x4.add(xy.get, i32x4.dot(gx.get, gy.get))),
        yy.set(i32x4.add(yy.get, i32x4.dot(gy.get, gy.get))),
      );
    const rowAt = (row: Code) => i32.add(picture.get, i32.add(i32.mul(row, width.get), left.get));
    return block(
      maskLeft.set(v128.const(sixteen(() => 0xff))),
      maskRight.set(v128.const(sixteen(() => 0xff))),
      when(
        i32.ltS(left.get, i32.const(1)),
        maskLeft.set(v128.const(sixteen((byte) => (byte < 2 ? 0 : 0xff)))),
      ),
      when(
        i32.gtS(i32.add(left.get, i32.const(WINDOW + 1)), width.get),
        maskRight.set(v128.const(NOT_LAST_LANE)),
      ),
      at.set(rowAt(larger(top.get, i32.const(1)))),
      end.set(rowAt(smaller(i32.sub(height.get, i32.const(1)), i32.add(top.get, i32.const(WINDOW))))),
      repeatWhile(i32.ltS(at.get, end.get), eight(0, maskLeft), eight(8, maskRight), advance(at, width.get)),
      i32.store(out.get, lanesSum(xx, scratch)),
      i32.store(out.get, lanesSum(xy, scratch), 4),
      i32.store(out.get, lanesSum(yy, scratch), 8),
    );
  },
};

/** Which pixels of a window are compared: all, or every second one of every second row. */
type SampleStep = 1 | 2;

/**
 * Differences of 16 bytes in 8 lanes of 16 bits: the sum of each pair, or its first alone.
 * @param mask holds `EVERY_SECOND`
 */
const inLanes = (difference: Code, sampleStep: SampleStep, mask: Local): Code =>
  sampleStep === 1 ? u8x16.addPairs(difference) : v128.and(difference, mask.get);

/**
 * (before, after, width, left, top, x, y): sum of absolute differences between a window and the window of the other
 * picture whose corner is at x and y.
 */
const changeOf = (name: string, sampleStep: SampleStep): FunctionSource => ({
  name,
  result: 'i32',
  body: (scope) => {
    const before = scope.param('i32');
    const after = scope.param('i32');
    const width = scope.param('i32');
    const left = scope.param('i32');
    const top = scope.param('i32');
    const x = scope.param('i32');
    const y = scope.param('i32');
    const row = scope.local('i32');
    const here = scope.local('i32');
    const there = scope.local('i32');
    const stride = scope.local('i32');
    const va = scope.local('v128');
    const vb = scope.local('v128');
    const mask = scope.local('v128');
    const sum = scope.local('v128');
    const scratch = scope.local('v128');
    const cornerOf = (picture: Local, column: Local, line: Local) =>
      i32.add(picture.get, i32.add(i32.mul(line.get, width.get), column.get));
    return block(
      stride.set(i32.mul(width.get, i32.const(sampleStep))),
      mask.set(v128.const(EVERY_SECOND)),
      here.set(cornerOf(before, left, top)),
      there.set(cornerOf(after, x, y)),
      repeatWhile(
        i32.ltS(row.get, i32.const(WINDOW / sampleStep)),
        va.set(v128.load(here.get)),
        vb.set(v128.load(there.get)),
        sum.set(i16x8.add(sum.get, inLanes(absoluteDifference(va, vb), sampleStep, mask))),
        advance(here, stride.get),
        advance(there, stride.get),
        advance(row, i32.const(1)),
      ),
      sum.set(i32x4.addPairs(sum.get)),
      lanesSum(sum, scratch),
    );
  },
});

/** The change of a window at the same place, and of one that has moved. */
const windowChange = changeOf('windowChange', 1);
const movedChange = changeOf('movedChange', 2);

/** What a search compares, and where it looks. */
interface SearchShape {
  readonly name: string;
  /** Farthest displacement looked for, pixels of the small picture. */
  readonly reach: number;
  readonly sampleStep: SampleStep;
  /** Whether standing still is tried before all other places, and next a guess (two more parameters). */
  readonly takesGuess: boolean;
}

/**
 * (before, after, width, height, left, top[, guessX, guessY]): the place within reach at which a window differs least
 * from the other picture. Places are tried row by row; a later one must be strictly better.
 */
const searchOf = ({ name, reach, sampleStep, takesGuess }: SearchShape): FunctionSource => ({
  name,
  result: 'i32',
  body: (scope) => {
    const before = scope.param('i32');
    const after = scope.param('i32');
    const width = scope.param('i32');
    const height = scope.param('i32');
    const left = scope.param('i32');
    const top = scope.param('i32');
    const guess = takesGuess ? { x: scope.param('i32'), y: scope.param('i32') } : null;
    const best = scope.local('i32');
    const place = scope.local('i32');
    const dx = scope.local('i32');
    const dy = scope.local('i32');
    const at = scope.local('i32');
    const error = scope.local('i32');
    const lastX = scope.local('i32');
    const lastY = scope.local('i32');
    const firstX = scope.local('i32');
    const stride = scope.local('i32');
    const from = scope.local('i32');
    const sum = scope.local('v128');
    const vb = scope.local('v128');
    const half = scope.local('v128');
    const scratch = scope.local('v128');
    const mask = scope.local('v128');
    const rows = Array.from({ length: WINDOW / sampleStep }, () => scope.local('v128'));
    const add = (row: Local) =>
      block(
        vb.set(v128.load(at.get)),
        sum.set(i16x8.add(sum.get, inLanes(absoluteDifference(row, vb), sampleStep, mask))),
        advance(at, stride.get),
      );
    const packed = i32.or(
      i32.shl(i32.add(dy.get, i32.const(PLACE_BIAS)), i32.const(PLACE_BITS)),
      i32.add(dx.get, i32.const(PLACE_BIAS)),
    );
    const sumSoFar = block(half.set(i32x4.addPairs(sum.get)), error.set(lanesSum(half, scratch)));
    const tryPlace = block(
      at.set(i32.add(from.get, i32.add(i32.mul(dy.get, width.get), dx.get))),
      sum.set(v128.zero),
      ...rows.slice(0, rows.length / 2).map(add),
      sumSoFar,
      // Half of the rows may already differ too much.
      when(
        i32.ltS(error.get, best.get),
        ...rows.slice(rows.length / 2).map(add),
        sumSoFar,
        when(i32.ltS(error.get, best.get), best.set(error.get), place.set(packed)),
      ),
    );
    const lowest = (side: Local) => larger(i32.const(-reach), i32.sub(i32.const(0), side.get));
    const highest = (side: Local, whole: Local) =>
      smaller(i32.const(reach), i32.sub(i32.sub(whole.get, i32.const(WINDOW)), side.get));
    const inside = (value: Local, side: Local, whole: Local, then: Code) =>
      when(
        i32.gtS(i32.add(side.get, value.get), i32.const(-1)),
        when(i32.ltS(i32.add(side.get, value.get), i32.sub(whole.get, i32.const(WINDOW - 1))), then),
      );
    const first = guess
      ? [
          tryPlace,
          dx.set(guess.x.get),
          dy.set(guess.y.get),
          inside(dx, left, width, inside(dy, top, height, tryPlace)),
        ]
      : [];
    return block(
      stride.set(i32.mul(width.get, i32.const(sampleStep))),
      mask.set(v128.const(EVERY_SECOND)),
      at.set(i32.add(before.get, i32.add(i32.mul(top.get, width.get), left.get))),
      ...rows.map((row) => block(row.set(v128.load(at.get)), advance(at, stride.get))),
      from.set(i32.add(after.get, i32.add(i32.mul(top.get, width.get), left.get))),
      best.set(i32.const(0x7fffffff)),
      ...first,
      firstX.set(lowest(left)),
      lastX.set(highest(left, width)),
      lastY.set(highest(top, height)),
      dy.set(lowest(top)),
      repeatWhile(
        i32.ltS(dy.get, i32.add(lastY.get, i32.const(1))),
        dx.set(firstX.get),
        repeatWhile(i32.ltS(dx.get, i32.add(lastX.get, i32.const(1))), tryPlace, advance(dx, i32.const(1))),
        advance(dy, i32.const(1)),
      ),
      place.get,
    );
  },
});

/** Search for the motion from one picture to the next. */
const search = searchOf({ name: 'search', reach: REACH, sampleStep: 2, takesGuess: true });
/** Search for the motion over a dozen pictures of fast motion. */
const searchFar = searchOf({ name: 'searchFar', reach: FAR_REACH, sampleStep: 1, takesGuess: false });

/** Sums over single windows, and the search for where a window has moved. */
export const WINDOW_SUMS: readonly FunctionSource[] = [texture, windowChange, movedChange, search, searchFar];
