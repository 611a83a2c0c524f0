import {
  block,
  f32x4,
  i32,
  repeatWhile,
  v128,
  type Code,
  type FunctionSource,
  type Local,
} from '../wasm/assemble.ts';
import {
  add,
  addTurned,
  at,
  complexAt,
  EVEN,
  get,
  HIGH_IN_TURNS,
  load,
  LOW_IN_TURNS,
  mul,
  ODD,
  REVERSED,
  set,
  store,
  type Complex,
} from '../wasm/complex.ts';
import { NUMBER_BYTES, VECTOR_BYTES, LANES, fourOf, advance } from '../wasm/vectors.ts';
import {
  FACTOR_NUMBERS,
  fourStep,
  joinStep,
  pairStep,
  STEP_VECTORS,
  type Stage,
} from './frame-transform-steps.ts';

export interface FrameTransform {
  /**
   * `load` (frame): multiplies the frame by its window and stores it as complex numbers. `transform` (): transforms
   * those. `toSpectrum` (re, im, power): makes the spectrum of the real frame from the result. `fromSpectrum` (re, im,
   * gain) and, after `transform`, `addFrame` (out) lead back and add the frame to what is there.
   */
  readonly functions: readonly FunctionSource[];
  /** Memory from address 0 on: tables, and space for intermediate numbers. */
  readonly tables: Float32Array;
}

/**
 * Transforms of real frames and back in single precision (-140 dB), four numbers at a time. Each lane transforms every
 * fourth number (Stockham's order, radix 4, with a last step of radix 2 where needed; Cochran et al. 1967), a last
 * radix-4 step joins the lanes, and a real frame is a complex one of half its length (as in `createRealFft`).
 * @param window applied to frames of its length on the way there
 * @param back as many numbers, applied on the way back
 * @throws RangeError when the size is not a power of two of at least 32
 */
export function frameTransform(window: Float64Array, back: Float64Array): FrameTransform {
  const size = window.length;
  if (size < 32 || (size & (size - 1)) !== 0) throw new RangeError('window: a power of two of at least 32');
  const half = size / 2;
  const rows = half / LANES;
  let sizeBytes = 0;
  const take = (numbers: number) => {
    const at = sizeBytes;
    sizeBytes += Math.ceil(numbers / LANES) * VECTOR_BYTES;
    return at;
  };
  const pair = (numbers: number): Complex<number> => ({ re: take(numbers), im: take(numbers) });
  const windowAt = take(size);
  const backAt = take(size);
  // One extra vector, because the number behind the last is the first again.
  const [first, second] = [pair(half + LANES), pair(half + LANES)];
  const joining = pair(half);
  const turning = pair(half + LANES);
  const stages: Stage[] = [];
  for (let length = rows, stride = 1; length > 1; length /= 4, stride *= 4) {
    stages.push({ length, stride, factorsAt: take((FACTOR_NUMBERS * length) / 4) });
  }
  const [last, joined] = stages.length % 2 === 0 ? [first, second] : [second, first];
  const transform: FunctionSource = {
    name: 'transform',
    result: null,
    body: (scope) => {
      const local = () => scope.local('i32');
      const vector = () => scope.local('v128');
      const numbers = { from: local(), to: local(), factors: local(), stop: local() };
      const vectors = Array.from({ length: STEP_VECTORS }, vector);
      const steps = stages.map((stage, at) =>
        stage.length === 2
          ? pairStep(stage, at % 2 === 0 ? [first, second] : [second, first], numbers, vectors)
          : fourStep(stage, at % 2 === 0 ? [first, second] : [second, first], numbers, vectors),
      );
      return block(...steps, joinStep(rows, [last, joined], joining, numbers, vectors));
    },
  };
  const tables = new Float32Array(sizeBytes / NUMBER_BYTES);
  const write = (place: number, values: ArrayLike<number>) => tables.set(values, place / NUMBER_BYTES);
  const writeTurns = (place: Complex<number>, count: number, angle: (i: number) => number) => {
    write(
      place.re,
      Float32Array.from({ length: count }, (_, i) => Math.cos(angle(i))),
    );
    write(
      place.im,
      Float32Array.from({ length: count }, (_, i) => -Math.sin(angle(i))),
    );
  };
  write(windowAt, window);
  write(
    backAt,
    back.map((value) => value / half),
  );
  writeTurns(joining, half, (i) => (2 * Math.PI * (i % LANES) * Math.floor(i / LANES)) / half);
  writeTurns(turning, half, (i) => (2 * Math.PI * i) / size);
  for (const { length, factorsAt } of stages) {
    const factors = Array.from({ length: Math.floor(length / 4) }, (_, p) =>
      [1, 2, 3].flatMap((times) => {
        const angle = (2 * Math.PI * p * times) / length;
        return [Math.cos(angle), -Math.sin(angle)];
      }),
    );
    write(factorsAt, factors.flat());
  }
  return {
    functions: [
      loadFrame(size, windowAt, first),
      transform,
      toSpectrum(half, joined, turning),
      fromSpectrum(half, first, turning),
      addFrame(size, backAt, joined),
    ],
    tables,
  };
}

