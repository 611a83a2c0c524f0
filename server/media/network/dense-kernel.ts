import { gatedUnits } from './recurrent-kernel-gates.ts';
import {
  assemble,
  block,
  f32x4,
  i32,
  repeatWhile,
  v128,
  type Code,
  type FunctionSource,
} from '../wasm/assemble.ts';
import { loadModule } from '../wasm/load.ts';
import { NUMBER_BYTES, VECTOR_BYTES, advance } from '../wasm/vectors.ts';

/** Neurons that are summed at once; layers are padded to a multiple of it. */
const NEURONS = 16;
const NEURON_BYTES = NEURONS * NUMBER_BYTES;
/** Rows that are summed at once, so that each weight is read once for both. */
const ROWS = 2;

/**
 * (rows, rowsEnd, rowBytes, out, outRowBytes, weights, weightsEnd, least): sixteen neurons of a layer for two rows at a
 * time, none lower than the vector at `least`. Weights: the sixteen biases, then for each input its sixteen weights.
 */
const denseLayer: FunctionSource = {
  name: 'denseLayer',
  result: null,
  body: (scope) => {
    const rows = scope.param('i32');
    const rowsEnd = scope.param('i32');
    const rowBytes = scope.param('i32');
    const out = scope.param('i32');
    const outRowBytes = scope.param('i32');
    const weights = scope.param('i32');
    const weightsEnd = scope.param('i32');
    const least = scope.param('i32');
    const a = scope.local('i32');
    const b = scope.local('i32');
    const at = scope.local('i32');
    const valueA = scope.local('v128');
    const valueB = scope.local('v128');
    const weight = scope.local('v128');
    const offsets = Array.from({ length: NEURON_BYTES / VECTOR_BYTES }, (_, i) => i * VECTOR_BYTES);
    const sumsA = offsets.map(() => scope.local('v128'));
    const sumsB = offsets.map(() => scope.local('v128'));
    const each = (make: (offset: number, i: number) => Code) => block(...offsets.map(make));
    const add = (i: number) => {
      const [sumA, sumB] = [sumsA[i], sumsB[i]];
      if (!sumA || !sumB) return [];
      return block(
        sumA.set(f32x4.add(sumA.get, f32x4.mul(valueA.get, weight.get))),
        sumB.set(f32x4.add(sumB.get, f32x4.mul(valueB.get, weight.get))),
      );
    };
    const start = (offset: number, i: number) =>
      block(
        weight.set(v128.load(weights.get, offset)),
        sumsA[i]?.set(weight.get) ?? [],
        sumsB[i]?.set(weight.get) ?? [],
      );
    const finish = (to: typeof out, sums: typeof sumsA) =>
      each((offset, i) => v128.store(to.get, f32x4.most(sums[i]?.get ?? v128.zero, weight.get), offset));
    return repeatWhile(
      i32.ltS(rows.get, rowsEnd.get),
      a.set(rows.get),
      b.set(i32.add(rows.get, rowBytes.get)),
      at.set(i32.add(weights.get, i32.const(NEURON_BYTES))),
      each(start),
      repeatWhile(
        i32.ltS(at.get, weightsEnd.get),
        valueA.set(v128.load32Splat(a.get)),
        valueB.set(v128.load32Splat(b.get)),
        each((offset, i) => block(weight.set(v128.load(at.get, offset)), add(i))),
        advance(a, i32.const(NUMBER_BYTES)),
        advance(b, i32.const(NUMBER_BYTES)),
        advance(at, i32.const(NEURON_BYTES)),
      ),
      weight.set(v128.load(least.get)),
      finish(out, sumsA),
      advance(out, outRowBytes.get),
      finish(out, sumsB),
      advance(out, outRowBytes.get),
      advance(rows, i32.add(rowBytes.get, rowBytes.get)),
    );
  },
};

/** (from, fromEnd, fromRowBytes, to, toRowBytes, rowBytes): rows of whole vectors from one place to another. */
const copyRows: FunctionSource = {
  name: 'copyRows',
  result: null,
  body: (scope) => {
    const from = scope.param('i32');
    const fromEnd = scope.param('i32');
    const fromRowBytes = scope.param('i32');
    const to = scope.param('i32');
    const toRowBytes = scope.param('i32');
    const rowBytes = scope.param('i32');
    const at = scope.local('i32');
    return repeatWhile(
      i32.ltS(from.get, fromEnd.get),
      at.set(i32.const(0)),
      repeatWhile(
        i32.ltS(at.get, rowBytes.get),
        v128.store(i32.add(to.get, at.get), v128.load(i32.add(from.get, at.get))),
        advance(at, i32.const(VECTOR_BYTES)),
      ),
      advance(from, fromRowBytes.get),
      advance(to, toRowBytes.get),
    );
  },
};

const MODULE = new WebAssembly.Module(assemble([denseLayer, gatedUnits, copyRows]));

/** Weights of a layer of neurons. */
export interface DenseWeights {
  readonly inputs: number;
  /** One row of `inputs + 1` numbers for each neuron, its bias last. */
  readonly rows: Float32Array;
  /** Rectified linear neurons (Glorot et al. 2011), else linear ones. */
  readonly rectified: boolean;
}

/** What a layer reads and writes; both arrays come from `DenseMemory.take`. */
export interface DenseRows {
  readonly from: Float32Array;
  /** Index in `from` of the first number of the first row; 0 when absent. */
  readonly fromAt?: number;
  /**
   * Numbers from the start of a row to that of the next. Fewer than a row's inputs make rows that overlap
   * (convolution).
   */
  readonly rowNumbers: number;
  readonly rows: number;
  /** Rows of `DenseLayer.width` numbers, with space for one more row when `rows` is odd. */
  readonly to: Float32Array;
  readonly toAt?: number;
}

