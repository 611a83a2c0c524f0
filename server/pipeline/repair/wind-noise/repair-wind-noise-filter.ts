import { createSparseSpectralFloor } from '#server/media/signal/signal-floor.ts';
import { hannWindow } from '#server/media/signal/signal-frames.ts';
import { createFeatureMaker, GAIN_BINS, type FrameView } from './repair-wind-noise-features.ts';
import { createWindKernelMaker, type KernelFrame } from './repair-wind-noise-kernel.ts';
import {
  createGainRunner,
  readGainNetwork,
  VIEWS_BEFORE,
  type GainRunner,
} from './repair-wind-noise-network.ts';

/**
 * Settings of the suppressor. Found by random search on real microphone wind mixed with real speech at 0 dB (SI-SDR
 * over pairs of four winds and seven voices; the search used other stretches than the tests).
 */
export const SUPPRESSOR = {
  /** Frame length, ms: long enough to separate the harmonics of a deep voice. */
  frameMs: 85,
  /** Background median: +- this many Hz around a bin. */
  floorHalfHz: 80,
  /** Assumed wind power as a multiple of the background. */
  overSubtraction: 2,
  /** Weight of the neighbouring frame in the signal-to-wind estimate (decision-directed, Ephraim and Malah 1984). */
  memory: 0.86,
  /**
   * Lowest gain: -28 dB keeps a trace of the place instead of holes. The network recognises wind better and may go
   * lower.
   */
  gainFloor: 0.04,
  networkFloor: 0.02,
  /** From this ratio of power to assumed wind on (35 dB), nothing is removed. */
  clearRatio: Math.exp(8),
  /** Smallest assumed signal-to-wind ratio. */
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
  /** Below every voice, Hz; what deep wind has here is removed completely. */
  deepHz: 55,
  /**
   * Wind is deep if the power below `deepHz` exceeds the assumed wind in the level band by this factor (1 dB, means
   * over the windy stretches). It is 3 to 19 dB in wind straight on a microphone without a high-pass, under eight
   * voices, and -42 to -0.8 dB under the same voices in seven other winds. The network was trained on such winds and
   * takes a swell down there for a voice.
   */
  deepRatio: 1.26,
  /**
   * It must also be this much of everything above (-6 dB): -4 to 3 dB in that wind; rumble of a quiet room under a
   * voice has -11 and less.
   */
  deepShare: 0.25,
} as const;

/** Shape of a clip's wind: power of each bin relative to the level of the band 100-500 Hz. */
export interface WindShape {
  readonly rateHz: number;
  readonly relative: Float64Array;
  /** Whether most of its power lies below `SUPPRESSOR.deepHz`. */
  readonly isDeep: boolean;
}

/** Frame length for a sample rate: the power of two nearest `SUPPRESSOR.frameMs`. */
export function frameLength(rateHz: number): number {
  return 2 ** Math.round(Math.log2((SUPPRESSOR.frameMs / 1000) * rateHz));
}

/** Sizes and tables that learning and suppressing share. */
export function createLayout(rateHz: number) {
  const size = frameLength(rateHz);
  const bins = size / 2 + 1;
  const floorBins = Math.min(bins, Math.ceil((SUPPRESSOR.floorLimitHz * size) / rateHz));
  const halfBins = Math.max(1, Math.round((SUPPRESSOR.floorHalfHz * size) / rateHz));
  const levelFirst = Math.ceil((SUPPRESSOR.levelLowHz * size) / rateHz);
  const levelEnd = Math.ceil((SUPPRESSOR.levelHighHz * size) / rateHz);
  const deepBins = Math.ceil((SUPPRESSOR.deepHz * size) / rateHz);
  const firstBin = Math.min(GAIN_BINS, bins);
  const window = hannWindow(size).map(Math.sqrt);
  return {
    rateHz,
    size,
    bins,
    floorBins,
    deepBins,
    /** The network sets the gain of all bins below this one. */
    firstBin,
    createKernel: createWindKernelMaker({ window, floorBins, firstBin }, SUPPRESSOR),
    createFloor: () => createSparseSpectralFloor(floorBins, halfBins),
    /** Assumed wind in the level band. */
    levelOf(background: Float32Array): number {
      let level = 0;
      for (let k = levelFirst; k < levelEnd; k++) level += background[k] ?? 0;
      return SUPPRESSOR.overSubtraction * level;
    },
  };
}

export type WindLayout = ReturnType<typeof createLayout>;

export interface WindSuppressor {
  /** Takes samples of one channel and returns cleaned samples in order, some seconds later. */
  push(samples: Float32Array): Float32Array;
  /** The samples still inside; after this, as many came out as went in. */
  flush(): Float32Array;
}

interface Frame {
  /** Its memory is reused once it has been rendered. */
  readonly bins: KernelFrame;
  /** Its memory is reused as soon as no current frame looks back at it. */
  readonly view: FrameView;
}

/** Frames that are rendered at once, and frames after them that the gains of the last ones depend on. */
const BLOCK = 192;
const LOOKAHEAD = 32;

/** Makes suppressors for one sample rate, which share the network and its tables; they may be used alternately. */
export function createSuppressorMaker(rateHz: number): (shape: WindShape) => WindSuppressor {
  const layout = createLayout(rateHz);
  const runner = createGainRunner(readGainNetwork(), BLOCK + LOOKAHEAD);
  return (shape) => createSuppressor(layout, runner, shape);
}

