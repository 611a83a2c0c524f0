import {
  assemble,
  block,
  f32x4,
  f64x2,
  i32,
  repeatWhile,
  v128,
  type Code,
  type FunctionSource,
  type Local,
} from '../wasm/assemble.ts';
import { loadModule } from '../wasm/load.ts';
import { VECTOR_BYTES, advance } from '../wasm/vectors.ts';

/** Lanes 0 and 2 of two vectors in a row. */
const EVERY_SECOND = [0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27];

export interface MedianShape {
  /** An odd number of rows that lie above each other. */
  readonly rows: number;
  /** Values of each row, at least a whole neighbourhood: `2 * reach + 1`. */
  readonly length: number;
  /** Neighbours to each side, in every row. */
  readonly reach: number;
}

export interface MedianKernel<Numbers> {
  /** A row to be written, `length` values that are not NaN. */
  row(place: number): Numbers;
  /** For each place, or every second one, the median of its neighbourhood after `run`, overwritten by the next. */
  readonly medians: Numbers;
  run(): void;
}

/** How the values of a neighbourhood are read and compared. */
interface Lanes {
  readonly numberBytes: number;
  /** Places from one median to the next. */
  readonly stride: number;
  readonly load: (at: Local, offset: number) => Code;
  readonly least: (a: Code, b: Code) => Code;
  readonly most: (a: Code, b: Code) => Code;
}

const DOUBLE: Lanes = {
  numberBytes: 8,
  stride: 1,
  load: (at, offset) => v128.load(at.get, offset),
  least: f64x2.least,
  most: f64x2.most,
};

const SINGLE: Lanes = {
  numberBytes: 4,
  stride: 2,
  load: (at, offset) =>
    v128.pick(v128.load(at.get, offset), v128.load(at.get, offset + VECTOR_BYTES), EVERY_SECOND),
  least: f32x4.smaller,
  most: f32x4.larger,
};

/**
 * Medians of the neighbourhoods of all places in some rows of numbers, exactly as sorting would give them. Near the
 * ends a neighbourhood has fewer values; of an even number, the upper of the two middle ones is taken. A network
 * without branches finds them, two places at once. Of any (n + 3) / 2 of n values, neither the smallest nor the largest
 * can be the median, so both are dropped and the next value is taken in, until three are left ("forgetful selection":
 * A. W. Paeth, "Median finding on a 3 x 3 grid", Graphics Gems, 1990).
 * @throws RangeError for an even number of rows, or for rows shorter than a neighbourhood
 */
export function createMedianKernel(shape: MedianShape): MedianKernel<Float64Array> {
  return createKernel(shape, DOUBLE, (buffer, from, count) => new Float64Array(buffer, from, count));
}

/** The same for every second place and in single precision, four places at once. */
export function createSparseMedianKernel(shape: MedianShape): MedianKernel<Float32Array> {
  return createKernel(shape, SINGLE, (buffer, from, count) => new Float32Array(buffer, from, count));
}

function createKernel<Numbers extends Float32Array | Float64Array>(
  { rows, length, reach }: MedianShape,
  lanes: Lanes,
  numbers: (buffer: ArrayBuffer, from: number, count: number) => Numbers,
): MedianKernel<Numbers> {
  if (rows % 2 === 0) throw new RangeError('rows: an odd number');
  if (length <= 2 * reach) throw new RangeError('length: at least a whole neighbourhood');
  const { numberBytes, stride } = lanes;
  const atOnce = (VECTOR_BYTES / numberBytes) * stride;
  const places = Math.ceil(length / atOnce) * atOnce;
  const rowBytes = (places + 2 * reach) * numberBytes;
  const medianBytes = (places / stride) * numberBytes;
  const module = new WebAssembly.Module(assemble([medians(rows, rowBytes, reach, lanes)]));
  const { buffer, run } = loadModule(module, rows * rowBytes + medianBytes);
  const made = run('medians');
  for (let row = 0; row < rows; row += 1) {
    fillEnds(numbers(buffer, row * rowBytes, places + 2 * reach), { row, rows, length, reach });
  }
  const written = Array.from({ length: rows }, (_, row) =>
    numbers(buffer, row * rowBytes + reach * numberBytes, length),
  );
  return {
    row(place) {
      const found = written[place];
      if (!found) throw new RangeError(`no row ${place}`);
      return found;
    },
    medians: numbers(buffer, rows * rowBytes, Math.ceil(length / stride)),
    run: () => made(rows * rowBytes, places),
  };
}

