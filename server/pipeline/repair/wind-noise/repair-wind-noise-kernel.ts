import { frameTransform } from '#server/media/signal/frame-transform.ts';
import { assemble } from '#server/media/wasm/assemble.ts';
import { loadModule } from '#server/media/wasm/load.ts';
import { LANES, NUMBER_BYTES } from '#server/media/wasm/vectors.ts';
import { assume, cells, compare, follow, type FollowSettings } from './repair-wind-noise-kernel-steps.ts';

/** Most states that can be taken. */
const STATES = 3;
/** The spectrum of a frame: arrays in the kernel's memory, of `bins` numbers rounded up to vectors. */
export interface KernelFrame {
  readonly re: Float32Array;
  readonly im: Float32Array;
  /** Power; from `networkBins` on, power over the assumed wind after `compare`. */
  readonly power: Float32Array;
  /** Assumed wind of the bins below `networkBins`. */
  readonly wind: Float32Array;
  readonly gain: Float32Array;
}

export interface WindKernelShape {
  /** Square root of the window that frames are multiplied by twice. */
  readonly window: Float64Array;
  /** Number of bins, from 0 Hz on, whose background is known. */
  readonly floorBins: number;
  /** Number of bins, from 0 Hz on, whose gain is found elsewhere. */
  readonly networkBins: number;
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
  const first = toVectors(shape.networkBins);
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
  /** Samples of a frame. */
  readonly size: number;
  /** All bins, the network's, and those whose background is known, rounded up to vectors. */
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
  // What is taken below, and what `takeState` and `takeFrame` may take.
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