/** A single suppressor. */
export function createWindSuppressor(rateHz: number, shape: WindShape): WindSuppressor {
  return createSuppressorMaker(rateHz)(shape);
}

/**
 * Removes wind from one channel. The assumed wind of a frame is the lower of its own smooth background and the learnt
 * shape at the frame's level. Up to 1.5 kHz, where wind covers voices, a recurrent network sets the gain from the
 * ratios around, the pitch, and the frames before and after. Above, the gain is Wiener's, with the ratio followed
 * forwards and backwards in time (geometric mean of both gains), so that neither the start nor the end of a word is
 * lost. Sample n out is sample n in: nothing is delayed or moved.
 */
function createSuppressor(layout: WindLayout, runner: GainRunner, shape: WindShape): WindSuppressor {
  const { size, bins, floorBins, firstBin } = layout;
  const hop = size / 4;
  const floor = layout.createFloor();
  const maker = createFeatureMaker(bins);
  const remembered = runner.begin();
  // One more frame waits for its neighbour.
  const kernel = layout.createKernel(BLOCK + LOOKAHEAD + 1);
  const [forward, before, backward] = [kernel.takeState(), kernel.takeState(), kernel.takeState()];
  const { samples: store, overlap } = kernel;
  const headroom = (_: number, k: number) => (k < floorBins ? SUPPRESSOR.shapeHeadroom : 1);
  kernel.limits.set(shape.relative.map((limit, k) => limit * headroom(limit, k)));
  const free: KernelFrame[] = [];
  const freeViews: FrameView[] = [];
  let frames: Frame[] = [];
  let past: FrameView[] = [];
  let waiting: KernelFrame | null = null;
  // The stream is preceded by one frame of silence, so that its first sample is fully covered.
  let filled = size;
  let skip = size;
  let taken = 0;
  let given = 0;

  const assumeWind = (frame: KernelFrame, background: Float32Array) => {
    const level = layout.levelOf(background);
    for (let k = 0; k < floorBins; k++) {
      kernel.background[k] = SUPPRESSOR.overSubtraction * (background[k] ?? 0);
    }
    kernel.assume(frame, level);
    const view = freeViews.pop() ?? maker.empty();
    maker.write(frame.power, frame.wind, level, view);
    kernel.compare(frame);
    frames.push({ bins: frame, view });
  };

  const analyse = () => {
    const next = free.pop() ?? kernel.takeFrame();
    kernel.analyse(next);
    const background = floor.push(next.power);
    if (background && waiting) assumeWind(waiting, background);
    waiting = next;
    store.copyWithin(0, hop);
    filled = size - hop;
  };

  const setVoiceGains = (count: number) => {
    const views = [...past, ...frames.map(({ view }) => view)];
    runner.run({ views, first: past.length, count }, remembered, (at, gains) => {
      const frame = frames[at];
      if (!frame) return;
      const { gain, power, wind } = frame.bins;
      for (let k = 0; k < firstBin; k++) {
        const clear = (power[k] ?? 0) >= SUPPRESSOR.clearRatio * (wind[k] ?? 0);
        gain[k] = clear ? 1 : Math.max(SUPPRESSOR.networkFloor, gains[k] ?? 0);
      }
      if (shape.isDeep) gain.fill(0, 0, layout.deepBins);
    });
  };

  const render = (frame: KernelFrame, out: Float32Array, at: number): number => {
    kernel.add(frame);
    const from = Math.min(skip, hop);
    skip -= from;
    const written = Math.min(hop - from, taken - given);
    given += written;
    out.set(overlap.subarray(from, from + written), at);
    overlap.copyWithin(0, hop);
    overlap.fill(0, size - hop);
    return written;
  };

  const renderBlock = (count: number): Float32Array => {
    const out = new Float32Array(count * hop);
    let written = 0;
    for (const [i, { bins: frame }] of frames.entries()) {
      // What comes after the block is followed again with the next one.
      if (i === count) before.set(forward);
      kernel.follow(frame, i < count ? forward : before);
    }
    backward.fill(0);
    for (const { bins: frame } of frames.toReversed()) kernel.followBack(frame, backward);
    setVoiceGains(count);
    const done = frames.slice(0, count);
    for (const { bins: frame } of done) written += render(frame, out, written);
    free.push(...done.map(({ bins: frame }) => frame));
    const seen = [...past, ...done.map(({ view }) => view)];
    past = seen.slice(-VIEWS_BEFORE);
    freeViews.push(...seen.slice(0, -VIEWS_BEFORE));
    frames = frames.slice(count);
    return out.subarray(0, written);
  };

  const feed = (samples: Float32Array): Float32Array[] => {
    const pieces: Float32Array[] = [];
    for (let at = 0; at < samples.length;) {
      if (filled === size) analyse();
      if (frames.length === BLOCK + LOOKAHEAD) pieces.push(renderBlock(BLOCK));
      const count = Math.min(samples.length - at, size - filled);
      store.set(samples.subarray(at, at + count), filled);
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
      const pieces: Float32Array[] = [];
      const silence = new Float32Array(hop);
      // One frame of silence completes the last sample; two more hops free the frames that wait for a neighbour.
      for (let i = 0; i < 4 + 3; i++) pieces.push(...feed(silence));
      pieces.push(renderBlock(frames.length));
      return concat(pieces);
    },
  };
}

function concat(pieces: readonly Float32Array[]): Float32Array {
  const [only] = pieces;
  if (pieces.length === 1 && only) return only;
  const joined = new Float32Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    joined.set(piece, at);
    at += piece.length;
  }
  return joined;
}