/**
 * Fills the places beyond the ends with as many values below all others as above them, so that they do not change the
 * median. The rows alternate; the row that is left over alternates by place, high values nearest.
 */
function fillEnds(
  values: Float32Array | Float64Array,
  { row, rows, length, reach }: MedianShape & { readonly row: number },
): void {
  const { NEGATIVE_INFINITY: low, POSITIVE_INFINITY: high } = Number;
  for (let distance = 1; distance <= values.length - reach - length; distance += 1) {
    const turn = row === rows - 1 ? distance : row;
    const filling = turn % 2 === 1 ? high : low;
    if (distance <= reach) values[reach - distance] = filling;
    values[reach + length - 1 + distance] = filling;
  }
}

/**
 * (out, count): the medians of the first `count` places, whole vectors of them; the rows stand at the start of the
 * memory.
 */
function medians(rows: number, rowBytes: number, reach: number, lanes: Lanes): FunctionSource {
  const { numberBytes, stride } = lanes;
  const atOnce = (VECTOR_BYTES / numberBytes) * stride;
  const offsets: number[] = [];
  for (let row = 0; row < rows; row += 1) {
    for (let at = 0; at <= 2 * reach; at += 1) offsets.push(row * rowBytes + at * numberBytes);
  }
  return {
    name: 'medians',
    result: null,
    body: (scope) => {
      const out = scope.param('i32');
      const left = scope.param('i32');
      const at = scope.local('i32');
      const held = Math.min(offsets.length, (offsets.length + 3) >> 1);
      const values = Array.from({ length: held }, () => scope.local('v128'));
      const scratch = scope.local('v128');
      const load = (index: number) => lanes.load(at, offsets[index] ?? 0);
      const select: Code[] = values.map((value, index) => value.set(load(index)));
      let next = held;
      let kept = values;
      while (kept.length > 2) {
        const { code, between, free } = dropEnds(kept, scratch, lanes);
        select.push(code);
        kept = between;
        if (next < offsets.length && free) {
          select.push(free.set(load(next)));
          kept = [...kept, free];
          next += 1;
        }
      }
      const [median] = kept;
      return repeatWhile(
        i32.gtS(left.get, i32.const(0)),
        ...select,
        median ? v128.store(out.get, median.get) : [],
        advance(out, i32.const(VECTOR_BYTES)),
        advance(at, i32.const(stride * VECTOR_BYTES)),
        advance(left, i32.const(-atOnce)),
      );
    },
  };
}

/** Moves the smallest of some values to the first place and the largest to the last; both are then left out. */
function dropEnds(
  values: readonly Local[],
  scratch: Local,
  { least, most }: Lanes,
): { readonly code: Code; readonly between: Local[]; readonly free: Local | undefined } {
  const code: Code[] = [];
  const order = (low: Local | undefined, high: Local | undefined) => {
    if (!low || !high || low === high) return;
    code.push(
      block(scratch.set(least(low.get, high.get)), high.set(most(low.get, high.get)), low.set(scratch.get)),
    );
  };
  const count = values.length;
  const half = count >> 1;
  for (let i = 0; i < half; i += 1) order(values[i], values[count - 1 - i]);
  for (let i = 1; i < count - half; i += 1) order(values[0], values[i]);
  for (let i = half; i < count - 1; i += 1) order(values[i], values[count - 1]);
  return { code, between: values.slice(1, -1), free: values[0] };
}
