import {
  assemble,
  block,
  f64,
  f64x2,
  i32,
  repeatWhile,
  v128,
  when,
  type FunctionSource,
} from '../wasm/assemble.ts';
import { loadModule } from '../wasm/load.ts';
import { advance, swapHalves } from '../wasm/vectors.ts';

const NUMBER_BYTES = 8;
/** A complex number, real part first: one vector. */
const COMPLEX_BYTES = 16;
/** Two vectors for each angle: its cosine twice, then its sine with either sign. */
const ANGLE_BYTES = 2 * COMPLEX_BYTES;

/**
 * (frame, window, order, z, twiddles, angles, power, half, scale): power spectrum of a real frame by a complex
 * transform of half its size, with the same steps as `createRealFft`, so that every value is the same to the last bit.
 * `order` holds byte offsets into the frame; `z` has space for one number more than the transform.
 */
const powerSpectrum: FunctionSource = {
  name: 'powerSpectrum',
  result: null,
  body: (scope) => {
    const frame = scope.param('i32');
    const window = scope.param('i32');
    const order = scope.param('i32');
    const z = scope.param('i32');
    const twiddles = scope.param('i32');
    const angles = scope.param('i32');
    const power = scope.param('i32');
    const half = scope.param('i32');
    const scale = scope.param('f64');
    const end = scope.local('i32');
    const at = scope.local('i32');
    const from = scope.local('i32');
    const width = scope.local('i32');
    const stop = scope.local('i32');
    const mirror = scope.local('i32');
    const sum = scope.local('f64');
    const a = scope.local('v128');
    const b = scope.local('v128');
    const even = scope.local('v128');
    const odd = scope.local('v128');
    const scratch = scope.local('v128');
    const conjugate = v128.const([...bytesOf(1), ...bytesOf(-1)]);
    const halves = v128.const([...bytesOf(0.5), ...bytesOf(0.5)]);

    const gather = block(
      end.set(i32.add(z.get, i32.mul(half.get, i32.const(COMPLEX_BYTES)))),
      at.set(z.get),
      repeatWhile(
        i32.ltS(at.get, end.get),
        from.set(i32.load(order.get)),
        v128.store(
          at.get,
          f64x2.mul(v128.load(i32.add(frame.get, from.get)), v128.load(i32.add(window.get, from.get))),
        ),
        advance(order, i32.const(4)),
        advance(at, i32.const(COMPLEX_BYTES)),
      ),
    );
    const butterfly = block(
      b.set(v128.load(i32.add(at.get, width.get))),
      b.set(
        f64x2.add(
          f64x2.mul(b.get, v128.load(from.get)),
          f64x2.mul(swapHalves(b.get, scratch), v128.load(from.get, COMPLEX_BYTES)),
        ),
      ),
      a.set(v128.load(at.get)),
      v128.store(at.get, f64x2.add(a.get, b.get)),
      v128.store(i32.add(at.get, width.get), f64x2.sub(a.get, b.get)),
      advance(from, i32.const(ANGLE_BYTES)),
      advance(at, i32.const(COMPLEX_BYTES)),
    );
    const transform = block(
      width.set(i32.const(COMPLEX_BYTES)),
      repeatWhile(
        i32.ltS(width.get, i32.sub(end.get, z.get)),
        at.set(z.get),
        repeatWhile(
          i32.ltS(at.get, end.get),
          from.set(twiddles.get),
          stop.set(i32.add(at.get, width.get)),
          repeatWhile(i32.ltS(at.get, stop.get), butterfly),
          advance(at, width.get),
        ),
        advance(twiddles, i32.mul(width.get, i32.const(ANGLE_BYTES / COMPLEX_BYTES))),
        advance(width, width.get),
      ),
    );
    const separate = block(
      v128.store(end.get, v128.load(z.get)),
      at.set(z.get),
      mirror.set(end.get),
      repeatWhile(
        i32.ltS(at.get, i32.add(end.get, i32.const(1))),
        a.set(v128.load(at.get)),
        b.set(v128.load(mirror.get)),
        even.set(f64x2.mul(f64x2.add(a.get, f64x2.mul(b.get, conjugate)), halves)),
        odd.set(
          f64x2.mul(
            f64x2.add(f64x2.mul(swapHalves(a.get, scratch), conjugate), swapHalves(b.get, scratch)),
            halves,
          ),
        ),
        a.set(
          f64x2.add(
            f64x2.add(even.get, f64x2.mul(v128.load(angles.get), odd.get)),
            f64x2.mul(v128.load(angles.get, COMPLEX_BYTES), swapHalves(odd.get, scratch)),
          ),
        ),
        a.set(f64x2.mul(a.get, a.get)),
        sum.set(f64.add(f64x2.lane(a.get, 0), f64x2.lane(a.get, 1))),
        // All bins except the first and the last count for both sides.
        when(i32.ltS(z.get, at.get), when(i32.ltS(at.get, end.get), sum.set(f64.add(sum.get, sum.get)))),
        f64.store(power.get, f64.div(sum.get, scale.get)),
        advance(power, i32.const(NUMBER_BYTES)),
        advance(angles, i32.const(ANGLE_BYTES)),
        advance(at, i32.const(COMPLEX_BYTES)),
        advance(mirror, i32.const(-COMPLEX_BYTES)),
      ),
    );
    return block(gather, transform, separate);
  },
};

