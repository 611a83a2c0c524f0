import { assemble, block, f32x4, i32, repeatWhile, v128, type FunctionSource } from './wasm/assemble.ts';
import { loadModule } from './wasm/load.ts';
import { advance } from './wasm/vectors.ts';

const NUMBER_BYTES = 4;
const VECTOR_BYTES = 16;
/** Neurons that are summed at once; layers are filled up to a multiple of it. */
const NEURONS = 16;
const NEURON_BYTES = NEURONS * NUMBER_BYTES;
/** Rows that are summed at once, so that each weight is read once for both. */
const ROWS = 2;

/**
 * (rows, rowsEnd, rowBytes, out, outRowBytes, weights, weightsEnd): sixteen neurons of a rectified linear layer for
 * two rows at a time. Weights: the sixteen biases, then for each input its sixteen weights.
 */
const rectifiedLayer: FunctionSource = {
  name: 'rectifiedLayer',
  result: null,
  body: (scope) => {
    const rows = scope.param('i32');
    const rowsEnd = scope.param('i32');
    const rowBytes = scope.param('i32');
    const out = scope.param('i32');
    const outRowBytes = scope.param('i32');
    const weights = scope.param('i32');
    const weightsEnd = scope.param('i32');
    const a = scope.local('i32');
    const b = scope.local('i32');
    const at = scope.local('i32');
    const valueA = scope.local('v128');
    const valueB = scope.local('v128');
    const weight = scope.local('v128');
    const offsets = Array.from({ length: NEURON_BYTES / VECTOR_BYTES }, (_, i) => i * VECTOR_BYTES);
    const sumsA = offsets.map(() => scope.local('v128'));
    const sumsB = offsets.map(() => scope.local('v128'));
    const each = (make: (offset: number, i: number) => readonly number[]) => block(...offsets.map(make));
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
      each((offset, i) => v128.store(to.get, f32x4.most(sums[i]?.get ?? v128.zero, v128.zero), offset));
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
      finish(out, sumsA),
      advance(out, outRowBytes.get),
      finish(out, sumsB),
      advance(out, outRowBytes.get),
      advance(rows, i32.add(rowBytes.get, rowBytes.get)),
    );
  },
};

const MODULE = new WebAssembly.Module(assemble([rectifiedLayer]));

/** Rectified linear layers over many rows of inputs at once. */
export interface DenseKernel {
  /** Rows of inputs, one behind the other, each `inputs` wide; filled by the caller. */
  readonly inputs: Float32Array;
  /** Rows of outputs of the last layer after `run`, each `outputWidth` wide. */
  readonly outputs: Float32Array;
  /** Neurons of the last layer, filled up with zeros. */
  readonly outputWidth: number;
  run(): void;
}

/**
 * Layers of neurons `max(0, bias + sum of weight * input)` (Glorot et al. 2011), in single precision.
 * @param rowCount rows that each `run` works on
 * @param layers first to last; each row the weights of one neuron, its bias last
 */
export function createDenseKernel(
  rowCount: number,
  inputs: number,
  layers: readonly Float32Array[],
): DenseKernel {
  const rows = Math.ceil(rowCount / ROWS) * ROWS;
  let end = 0;
  const take = (numbers: number) => {
    const at = end;
    end += Math.ceil((numbers * NUMBER_BYTES) / VECTOR_BYTES) * VECTOR_BYTES;
    return at;
  };
  const inputsAt = take(rows * inputs);
  let width = inputs;
  let paddedWidth = inputs;
  const plans = layers.map((layer) => {
    const neurons = layer.length / (width + 1);
    const padded = Math.ceil(neurons / NEURONS) * NEURONS;
    const plan = {
      layer,
      neurons,
      inputs: width,
      rowNumbers: paddedWidth,
      padded,
      blockNumbers: (paddedWidth + 1) * NEURONS,
      weightsAt: take((paddedWidth + 1) * padded),
      outAt: take(rows * padded),
    };
    width = neurons;
    paddedWidth = padded;
    return plan;
  });
  const { buffer, run } = loadModule(MODULE, end);
  const made = run('rectifiedLayer');
  for (const { layer, neurons, inputs: from, padded, blockNumbers, weightsAt } of plans) {
    const weights = new Float32Array(buffer, weightsAt, (blockNumbers / NEURONS) * padded);
    for (let n = 0; n < neurons; n++) {
      const column = Math.floor(n / NEURONS) * blockNumbers + (n % NEURONS);
      weights[column] = layer[n * (from + 1) + from] ?? 0;
      for (let i = 0; i < from; i++) weights[column + (i + 1) * NEURONS] = layer[n * (from + 1) + i] ?? 0;
    }
  }
  const outputsAt = plans.at(-1)?.outAt ?? inputsAt;
  return {
    inputs: new Float32Array(buffer, inputsAt, rows * inputs),
    outputs: new Float32Array(buffer, outputsAt, rows * paddedWidth),
    outputWidth: paddedWidth,
    run() {
      let rowsAt = inputsAt;
      for (const { rowNumbers, padded, blockNumbers, weightsAt, outAt } of plans) {
        const rowBytes = rowNumbers * NUMBER_BYTES;
        const blockBytes = blockNumbers * NUMBER_BYTES;
        for (let block = 0; block < padded / NEURONS; block++) {
          const from = weightsAt + block * blockBytes;
          const out = outAt + block * NEURON_BYTES;
          made(
            rowsAt,
            rowsAt + rows * rowBytes,
            rowBytes,
            out,
            padded * NUMBER_BYTES,
            from,
            from + blockBytes,
          );
        }
        rowsAt = outAt;
      }
    },
  };
}
