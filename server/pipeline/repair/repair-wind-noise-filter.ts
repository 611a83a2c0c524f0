import { createSpectralFloor } from '#server/media/signal-floor.ts';
import { hannWindow } from '#server/media/signal-frames.ts';
import { createSpectrumKernel } from '#server/media/signal-kernel.ts';
import { createFeatureMaker, type FrameView } from './repair-wind-noise-features.ts';
import { createGainRunner, readGainNetwork, VIEWS_BEFORE } from './repair-wind-noise-network.ts';

/**
 * Settings of the suppressor. Found by random search on real microphone wind mixed with real speech at 0 dB
 * (SI-SDR over pairs of four winds and seven voices; the search saw other stretches than the tests).
 */
export const SUPPRESSOR = {
  /** Frame length, ms: long enough to part the harmonics of a deep voice. */
  frameMs: 85,
  /** Background median: +- this many Hz around a bin. */
  floorHalfHz: 80,
  /** Background times this is the assumed wind power. */
  overSubtraction: 2,
  /** Weight of the neighbouring frame in the signal-to-wind estimate (decision-directed, Ephraim and Malah 1984). */
  memory: 0.86,
  /** Lowest gain: -28 dB keeps a trace of the place instead of holes; the network knows wind better. */
  gainFloor: 0.04,
  networkFloor: 0.02,
  /** From this ratio of power to assumed wind on (35 dB) nothing is taken away. */
  clearRatio: Math.exp(8),
  /** Smallest signal-to-wind ratio assumed. */
  leastRatio: 0.003,
  /** Wind follows the level of this band, Hz. */
  levelLowHz: 100,
  levelHighHz: 500,
  /** Above this only the learnt shape of the wind is subtracted, Hz. */
  floorLimitHz: 4000,
  /** The learnt shape is this percentile over time of power / level. */
  shapeQuantile: 0.15,
  /** The background may exceed the learnt shape by this factor. */
  shapeHeadroom: Math.exp(2),
} as const;

/** Shape of a clip's wind: power of each bin relative to the level of the band 100-500 Hz. */
export interface WindShape {
  readonly rateHz: number;
  readonly relative: Float64Array;
}

/** Frame length for a rate: the power of two nearest `SUPPRESSOR.frameMs`. */
export function frameLength(rateHz: number): number {
  return 2 ** Math.round(Math.log2((SUPPRESSOR.frameMs / 1000) * rateHz));
}

/** Sizes and tables that learning and suppressing share. */
export function createLayout(rateHz: number) {
  const size = frameLength(rateHz);
  const bins = size / 2 + 1;
  const hz = (bin: number) => (bin * rateHz) / size;
  const floorBins = Math.min(bins, Math.ceil((SUPPRESSOR.floorLimitHz * size) / rateHz));
  const halfBins = Math.max(1, Math.round((SUPPRESSOR.floorHalfHz * size) / rateHz));
  const levelFirst = Math.ceil((SUPPRESSOR.levelLowHz * size) / rateHz);
  const levelEnd = Math.ceil((SUPPRESSOR.levelHighHz * size) / rateHz);
  const window = hannWindow(size).map(Math.sqrt);
  return {
    size,
    createSpectrum: () => createTwoSided(window),
    hz,
    bins,
    floorBins,
    window,
    createFloor: () => createSpectralFloor(floorBins, halfBins, 2),
    /** Assumed wind in the level band. */
    levelOf(background: Float64Array): number {
      let level = 0;
      for (let k = levelFirst; k < levelEnd; k++) level += background[k] ?? 0;
      return SUPPRESSOR.overSubtraction * level;
    },
  };
}

export interface WindSuppressor {
  /** Samples of one channel in; cleaned samples out, in order, some seconds later. */
  push(samples: ArrayLike<number>): Float64Array;
  /** The samples still inside; after this exactly as many came out as went in. */
  flush(): Float64Array;
}

interface Frame {
  /** Real and imaginary parts in turns. */
  readonly spectrum: Float32Array;
  /** Power; above the network's bins, over the assumed wind from when that is known. */
  readonly power: Float32Array;
  readonly wind: Float32Array;
  readonly gain: Float32Array;
  view: FrameView | null;
}

/** Frames that are rendered at once, and frames behind them that the gains of the last ones depend on. */
const BLOCK = 192;
const LOOKAHEAD = 32;