function loadFrame(size: number, windowAt: number, target: Complex<number>): FunctionSource {
  return {
    name: 'load',
    result: null,
    body: (scope) => {
      const frame = scope.param('i32');
      const from = scope.local('i32');
      const to = scope.local('i32');
      const [low, high] = [scope.local('v128'), scope.local('v128')];
      const windowed = (offset: number) =>
        f32x4.mul(v128.load(frame.get, offset), v128.load(from.get, windowAt + offset));
      return repeatWhile(
        i32.ltS(from.get, i32.const(size * NUMBER_BYTES)),
        low.set(windowed(0)),
        high.set(windowed(VECTOR_BYTES)),
        store(to, target, 0, {
          re: v128.pick(low.get, high.get, EVEN),
          im: v128.pick(low.get, high.get, ODD),
        }),
        advance(frame, i32.const(2 * VECTOR_BYTES)),
        advance(from, i32.const(2 * VECTOR_BYTES)),
        advance(to, i32.const(VECTOR_BYTES)),
      );
    },
  };
}

const half = fourOf(0.5);

const mirrored = (address: Local, place: Complex<number>, offset: number): Complex<Code> => {
  const reversed = (value: Code) => v128.pick(value, v128.zero, REVERSED);
  const { re, im } = load(address, place, offset);
  return { re: reversed(re), im: reversed(im) };
};

/** Spectrum of the real frame from the transform of its numbers taken in pairs. */
function toSpectrum(count: number, source: Complex<number>, turning: Complex<number>): FunctionSource {
  const end = count * NUMBER_BYTES;
  return {
    name: 'toSpectrum',
    result: null,
    body: (scope) => {
      const [reAt, imAt, powerAt] = [scope.param('i32'), scope.param('i32'), scope.param('i32')];
      const [from, mirror] = [scope.local('i32'), scope.local('i32')];
      const vectors = Array.from({ length: 8 }, () => scope.local('v128'));
      const [z, m, even, odd] = [0, 1, 2, 3].map((place) => complexAt(vectors, place));
      if (!z || !m || !even || !odd) return [];
      const write = block(
        v128.store(reAt.get, z.re.get),
        v128.store(imAt.get, z.im.get),
        v128.store(powerAt.get, f32x4.add(f32x4.mul(z.re.get, z.re.get), f32x4.mul(z.im.get, z.im.get))),
      );
      return block(
        // The number behind the last is the first.
        ...[source.re, source.im].map((place) =>
          i32.store(i32.const(place), i32.load(i32.const(place)), end),
        ),
        from.set(i32.const(0)),
        mirror.set(i32.const(end - 3 * NUMBER_BYTES)),
        repeatWhile(
          i32.ltS(from.get, i32.const(end)),
          set(z, load(from, source, 0)),
          set(m, mirrored(mirror, source, 0)),
          set(even, {
            re: f32x4.mul(half, f32x4.add(z.re.get, m.re.get)),
            im: f32x4.mul(half, f32x4.sub(z.im.get, m.im.get)),
          }),
          set(odd, {
            re: f32x4.mul(half, f32x4.add(z.im.get, m.im.get)),
            im: f32x4.mul(half, f32x4.sub(m.re.get, z.re.get)),
          }),
          set(z, add(get(even), mul(get(odd), load(from, turning, 0)))),
          write,
          ...[reAt, imAt, powerAt, from].map((place) => advance(place, i32.const(VECTOR_BYTES))),
          advance(mirror, i32.const(-VECTOR_BYTES)),
        ),
        // The middle of the circle is the alternating sum, which is real.
        z.re.set(
          f32x4.sub(v128.load32Splat(i32.const(0), source.re), v128.load32Splat(i32.const(0), source.im)),
        ),
        z.im.set(v128.zero),
        write,
      );
    },
  };
}