const MODULE = new WebAssembly.Module(assemble([powerSpectrum]));

export interface SpectrumKernel {
  /** Where the next frame is written. */
  readonly frame: Float64Array;
  /** Power of each bin after `run`, overwritten by the next. */
  readonly power: Float64Array;
  run(): void;
}

/**
 * Power spectra of windowed frames of one size, one-sided, each bin divided by `scale`.
 * @param window as many values as a frame has samples, a power of two of at least 4
 */
export function createSpectrumKernel(window: Float64Array, scale: number): SpectrumKernel {
  const size = window.length;
  const half = size / 2;
  let end = 0;
  const take = (bytes: number) => {
    const at = end;
    end += Math.ceil(bytes / COMPLEX_BYTES) * COMPLEX_BYTES;
    return at;
  };
  const at = {
    frame: take(size * NUMBER_BYTES),
    window: take(size * NUMBER_BYTES),
    order: take(half * 4),
    z: take((half + 1) * COMPLEX_BYTES),
    twiddles: take(half * ANGLE_BYTES),
    angles: take((half + 1) * ANGLE_BYTES),
    power: take((half + 1) * NUMBER_BYTES),
  };
  const { buffer, run } = loadModule(MODULE, end);
  const made = run('powerSpectrum');
  const numbers = (from: number, length: number) => new Float64Array(buffer, from, length);
  const angle = (k: number) => {
    const [c, s] = [Math.cos((2 * Math.PI * k) / size), Math.sin((2 * Math.PI * k) / size)];
    return [c, c, s, -s];
  };
  numbers(at.window, size).set(window);
  new Int32Array(buffer, at.order, half).set(
    Array.from({ length: half }, (_, i) => reversed(i, Math.log2(half)) * COMPLEX_BYTES),
  );
  const steps: number[] = [];
  for (let width = 1; width < half; width *= 2) {
    for (let k = 0; k < width; k += 1) steps.push(...angle((k * half) / width));
  }
  numbers(at.twiddles, steps.length).set(steps);
  const turns = Array.from({ length: half }, (_, k) => angle(k)).flat();
  numbers(at.angles, turns.length + 4).set([...turns, -1, -1, 0, 0]);
  const { frame, window: windowAt, order, z, twiddles, angles, power } = at;
  return {
    frame: numbers(frame, size),
    power: numbers(power, half + 1),
    run: () => made(frame, windowAt, order, z, twiddles, angles, power, half, scale),
  };
}

function reversed(value: number, bits: number): number {
  let out = 0;
  for (let bit = 0; bit < bits; bit += 1) if (value & (1 << bit)) out |= 1 << (bits - 1 - bit);
  return out;
}

/** The eight bytes of a double, lowest first. */
function bytesOf(value: number): number[] {
  return [...new Uint8Array(Float64Array.of(value).buffer)];
}