/**
 * Takes wind out of one channel: the assumed wind of a frame is the lower of its own smooth background and
 * the learnt shape at the frame's level. Up to 1.5 kHz, where wind covers voices, a recurrent network sets the gain
 * from the ratios around, the pitch and what came before and behind; above it the gain is Wiener's, with the ratio
 * followed forward and backward in time (geometric mean of both gains), so that neither the start nor the end of a
 * word is eaten. Sample n out is sample n in: nothing is delayed or moved.
 */
export function createWindSuppressor(rateHz: number, shape: WindShape): WindSuppressor {
  const layout = createLayout(rateHz);
  const { size, bins, floorBins, window } = layout;
  const hop = size / 4;
  const floor = layout.createFloor();
  const maker = createFeatureMaker(bins);
  const runner = createGainRunner(readGainNetwork(), BLOCK + LOOKAHEAD);
  const kernel = layout.createSpectrum();
  // Hann-rooted frames, used twice, at a quarter hop add up to 2.
  const inverse = createInverse(window.map((value) => 0.5 * value));
  const store = new Float64Array(size);
  const overlap = new Float64Array(size);
  const forward = new Float64Array(bins);
  /** Rendered frames, whose arrays serve the next ones. */
  const free: Frame[] = [];
  let frames: Frame[] = [];
  let past: Frame[] = [];
  let waiting: Frame | null = null;
  // The stream is preceded by one frame of silence, so that its first sample is fully covered.
  let filled = size;
  let skip = size;
  let taken = 0;
  let given = 0;

  const assumeWind = (frame: Frame, background: Float64Array) => {
    const level = layout.levelOf(background);
    const { power, wind } = frame;
    for (let k = 0; k < bins; k++) {
      const limit = (shape.relative[k] ?? 0) * level;
      wind[k] =
        k < floorBins
          ? Math.min(SUPPRESSOR.overSubtraction * (background[k] ?? 0), limit * SUPPRESSOR.shapeHeadroom)
          : limit;
    }
    frame.view = maker.view(power, wind, level);
    for (let k = maker.bins; k < bins; k++) power[k] = (power[k] ?? 0) / ((wind[k] ?? 0) + 1e-15);
    frames.push(frame);
  };

  const analyse = () => {
    kernel.of(store);
    const background = floor.push(kernel.power);
    if (background && waiting) assumeWind(waiting, background);
    waiting = free.pop() ?? emptyFrame(bins);
    waiting.spectrum.set(kernel.spectrum);
    waiting.power.set(kernel.power);
    store.copyWithin(0, hop);
    filled = size - hop;
  };

  const follow = (frame: Frame, state: Float64Array, direction: 'forward' | 'backward') => {
    const { memory, leastRatio } = SUPPRESSOR;
    for (let k = maker.bins; k < bins; k++) {
      const posterior = frame.power[k] ?? 0;
      const ratio = Math.max(
        memory * (state[k] ?? 0) + (1 - memory) * Math.max(posterior - 1, 0),
        leastRatio,
      );
      const gain = ratio / (1 + ratio);
      state[k] = gain * gain * posterior;
      frame.gain[k] = direction === 'forward' ? gain : Math.sqrt((frame.gain[k] ?? 0) * gain);
    }
  };

  const setVoiceGains = (count: number) => {
    const views = [...past, ...frames].map(({ view }) => view).filter((view) => view !== null);
    runner.run({ views, first: past.length, count }, (at, gains) => {
      const frame = frames[at];
      if (!frame) return;
      const { gain, power, wind } = frame;
      for (let k = 0; k < maker.bins; k++) {
        const clear = (power[k] ?? 0) >= SUPPRESSOR.clearRatio * (wind[k] ?? 0);
        gain[k] = clear ? 1 : Math.max(SUPPRESSOR.networkFloor, gains[k] ?? 0);
      }
    });
  };

  const render = (frame: Frame, out: Float64Array, at: number): number => {
    const { gain, spectrum } = frame;
    for (let k = maker.bins; k < bins; k++) gain[k] = Math.max(gain[k] ?? 0, SUPPRESSOR.gainFloor);
    inverse.addTo(overlap, spectrum, gain);
    const from = Math.min(skip, hop);
    skip -= from;
    const written = Math.min(hop - from, taken - given);
    given += written;
    out.set(overlap.subarray(from, from + written), at);
    overlap.copyWithin(0, hop);
    overlap.fill(0, size - hop);
    return written;
  };

  const renderBlock = (count: number): Float64Array => {
    const out = new Float64Array(count * hop);
    let written = 0;
    const before = Float64Array.from(forward);
    for (const [i, frame] of frames.entries()) {
      follow(frame, i < count ? forward : before, 'forward');
      if (i === count - 1) before.set(forward);
    }
    const backward = new Float64Array(bins);
    for (let i = frames.length - 1; i >= 0; i--) {
      const frame = frames[i];
      if (frame) follow(frame, backward, 'backward');
    }
    setVoiceGains(count);
    for (const frame of frames.slice(0, count)) written += render(frame, out, written);
    const done = [...past, ...frames.slice(0, count)];
    free.push(...done.slice(0, -VIEWS_BEFORE));
    past = done.slice(-VIEWS_BEFORE);
    frames = frames.slice(count);
    return out.subarray(0, written);
  };

  const feed = (samples: ArrayLike<number>): Float64Array[] => {
    const pieces: Float64Array[] = [];
    for (let at = 0; at < samples.length;) {
      if (filled === size) analyse();
      if (frames.length === BLOCK + LOOKAHEAD) pieces.push(renderBlock(BLOCK));
      const count = Math.min(samples.length - at, size - filled);
      for (let i = 0; i < count; i++) store[filled + i] = samples[at + i] ?? 0;
      filled += count;
      at += count;
    }
    return pieces;
  };

  return {
    push(samples) {
      taken += samples.length;
      return concat(feed(samples));
    },
    flush() {
      const pieces: Float64Array[] = [];
      const silence = new Float64Array(hop);
      // One frame of silence completes the last sample, two more hops free the frames that wait for a neighbour.
      for (let i = 0; i < 4 + 3; i++) pieces.push(...feed(silence));
      pieces.push(renderBlock(frames.length));
      return concat(pieces);
    },
  };
}