/**
 * What `transform` turns into the frame. Its real and imaginary parts are exchanged, which makes a transform its own
 * inverse.
 */
function fromSpectrum(count: number, target: Complex<number>, turning: Complex<number>): FunctionSource {
  const end = count * NUMBER_BYTES;
  return {
    name: 'fromSpectrum',
    result: null,
    body: (scope) => {
      const [reAt, imAt, gainAt] = [scope.param('i32'), scope.param('i32'), scope.param('i32')];
      const [from, mirror] = [scope.local('i32'), scope.local('i32')];
      const vectors = Array.from({ length: 10 }, () => scope.local('v128'));
      const [x, m, even, odd] = [0, 1, 2, 3].map((place) => complexAt(vectors, place));
      const gain = at(vectors, 8);
      if (!x || !m || !even || !odd) return [];
      const reversed = (base: Local): Code =>
        v128.pick(v128.load(i32.add(base.get, mirror.get)), v128.zero, REVERSED);
      const here = (base: Local): Code => v128.load(i32.add(base.get, from.get));
      return block(
        mirror.set(i32.const(end - 3 * NUMBER_BYTES)),
        repeatWhile(
          i32.ltS(from.get, i32.const(end)),
          gain.set(f32x4.mul(half, here(gainAt))),
          set(x, { re: f32x4.mul(gain.get, here(reAt)), im: f32x4.mul(gain.get, here(imAt)) }),
          gain.set(f32x4.mul(half, reversed(gainAt))),
          set(m, { re: f32x4.mul(gain.get, reversed(reAt)), im: f32x4.mul(gain.get, reversed(imAt)) }),
          set(even, { re: f32x4.add(x.re.get, m.re.get), im: f32x4.sub(x.im.get, m.im.get) }),
          set(odd, { re: f32x4.sub(x.re.get, m.re.get), im: f32x4.add(x.im.get, m.im.get) }),
          // Here the angles of the table are used in the opposite direction.
          set(x, load(from, turning, 0)),
          x.im.set(f32x4.sub(v128.zero, x.im.get)),
          set(odd, mul(get(odd), get(x))),
          set(even, addTurned(get(even), get(odd))),
          store(from, { re: target.im, im: target.re }, 0, get(even)),
          advance(from, i32.const(VECTOR_BYTES)),
          advance(mirror, i32.const(-VECTOR_BYTES)),
        ),
      );
    },
  };
}

function addFrame(size: number, windowAt: number, source: Complex<number>): FunctionSource {
  return {
    name: 'addFrame',
    result: null,
    body: (scope) => {
      const out = scope.param('i32');
      const [from, to] = [scope.local('i32'), scope.local('i32')];
      const [re, im] = [scope.local('v128'), scope.local('v128')];
      const add = (offset: number, order: readonly number[]) =>
        v128.store(
          out.get,
          f32x4.add(
            v128.load(out.get, offset),
            f32x4.mul(v128.pick(re.get, im.get, order), v128.load(to.get, windowAt + offset)),
          ),
          offset,
        );
      return repeatWhile(
        i32.ltS(to.get, i32.const(size * NUMBER_BYTES)),
        re.set(v128.load(from.get, source.im)),
        im.set(v128.load(from.get, source.re)),
        add(0, LOW_IN_TURNS),
        add(VECTOR_BYTES, HIGH_IN_TURNS),
        advance(out, i32.const(2 * VECTOR_BYTES)),
        advance(to, i32.const(2 * VECTOR_BYTES)),
        advance(from, i32.const(VECTOR_BYTES)),
      );
    },
  };
}
