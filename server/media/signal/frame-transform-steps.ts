import { block, i32, repeatWhile, v128, type Code, type Local } from '../wasm/assemble.ts';
import {
  add,
  addTurned,
  complexAt,
  get,
  HIGH_HALVES,
  HIGH_IN_TURNS,
  load,
  LOW_HALVES,
  LOW_IN_TURNS,
  mul,
  set,
  store,
  sub,
  subTurned,
  type Complex,
  type Locals,
} from '../wasm/complex.ts';
import { NUMBER_BYTES, VECTOR_BYTES, LANES, advance } from '../wasm/vectors.ts';

/** Numbers for three factors, real and imaginary part of each. */
export const FACTOR_NUMBERS = 6;
/** Vectors that a step needs. */
export const STEP_VECTORS = 20;

/** One step of a transform. */
export interface Stage {
  /** How many numbers are still transformed together, and how many vectors lie between two of them. */
  readonly length: number;
  readonly stride: number;
  readonly factorsAt: number;
}

/** Variables of a step. */
export interface StepNumbers {
  readonly from: Local;
  readonly to: Local;
  readonly factors: Local;
  readonly stop: Local;
}

/** One radix-4 step from one pair of arrays to the other. */
export function fourStep(
  { length, stride, factorsAt }: Stage,
  [source, target]: readonly [Complex<number>, Complex<number>],
  { from, to, factors, stop }: StepNumbers,
  vectors: Locals,
): Code {
  const quarter = (length / 4) * stride * VECTOR_BYTES;
  const step = stride * VECTOR_BYTES;
  const [sumAC, lessAC, sumBD, lessBD] = [0, 1, 2, 3].map((place) => complexAt(vectors, place));
  const [b, d] = [complexAt(vectors, 4), complexAt(vectors, 5)];
  const turns = [6, 7, 8].map((place) => complexAt(vectors, place));
  const scratch = complexAt(vectors, 9);
  if (!sumAC || !lessAC || !sumBD || !lessBD) return [];
  const isTurned = length > 4;
  const write = (place: number, value: Complex<Code>): Code => {
    const turn = turns[place - 1];
    if (!turn || !isTurned) return store(to, target, place * step, value);
    return block(set(scratch, value), store(to, target, place * step, mul(get(scratch), get(turn))));
  };
  const readTurns = turns.map((turn, i) =>
    block(
      turn.re.set(v128.load32Splat(factors.get, 2 * i * NUMBER_BYTES)),
      turn.im.set(v128.load32Splat(factors.get, (2 * i + 1) * NUMBER_BYTES)),
    ),
  );
  const butterfly = block(
    set(b, load(from, source, 0)),
    set(d, load(from, source, 2 * quarter)),
    set(sumAC, add(get(b), get(d))),
    set(lessAC, sub(get(b), get(d))),
    set(b, load(from, source, quarter)),
    set(d, load(from, source, 3 * quarter)),
    set(sumBD, add(get(b), get(d))),
    set(lessBD, sub(get(b), get(d))),
    write(0, add(get(sumAC), get(sumBD))),
    write(1, subTurned(get(lessAC), get(lessBD))),
    write(2, sub(get(sumAC), get(sumBD))),
    write(3, addTurned(get(lessAC), get(lessBD))),
    advance(from, i32.const(VECTOR_BYTES)),
    advance(to, i32.const(VECTOR_BYTES)),
  );
  return block(
    from.set(i32.const(0)),
    to.set(i32.const(0)),
    factors.set(i32.const(factorsAt)),
    repeatWhile(
      i32.ltS(from.get, i32.const(quarter)),
      isTurned ? block(...readTurns) : [],
      stop.set(i32.add(from.get, i32.const(step))),
      repeatWhile(i32.ltS(from.get, stop.get), butterfly),
      advance(to, i32.const(3 * step)),
      advance(factors, i32.const(FACTOR_NUMBERS * NUMBER_BYTES)),
    ),
  );
}

/** The last step, for powers of two that are no powers of four. */
export function pairStep(
  { stride }: Stage,
  [source, target]: readonly [Complex<number>, Complex<number>],
  { from }: StepNumbers,
  vectors: Locals,
): Code {
  const step = stride * VECTOR_BYTES;
  const [a, b] = [complexAt(vectors, 0), complexAt(vectors, 1)];
  return block(
    from.set(i32.const(0)),
    repeatWhile(
      i32.ltS(from.get, i32.const(step)),
      set(a, load(from, source, 0)),
      set(b, load(from, source, step)),
      store(from, target, 0, add(get(a), get(b))),
      store(from, target, step, sub(get(a), get(b))),
      advance(from, i32.const(VECTOR_BYTES)),
    ),
  );
}

/** Joins four lanes, each the transform of every fourth number, into the transform of all. */
export function joinStep(
  rows: number,
  [source, target]: readonly [Complex<number>, Complex<number>],
  joining: Complex<number>,
  { from, to }: StepNumbers,
  vectors: Locals,
): Code {
  const quarter = rows * NUMBER_BYTES;
  const turned = [0, 1, 2, 3].map((row) => complexAt(vectors, row));
  const [a, b, c, d] = turned;
  const [low, high] = [complexAt(vectors, 4), complexAt(vectors, 5)];
  const [lowNext, highNext] = [complexAt(vectors, 6), complexAt(vectors, 7)];
  if (!a || !b || !c || !d) return [];
  const interleave = (x: Complex<Local>, y: Complex<Local>, order: readonly number[]): Complex<Code> => ({
    re: v128.pick(x.re.get, y.re.get, order),
    im: v128.pick(x.im.get, y.im.get, order),
  });
  return block(
    from.set(i32.const(0)),
    to.set(i32.const(0)),
    repeatWhile(
      i32.ltS(to.get, i32.const(quarter)),
      ...turned.map((row, i) =>
        block(
          set(low, load(from, source, i * VECTOR_BYTES)),
          set(row, mul(get(low), load(from, joining, i * VECTOR_BYTES))),
        ),
      ),
      // Rows of lanes become lanes of rows.
      set(low, interleave(a, b, LOW_IN_TURNS)),
      set(high, interleave(a, b, HIGH_IN_TURNS)),
      set(lowNext, interleave(c, d, LOW_IN_TURNS)),
      set(highNext, interleave(c, d, HIGH_IN_TURNS)),
      set(a, interleave(low, lowNext, LOW_HALVES)),
      set(b, interleave(low, lowNext, HIGH_HALVES)),
      set(c, interleave(high, highNext, LOW_HALVES)),
      set(d, interleave(high, highNext, HIGH_HALVES)),
      set(low, add(get(a), get(c))),
      set(high, sub(get(a), get(c))),
      set(lowNext, add(get(b), get(d))),
      set(highNext, sub(get(b), get(d))),
      store(to, target, 0, add(get(low), get(lowNext))),
      store(to, target, quarter, subTurned(get(high), get(highNext))),
      store(to, target, 2 * quarter, sub(get(low), get(lowNext))),
      store(to, target, 3 * quarter, addTurned(get(high), get(highNext))),
      advance(from, i32.const(LANES * VECTOR_BYTES)),
      advance(to, i32.const(VECTOR_BYTES)),
    ),
  );
}