/** Spectra of windowed frames; each power is that of one side, as all of them are set against each other. */
function createTwoSided(window: Float64Array) {
  const kernel = createSpectrumKernel(window, 2);
  const { power, spectrum } = kernel;
  return {
    power,
    spectrum,
    of(frame: Float64Array): void {
      kernel.frame.set(frame);
      kernel.run();
      for (const k of [0, power.length - 1]) power[k] = 2 * (power[k] ?? 0);
    },
  };
}

/**
 * Frames of spectra, windowed. A transform and its inverse are the same but for the scale when each bin is the real less the
 * imaginary part (Hartley 1942, Bracewell 1983), so the kernel that makes spectra makes frames of them too.
 */
function createInverse(window: Float64Array) {
  const size = window.length;
  const half = size / 2;
  const kernel = createSpectrumKernel(
    window.map(() => 1 / size),
    2,
  );
  const { frame, spectrum: turned } = kernel;
  return {
    /** @param spectrum real and imaginary part of each bin in turns, multiplied by `gain` */
    addTo(out: Float64Array, spectrum: Float32Array, gain: Float32Array): void {
      for (let k = 0; k <= half; k++) {
        const factor = gain[k] ?? 0;
        const re = factor * (spectrum[2 * k] ?? 0);
        const im = factor * (spectrum[2 * k + 1] ?? 0);
        frame[k] = re - im;
        if (k > 0) frame[size - k] = re + im;
      }
      // The middle is its own mirror, and has no imaginary part.
      frame[half] = (gain[half] ?? 0) * (spectrum[size] ?? 0);
      kernel.run();
      for (let n = 0; n <= half; n++) {
        const [re, im] = [turned[2 * n] ?? 0, turned[2 * n + 1] ?? 0];
        out[n] = (out[n] ?? 0) + (re - im) * (window[n] ?? 0);
        const mirror = size - n;
        if (n > 0 && n < half) out[mirror] = (out[mirror] ?? 0) + (re + im) * (window[mirror] ?? 0);
      }
    },
  };
}

function emptyFrame(bins: number): Frame {
  return {
    spectrum: new Float32Array(2 * bins),
    power: new Float32Array(bins),
    wind: new Float32Array(bins),
    gain: new Float32Array(bins),
    view: null,
  };
}

function concat(pieces: readonly Float64Array[]): Float64Array {
  const [only] = pieces;
  if (pieces.length === 1 && only) return only;
  const joined = new Float64Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    joined.set(piece, at);
    at += piece.length;
  }
  return joined;
}
