import { frameTransform } from '#server/media/signal/frame-transform.ts';
import {
  assemble,
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
import { loadModule } from '#server/media/wasm/load.ts';
import { fourOf, NUMBER_BYTES, VECTOR_BYTES, LANES, advance } from '#server/media/wasm/vectors.ts';

/** Most states that can be taken. */
const STATES = 3;
/** Added to divisors. */
const TINY = 1e-15;

/** The spectrum of a frame: arrays in the kernel's memory, of `bins` numbers rounded up to vectors. */
export interface KernelFrame {
  readonly re: Float32Array;
  readonly im: Float32Array;
  /** Power; from `firstBin` on, power over the assumed wind after `compare`. */
  readonly power: Float32Array;
  /** Assumed wind of the bins below `firstBin`. */
  readonly wind: Float32Array;
  readonly gain: Float32Array;
}

export interface WindKernelShape {
  /** Square root of the window that frames are multiplied by twice. */
  readonly window: Float64Array;
  /** Bins whose background is known, and bins whose gain is found elsewhere. */
  readonly floorBins: number;
  readonly firstBin: number;
}

/** The suppressor's work on each bin of a frame, in single precision and vector instructions. */
export interface WindKernel {
  /** Samples of the next frame. */
  readonly samples: Float32Array;
  /**
   * The most wind that a bin can have: by the background of the current frame, and by the wind's shape relative to its
   * level.
   */
  readonly background: Float32Array;
  readonly limits: Float32Array;
  /** Sum of the frames that were added. */
  readonly overlap: Float32Array;
  /** @throws RangeError when all frames are taken */
  takeFrame(): KernelFrame;
  /** A state for `follow`, initially zero; three may be taken. */
  takeState(): Float32Array;
  /** Computes spectrum and power of `samples`. */
  analyse(to: KernelFrame): void;
  /** Assumes as wind the lower of background and level times limit. */
  assume(frame: KernelFrame, level: number): void;
  /** Divides the power of the frame last passed to `assume` by its wind. */
  compare(frame: KernelFrame): void;
  /** Wiener's gain, with the ratio followed from one frame to the next. */
  follow(frame: KernelFrame, state: Float32Array): void;
  /**
   * The same from the next frame to the one before; the gain becomes the geometric mean of both, at least `gainFloor`.
   */
  followBack(frame: KernelFrame, state: Float32Array): void;
  /** For each bin, the histogram cell of its power over the level; overwritten by the next call. */
  cellsOf(frame: KernelFrame, level: number): Int32Array;
  /** Adds the frame of the spectrum times its gains to `overlap`. */
  add(frame: KernelFrame): void;
}

export interface FollowSettings {
  readonly memory: number;
  readonly leastRatio: number;
  readonly gainFloor: number;
}

/** Cells of the histogram of the natural logarithm of power over level; the first lies around `low`. */
export const CELLS = { low: -30, step: 0.1, count: 500 } as const;

/**
 * Makes kernels for frames as long as the window.
 * @returns a function of the number of frames that a kernel holds at once
 */
export function createWindKernelMaker(
  shape: WindKernelShape,
  settings: FollowSettings,
): (frames: number) => WindKernel {
  const { window, floorBins } = shape;
  const room = toVectors(window.length / 2 + 1);
  const first = toVectors(shape.firstBin);
  const known = toVectors(floorBins);
  // Frames multiplied by the window twice, at a quarter hop, add up to two.
  const transform = frameTransform(
    window,
    window.map((value) => value / 2),
  );
  const module = new WebAssembly.Module(
    assemble([
      ...transform.functions,
      assume(first),
      compare({ first, known, room }),
      cells(room),
      follow('follow', { first, room }, settings),
      follow('followBack', { first, room }, settings),
    ]),
  );
  return (frames) => {
    const layout = { size: window.length, room, first, known, floorBins };
    return createKernel(module, transform.tables, layout, frames);
  };
}

interface KernelLayout {
  readonly size: number;
  readonly room: number;
  readonly first: number;
  readonly known: number;
  readonly floorBins: number;
}

function createKernel(
  module: WebAssembly.Module,
  tables: Float32Array,
  { size, room, first, known, floorBins }: KernelLayout,
  frames: number,
): WindKernel {
  const numbers = 2 * size + known + LANES + (1 + STATES) * room + frames * (4 * room + first);
  const { buffer, run } = loadModule(module, tables.byteLength + numbers * NUMBER_BYTES);
  new Float32Array(buffer).set(tables);
  let end = tables.byteLength;
  const take = (count: number) => {
    const taken = new Float32Array(buffer, end, count);
    end += count * NUMBER_BYTES;
    return taken;
  };
  const [samples, overlap] = [take(size), take(size)];
  const [background, limits, level] = [take(known), take(room), take(LANES)];
  // If the background is unknown, only the limit counts.
  background.fill(Number.POSITIVE_INFINITY);
  const call = {
    load: run('load'),
    transform: run('transform'),
    toSpectrum: run('toSpectrum'),
    fromSpectrum: run('fromSpectrum'),
    addFrame: run('addFrame'),
    assume: run('assume'),
    compare: run('compare'),
    cells: run('cells'),
    follow: run('follow'),
    followBack: run('followBack'),
  };
  return {
    samples,
    overlap,
    background: background.subarray(0, floorBins),
    limits,
    takeState: () => take(room),
    takeFrame: () => ({
      re: take(room),
      im: take(room),
      power: take(room),
      gain: take(room),
      wind: take(first),
    }),
    analyse({ re, im, power }) {
      call.load(samples.byteOffset);
      call.transform();
      call.toSpectrum(re.byteOffset, im.byteOffset, power.byteOffset);
    },
    assume({ wind }, value) {
      level.fill(value);
      call.assume(wind.byteOffset, background.byteOffset, limits.byteOffset, level.byteOffset);
    },
    compare: ({ power }) =>
      call.compare(power.byteOffset, background.byteOffset, limits.byteOffset, level.byteOffset),
    follow: ({ power, gain }, state) => call.follow(power.byteOffset, gain.byteOffset, state.byteOffset),
    followBack: ({ power, gain }, state) =>
      call.followBack(power.byteOffset, gain.byteOffset, state.byteOffset),
    cellsOf({ power, gain }, value) {
      level.fill(value);
      // The memory for a frame's gains is free as long as it is not followed.
      call.cells(power.byteOffset, gain.byteOffset, level.byteOffset);
      return new Int32Array(buffer, gain.byteOffset, gain.length);
    },
    add({ re, im, gain }) {
      call.fromSpectrum(re.byteOffset, im.byteOffset, gain.byteOffset);
      call.transform();
      call.addFrame(overlap.byteOffset);
    },
  };
}

const toVectors = (count: number) => Math.ceil(count / LANES) * LANES;

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

/** (wind, background, limits, level) */
function assume(first: number): FunctionSource {
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

/** (power, background, limits, level) */
function compare({ first, known, room }: Bounds & { readonly known: number }): FunctionSource {
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

const FRACTION_BITS = 23;
const FRACTION = 0x7f_ff_ff;
const EXPONENT_BIAS = 127;

/** (power, cells, level) */
function cells(room: number): FunctionSource {
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

/** (ratio, gain, state) */
function follow(
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
