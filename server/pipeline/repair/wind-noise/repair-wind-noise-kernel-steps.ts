import {
  block,
  f32x4,
  i32,
  i32x4,
  repeatWhile,
  v128,
  type Code,
  type FunctionSource,
  type Local,
} from '#server/media/wasm/assemble.ts';
import { advance, fourOf, NUMBER_BYTES, VECTOR_BYTES } from '#server/media/wasm/vectors.ts';

/** Keeps divisors, and powers whose logarithm is taken, above zero. */
const TINY = 1e-15;

/** See `SUPPRESSOR`. */
export interface FollowSettings {
  readonly memory: number;
  readonly leastRatio: number;
  readonly gainFloor: number;
}

/**
 * Cells of the histogram of the natural logarithm of power over level, each `step` wide; the first lies around `low`.
 * What lies beyond either end counts in the last cell there.
 */
export const CELLS = { low: -30, step: 0.1, count: 500 } as const;

/** Bins, multiples of a vector: the first that is worked on, and the end of all. */
interface Bounds {
  readonly first: number;
  readonly room: number;
}

/** Repeats a statement for each vector of numbers from `at` on. */
function upTo(numbers: number, at: Local, statement: Code): Code {
  return repeatWhile(
    i32.ltS(at.get, i32.const(numbers * NUMBER_BYTES)),
    statement,
    advance(at, i32.const(VECTOR_BYTES)),
  );
}

const here = (base: Local, at: Local): Code => i32.add(base.get, at.get);

/** (wind, background, limits, level): wind is the lower of background and limit times level. */
export function assume(first: number): FunctionSource {
  return {
    name: 'assume',
    result: null,
    body: (scope) => {
      const [wind, background] = [scope.param('i32'), scope.param('i32')];
      const [limits, level] = [scope.param('i32'), scope.param('i32')];
      const at = scope.local('i32');
      const limit = f32x4.mul(v128.load(here(limits, at)), v128.load(level.get));
      const lower = f32x4.smaller(limit, v128.load(here(background, at)));
      return first > 0 ? upTo(first, at, v128.store(here(wind, at), lower)) : [];
    },
  };
}

/** (power, background, limits, level): divides the power from bin `first` on by the same wind. */
export function compare({ first, known, room }: Bounds & { readonly known: number }): FunctionSource {
  return {
    name: 'compare',
    result: null,
    body: (scope) => {
      const [power, background] = [scope.param('i32'), scope.param('i32')];
      const [limits, levelAt] = [scope.param('i32'), scope.param('i32')];
      const at = scope.local('i32');
      const level = scope.local('v128');
      const limit = f32x4.mul(v128.load(here(limits, at)), level.get);
      const lower = f32x4.smaller(limit, v128.load(here(background, at)));
      const divide = (wind: Code) =>
        v128.store(here(power, at), f32x4.div(v128.load(here(power, at)), f32x4.add(wind, fourOf(TINY))));
      return block(
        level.set(v128.load(levelAt.get)),
        at.set(i32.const(first * NUMBER_BYTES)),
        known > first ? upTo(known, at, divide(lower)) : [],
        room > Math.max(first, known) ? upTo(room, at, divide(limit)) : [],
      );
    },
  };
}

// Fields of a number in single precision (IEEE 754).
const FRACTION_BITS = 23;
const FRACTION = 0x7f_ff_ff;
const EXPONENT_BIAS = 127;

/** (power, cells, level): the cell of `CELLS` of each bin. */
export function cells(room: number): FunctionSource {
  return {
    name: 'cells',
    result: null,
    body: (scope) => {
      const [power, out, levelAt] = [scope.param('i32'), scope.param('i32'), scope.param('i32')];
      const at = scope.local('i32');
      const [level, ratio, part, square] = [0, 1, 2, 3].map(() => scope.local('v128'));
      if (!level || !ratio || !part || !square) return [];
      const exponent = f32x4.fromI32(i32x4.shrU(ratio.get, i32.const(FRACTION_BITS)));
      // Series of the inverse hyperbolic tangent for a number from 1 to 2; the error is below 1.2e-5.
      const series = [1 / 7, 1 / 5, 1 / 3].reduce<Code>(
        (sum, factor) => f32x4.add(f32x4.mul(sum, square.get), fourOf(factor)),
        fourOf(0),
      );
      const logarithm = f32x4.add(
        f32x4.mul(f32x4.sub(exponent, fourOf(EXPONENT_BIAS)), fourOf(Math.LN2)),
        f32x4.mul(part.get, f32x4.add(fourOf(2), f32x4.mul(f32x4.mul(fourOf(2), square.get), series))),
      );
      const place = f32x4.add(
        f32x4.mul(f32x4.sub(logarithm, fourOf(CELLS.low)), fourOf(1 / CELLS.step)),
        fourOf(0.5),
      );
      const kept = f32x4.smaller(f32x4.larger(place, fourOf(0)), fourOf(CELLS.count - 0.5));
      const mantissa = v128.or(v128.and(ratio.get, fourWhole(FRACTION)), fourOf(1));
      return block(
        level.set(v128.load(levelAt.get)),
        upTo(
          room,
          at,
          block(
            ratio.set(f32x4.div(f32x4.add(v128.load(here(power, at)), fourOf(TINY)), level.get)),
            part.set(mantissa),
            part.set(f32x4.div(f32x4.sub(part.get, fourOf(1)), f32x4.add(part.get, fourOf(1)))),
            square.set(f32x4.mul(part.get, part.get)),
            v128.store(here(out, at), i32x4.fromF32(kept)),
          ),
        ),
      );
    },
  };
}

/**
 * (ratio, gain, state): Wiener's gain of each bin from bin `first` on. The signal-to-wind ratio is to the share `memory`
 * what the frame before kept (the state: its power over wind, times its squared gain), for the rest what this frame has
 * above its wind (decision-directed, Ephraim and Malah 1984). `followBack` joins the gain with the one that is there.
 */
export function follow(
  name: 'follow' | 'followBack',
  { first, room }: Bounds,
  { memory, leastRatio, gainFloor }: FollowSettings,
): FunctionSource {
  return {
    name,
    result: null,
    body: (scope) => {
      const [ratioAt, gainAt, stateAt] = [scope.param('i32'), scope.param('i32'), scope.param('i32')];
      const at = scope.local('i32');
      const [posterior, gain] = [scope.local('v128'), scope.local('v128')];
      const fresh = f32x4.mul(
        fourOf(1 - memory),
        f32x4.larger(f32x4.sub(posterior.get, fourOf(1)), v128.zero),
      );
      const kept = f32x4.mul(fourOf(memory), v128.load(here(stateAt, at)));
      const both = f32x4.root(f32x4.mul(v128.load(here(gainAt, at)), gain.get));
      if (room <= first) return [];
      return block(
        at.set(i32.const(first * NUMBER_BYTES)),
        upTo(
          room,
          at,
          block(
            posterior.set(v128.load(here(ratioAt, at))),
            gain.set(f32x4.larger(f32x4.add(kept, fresh), fourOf(leastRatio))),
            gain.set(f32x4.div(gain.get, f32x4.add(fourOf(1), gain.get))),
            v128.store(here(stateAt, at), f32x4.mul(f32x4.mul(gain.get, gain.get), posterior.get)),
            v128.store(
              here(gainAt, at),
              name === 'follow' ? gain.get : f32x4.larger(both, fourOf(gainFloor)),
            ),
          ),
        ),
      );
    },
  };
}

function fourWhole(value: number): Code {
  return v128.const([...new Uint8Array(Int32Array.of(value, value, value, value).buffer)]);
}
