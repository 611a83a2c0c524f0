import {
  assemble,
  block,
  f64x2,
  i32,
  repeatWhile,
  v128,
  type Code,
  type FunctionSource,
  type Local,
} from './wasm/assemble.ts';
import { loadModule } from './wasm/load.ts';
import { advance } from './wasm/vectors.ts';

const NUMBER_BYTES = 8;
/** Values that are worked on at once. */
const LANES = 2;

export interface MedianShape {
  /** An odd number of rows that lie above each other. */
  readonly rows: number;
  /** Values of each row, at least a whole neighbourhood: `2 * reach + 1`. */
  readonly length: number;
  /** Neighbours to each side, in every row. */
  readonly reach: number;
}

export interface MedianKernel {
  /** A row to be written, `length` values that are not NaN. */
  row(place: number): Float64Array;
  /** For each place the median of its neighbourhood after `run`, overwritten by the next. */
  readonly medians: Float64Array;
  run(): void;
}

/**
 * Medians of the neighbourhoods of all places in some rows of numbers, exactly the values that sorting would give.
 * Near the ends a neighbourhood has fewer values; of an even number the upper of the two middle ones is taken.
 * A network without branches finds them, two places at once: of any (n + 3) / 2 of n values neither the least nor the
 * most can be the median, so both leave and the next value comes in, until the last three are left ("forgetful
 * selection": A. W. Paeth, "Median finding on a 3 x 3 grid", Graphics Gems, 1990).
 * @throws RangeError for an even number of rows, or for rows shorter than a neighbourhood
 */
export function createMedianKernel({ rows, length, reach }: MedianShape): MedianKernel {
  if (rows % 2 === 0) throw new RangeError('rows: an odd number');
  if (length <= 2 * reach) throw new RangeError('length: at least a whole neighbourhood');
  const even = Math.ceil(length / LANES) * LANES;
  const rowBytes = (even + 2 * reach) * NUMBER_BYTES;
  const endBytes = rows * rowBytes + even * NUMBER_BYTES;
  const module = new WebAssembly.Module(assemble([medians(rows, rowBytes, reach)]));
  const { buffer, run } = loadModule(module, endBytes);
  const made = run('medians');
  const numbers = (from: number, count: number) => new Float64Array(buffer, from, count);
  for (let row = 0; row < rows; row += 1) {
    fillEnds(numbers(row * rowBytes, even + 2 * reach), { row, rows, length, reach });
  }
  const written = Array.from({ length: rows }, (_, row) =>
    numbers(row * rowBytes + reach * NUMBER_BYTES, length),
  );
  return {
    row(place) {
      const found = written[place];
      if (!found) throw new RangeError(`no row ${place}`);
      return found;
    },
    medians: numbers(rows * rowBytes, length),
    run: () => made(rows * rowBytes, even),
  };
}

/**
 * Beyond the ends stand as many values below all others as above them, so that the median is that of the values
 * between: the rows take turns, and the one that is left over takes turns by place, the nearest being high.
 */
function fillEnds(
  values: Float64Array,
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

/** (out, count): the medians of the first `count` places, an even number; the rows stand at the start of the memory. */
function medians(rows: number, rowBytes: number, reach: number): FunctionSource {
  const offsets: number[] = [];
  for (let row = 0; row < rows; row += 1) {
    for (let at = 0; at <= 2 * reach; at += 1) offsets.push(row * rowBytes + at * NUMBER_BYTES);
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
      const load = (index: number) => v128.load(at.get, offsets[index]);
      const select: Code[] = values.map((value, index) => value.set(load(index)));
      let next = held;
      let kept = values;
      while (kept.length > 2) {
        const { code, between, free } = dropEnds(kept, scratch);
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
        advance(out, i32.const(LANES * NUMBER_BYTES)),
        advance(at, i32.const(LANES * NUMBER_BYTES)),
        advance(left, i32.const(-LANES)),
      );
    },
  };
}

/** Moves the least of some values to the first and the most to the last of them, which are then left out. */
function dropEnds(
  values: readonly Local[],
  scratch: Local,
): { readonly code: Code; readonly between: Local[]; readonly free: Local | undefined } {
  const code: Code[] = [];
  const order = (low: Local | undefined, high: Local | undefined) => {
    if (!low || !high || low === high) return;
    code.push(
      block(
        scratch.set(f64x2.least(low.get, high.get)),
        high.set(f64x2.most(low.get, high.get)),
        low.set(scratch.get),
      ),
    );
  };
  const count = values.length;
  const half = count >> 1;
  for (let i = 0; i < half; i += 1) order(values[i], values[count - 1 - i]);
  for (let i = 1; i < count - half; i += 1) order(values[0], values[i]);
  for (let i = half; i < count - 1; i += 1) order(values[i], values[count - 1]);
  return { code: code.flat(), between: values.slice(1, -1), free: values[0] };
}
