import {
  block,
  f32x4,
  i32,
  i32x4,
  repeatWhile,
  v128,
  type Code,
  type FunctionSource,
} from '../wasm/assemble.ts';
import { VECTOR_BYTES, advance } from '../wasm/vectors.ts';

/**
 * Largest exponent that is computed, well within single precision; logistic and hyperbolic functions are flat before.
 */
const MOST_EXPONENT = 60;
/** Bits of a number's fraction, and the bias of its exponent (IEEE 754). */
const FRACTION_BITS = 23;
const EXPONENT_BIAS = 127;
/** Coefficients of the exponential's Taylor series up to 1/6!; the rest is below 2e-7 within half a power of two. */
const COEFFICIENTS = [1 / 720, 1 / 120, 1 / 24, 1 / 6, 1 / 2, 1, 1];

/**
 * (input, state gates, state, end of the state, out, bytes of a row of units, of gates, of out): new state of gated
 * recurrent units, four at a time; the gates are reset, update and candidate.
 */
export const gatedUnits: FunctionSource = {
  name: 'gatedUnits',
  result: null,
  body: (scope) => {
    const input = scope.param('i32');
    const gates = scope.param('i32');
    const state = scope.param('i32');
    const end = scope.param('i32');
    const out = scope.param('i32');
    const unitBytes = scope.param('i32');
    const gateBytes = scope.param('i32');
    const outBytes = scope.param('i32');
    const rowEnd = scope.local('i32');
    const nextInput = scope.local('i32');
    const nextGates = scope.local('i32');
    const nextOut = scope.local('i32');
    const second = scope.local('i32');
    const third = scope.local('i32');
    const whole = scope.local('v128');
    const part = scope.local('v128');
    const reset = scope.local('v128');
    const update = scope.local('v128');
    const fresh = scope.local('v128');

    const powerOfTwo = powersOfTwo(whole.get);
    /** Two to the power of the value: the whole part through the exponent's bits, the rest by the series. */
    const exponential = (value: Code) =>
      block(
        part.set(f32x4.least(f32x4.most(value, four(-MOST_EXPONENT)), four(MOST_EXPONENT))),
        whole.set(f32x4.round(part.get)),
        part.set(f32x4.mul(f32x4.sub(part.get, whole.get), four(Math.LN2))),
        f32x4.mul(
          COEFFICIENTS.slice(1).reduce<Code>(
            (sum, coefficient) => f32x4.add(f32x4.mul(sum, part.get), four(coefficient)),
            four(COEFFICIENTS[0] ?? 0),
          ),
          powerOfTwo,
        ),
      );
    const logistic = (value: Code) =>
      f32x4.div(four(1), f32x4.add(four(1), exponential(f32x4.mul(value, four(-1 / Math.LN2)))));
    const hyperbolicTangent = (value: Code) =>
      f32x4.sub(
        four(1),
        f32x4.div(four(2), f32x4.add(exponential(f32x4.mul(value, four(2 / Math.LN2))), four(1))),
      );

    const units = block(
      second.set(i32.add(input.get, unitBytes.get)),
      third.set(i32.add(gates.get, unitBytes.get)),
      reset.set(logistic(f32x4.add(v128.load(input.get), v128.load(gates.get)))),
      update.set(logistic(f32x4.add(v128.load(second.get), v128.load(third.get)))),
      second.set(i32.add(second.get, unitBytes.get)),
      third.set(i32.add(third.get, unitBytes.get)),
      fresh.set(
        hyperbolicTangent(f32x4.add(v128.load(second.get), f32x4.mul(reset.get, v128.load(third.get)))),
      ),
      fresh.set(f32x4.add(fresh.get, f32x4.mul(update.get, f32x4.sub(v128.load(state.get), fresh.get)))),
      v128.store(state.get, fresh.get),
      v128.store(out.get, fresh.get),
      ...[input, gates, state, out].map((place) => advance(place, i32.const(VECTOR_BYTES))),
    );
    return repeatWhile(
      i32.ltS(state.get, end.get),
      rowEnd.set(i32.add(state.get, unitBytes.get)),
      nextInput.set(i32.add(input.get, gateBytes.get)),
      nextGates.set(i32.add(gates.get, gateBytes.get)),
      nextOut.set(i32.add(out.get, outBytes.get)),
      repeatWhile(i32.ltS(state.get, rowEnd.get), units),
      input.set(nextInput.get),
      gates.set(nextGates.get),
      out.set(nextOut.get),
    );
  },
};

/** Two to the power of four whole numbers. */
function powersOfTwo(whole: Code): Code {
  const bias = v128.const(bytesOf(Int32Array.from({ length: 4 }, () => EXPONENT_BIAS)));
  return i32x4.shl(i32x4.add(i32x4.fromF32(whole), bias), i32.const(FRACTION_BITS));
}

function four(value: number): Code {
  return v128.const(bytesOf(Float32Array.from({ length: 4 }, () => value)));
}

function bytesOf(lanes: Float32Array | Int32Array): number[] {
  return [...new Uint8Array(lanes.buffer)];
}