/** Numbers that are copied between arrays of a memory, a multiple of four in each row. */
export interface CopiedRows {
  readonly from: Float32Array;
  readonly fromAt: number;
  /** Numbers from the start of a row to that of the next. */
  readonly fromRowNumbers: number;
  readonly to: Float32Array;
  readonly toAt: number;
  readonly toRowNumbers: number;
  readonly numbers: number;
  readonly rows: number;
}

export interface DenseLayer {
  /** Number of neurons, padded with zeros to a multiple of 16. */
  readonly width: number;
  run(rows: DenseRows): void;
}

/** One step of gated recurrent units. All arrays come from `DenseMemory.take`. */
export interface GatedStep {
  readonly units: number;
  readonly rows: number;
  /** Sums of reset, update and candidate gates from the inputs, and from the state; rows of `gateNumbers`. */
  readonly fromInput: Float32Array;
  readonly fromInputAt: number;
  readonly fromState: Float32Array;
  readonly gateNumbers: number;
  /** Rows of `units`, overwritten. */
  readonly state: Float32Array;
  /** Second place to which the new state is written. */
  readonly to: Float32Array;
  readonly toAt: number;
  readonly toRowNumbers: number;
}

/** Arrays and layers that share one memory, so that a layer may read what another wrote. */
export interface DenseMemory {
  /** An array of so many numbers, all zero. */
  take(count: number): Float32Array;
  /** A layer `max(0, bias + sum of weight * input)`, or without the limit, in single precision. */
  layer(weights: DenseWeights): DenseLayer;
  /** @throws RangeError when the units are no multiple of 4 */
  stepGates(step: GatedStep): void;
  copyRows(rows: CopiedRows): void;
}

/**
 * @param capacity most numbers for all weights and arrays; pages that are not used cost nothing. `take` and `layer`
 * throw a RangeError when it is used up.
 */
export function createDenseMemory(capacity: number): DenseMemory {
  const { buffer, run } = loadModule(MODULE, capacity * NUMBER_BYTES);
  const made = run('denseLayer');
  const step = run('gatedUnits');
  const copy = run('copyRows');
  let end = 0;
  const take = (count: number) => {
    const taken = new Float32Array(buffer, end, count);
    end += Math.ceil((count * NUMBER_BYTES) / VECTOR_BYTES) * VECTOR_BYTES;
    return taken;
  };
  const [zero, lowest] = [take(4), take(4)];
  lowest.fill(Number.NEGATIVE_INFINITY);
  return {
    take,
    layer({ inputs, rows: weights, rectified }) {
      const neurons = weights.length / (inputs + 1);
      const width = Math.ceil(neurons / NEURONS) * NEURONS;
      const placed = take((inputs + 1) * width);
      const blockNumbers = (inputs + 1) * NEURONS;
      for (let n = 0; n < neurons; n++) {
        const column = Math.floor(n / NEURONS) * blockNumbers + (n % NEURONS);
        placed[column] = weights[n * (inputs + 1) + inputs] ?? 0;
        for (let i = 0; i < inputs; i++) {
          placed[column + (i + 1) * NEURONS] = weights[n * (inputs + 1) + i] ?? 0;
        }
      }
      const blockBytes = blockNumbers * NUMBER_BYTES;
      const least = (rectified ? zero : lowest).byteOffset;
      return {
        width,
        run({ from, fromAt = 0, rowNumbers, rows, to, toAt = 0 }) {
          const rowBytes = rowNumbers * NUMBER_BYTES;
          const firstRow = from.byteOffset + fromAt * NUMBER_BYTES;
          const rowsEnd = firstRow + Math.ceil(rows / ROWS) * ROWS * rowBytes;
          const out = to.byteOffset + toAt * NUMBER_BYTES;
          for (let first = 0; first < width / NEURONS; first++) {
            const at = placed.byteOffset + first * blockBytes;
            made(
              firstRow,
              rowsEnd,
              rowBytes,
              out + first * NEURON_BYTES,
              width * NUMBER_BYTES,
              at,
              at + blockBytes,
              least,
            );
          }
        },
      };
    },
    stepGates({
      units,
      rows,
      fromInput,
      fromInputAt,
      fromState,
      gateNumbers,
      state,
      to,
      toAt,
      toRowNumbers,
    }) {
      if (units % 4 !== 0) throw new RangeError('units: a multiple of 4');
      step(
        fromInput.byteOffset + fromInputAt * NUMBER_BYTES,
        fromState.byteOffset,
        state.byteOffset,
        state.byteOffset + rows * units * NUMBER_BYTES,
        to.byteOffset + toAt * NUMBER_BYTES,
        units * NUMBER_BYTES,
        gateNumbers * NUMBER_BYTES,
        toRowNumbers * NUMBER_BYTES,
      );
    },
    copyRows({ from, fromAt, fromRowNumbers, to, toAt, toRowNumbers, numbers, rows }) {
      const first = from.byteOffset + fromAt * NUMBER_BYTES;
      copy(
        first,
        first + rows * fromRowNumbers * NUMBER_BYTES,
        fromRowNumbers * NUMBER_BYTES,
        to.byteOffset + toAt * NUMBER_BYTES,
        toRowNumbers * NUMBER_BYTES,
        numbers * NUMBER_BYTES,
      );
    },
  };
}
