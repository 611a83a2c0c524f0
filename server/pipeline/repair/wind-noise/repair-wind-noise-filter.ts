import { createFeatureMaker, type FrameView } from './repair-wind-noise-features.ts';
import type { KernelFrame, WindKernel } from './repair-wind-noise-kernel.ts';
import { createLayout, SUPPRESSOR, type WindLayout, type WindShape } from './repair-wind-noise-layout.ts';
import { readGainNetwork } from './repair-wind-noise-network-sizes.ts';
import { createGainRunner, VIEWS_BEFORE, type GainRunner } from './repair-wind-noise-network.ts';

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

/** Frames begin at each quarter of a frame. */
const HOPS_A_FRAME = 4;
/** Frames that are rendered at once, and frames after them that the gains of the last ones depend on. */
const BLOCK = 192;
const LOOKAHEAD = 32;
/**
 * Hops of silence that bring the last sample out, five at the least: the last frame with that sample is complete after
 * four, waits for its neighbour one longer, and is taken when another sample follows.
 */
const FLUSH_HOPS = HOPS_A_FRAME + 3;

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
  // One more frame waits for its neighbour.
  const kernel = layout.createKernel(BLOCK + LOOKAHEAD + 1);
  kernel.limits.set(limitsOf(shape, layout));
  const analyser = createAnalyser(kernel, layout);
  const setWienerGains = createWienerGains(kernel);
  const setVoiceGains = createVoiceGains(runner, shape, layout);
  const output = createOutput(kernel, layout.size);
  let frames: Frame[] = [];

  const renderBlock = (count: number): Float32Array => {
    setWienerGains(frames, count);
    const freeViews = setVoiceGains(frames, count);
    const done = frames.slice(0, count).map(({ bins }) => bins);
    frames = frames.slice(count);
    const out = output.add(done);
    analyser.reuse(done, freeViews);
    return out;
  };

  const feed = (samples: Float32Array): Float32Array[] => {
    const pieces: Float32Array[] = [];
    for (let at = 0; at < samples.length;) {
      const frame = analyser.next();
      if (frame) frames.push(frame);
      if (frames.length === BLOCK + LOOKAHEAD) pieces.push(renderBlock(BLOCK));
      at += analyser.fill(samples.subarray(at));
    }
    return pieces;
  };

  return {
    push(samples) {
      output.expect(samples.length);
      return concat(feed(samples));
    },
    flush() {
      const pieces: Float32Array[] = [];
      const silence = new Float32Array(layout.size / HOPS_A_FRAME);
      for (let i = 0; i < FLUSH_HOPS; i++) pieces.push(...feed(silence));
      pieces.push(renderBlock(frames.length));
      return concat(pieces);
    },
  };
}

/** The most wind of each bin relative to the level; where the background is known too, the shape leaves headroom. */
function limitsOf({ relative }: WindShape, { floorBins }: WindLayout): Float64Array {
  return relative.map((power, k) => power * (k < floorBins ? SUPPRESSOR.shapeHeadroom : 1));
}

/** Cuts samples into frames, and finds the spectrum and the assumed wind of each. */
function createAnalyser(kernel: WindKernel, layout: WindLayout) {
  const { size, bins, floorBins } = layout;
  const floor = layout.createFloor();
  const features = createFeatureMaker(bins);
  const free: KernelFrame[] = [];
  const freeViews: FrameView[] = [];
  /** The newest frame; its background also depends on the next one. */
  let waiting: KernelFrame | null = null;
  // The stream is preceded by one frame of silence, so that its first sample is fully covered.
  let filled = size;

  const assumeWind = (frame: KernelFrame, background: Float32Array): Frame => {
    const level = layout.levelOf(background);
    for (let k = 0; k < floorBins; k++) {
      kernel.background[k] = SUPPRESSOR.overSubtraction * (background[k] ?? 0);
    }
    kernel.assume(frame, level);
    const view = freeViews.pop() ?? features.empty();
    features.write(frame.power, frame.wind, level, view);
    kernel.compare(frame);
    return { bins: frame, view };
  };

  return {
    /** The frame before the newest, once that is complete; null while samples are missing. */
    next(): Frame | null {
      if (filled < size) return null;
      const newest = free.pop() ?? kernel.takeFrame();
      kernel.analyse(newest);
      const background = floor.push(newest.power);
      const frame = background && waiting && assumeWind(waiting, background);
      waiting = newest;
      const hop = size / HOPS_A_FRAME;
      kernel.samples.copyWithin(0, hop);
      filled = size - hop;
      return frame;
    },
    /** Takes as many samples as the newest frame lacks. @returns how many */
    fill(samples: Float32Array): number {
      const count = Math.min(samples.length, size - filled);
      kernel.samples.set(samples.subarray(0, count), filled);
      filled += count;
      return count;
    },
    /** Takes back memory that nothing refers to any more. */
    reuse(frames: readonly KernelFrame[], views: readonly FrameView[]): void {
      free.push(...frames);
      freeViews.push(...views);
    },
  };
}

/**
 * Sets the gains above the network's bins by Wiener's rule, the ratio followed in both directions.
 * @returns a function of the known frames, and of how many of them are final: the state behind these is kept
 */
function createWienerGains(kernel: WindKernel): (frames: readonly Frame[], count: number) => void {
  const [forward, beyond, backward] = [kernel.takeState(), kernel.takeState(), kernel.takeState()];
  return (frames, count) => {
    for (const [i, { bins }] of frames.entries()) {
      // What comes after the final ones is followed again with the next block.
      if (i === count) beyond.set(forward);
      kernel.follow(bins, i < count ? forward : beyond);
    }
    backward.fill(0);
    for (const { bins } of frames.toReversed()) kernel.followBack(bins, backward);
  };
}

/**
 * Sets the gains of the network's bins.
 * @returns a function of the known frames, and of how many of them get gains; it returns the views that no later frame
 * looks at
 */
function createVoiceGains(runner: GainRunner, shape: WindShape, layout: WindLayout) {
  const { networkBins, deepBins } = layout;
  const remembered = runner.begin();
  let past: FrameView[] = [];
  return (frames: readonly Frame[], count: number): FrameView[] => {
    const views = [...past, ...frames.map(({ view }) => view)];
    const first = past.length;
    runner.run({ views, first, count }, remembered, (at, gains) => {
      const frame = frames[at];
      if (!frame) return;
      const { gain, power, wind } = frame.bins;
      for (let k = 0; k < networkBins; k++) {
        const clear = (power[k] ?? 0) >= SUPPRESSOR.clearRatio * (wind[k] ?? 0);
        gain[k] = clear ? 1 : Math.max(SUPPRESSOR.networkFloor, gains[k] ?? 0);
      }
      if (shape.isDeep) gain.fill(0, 0, deepBins);
    });
    const seen = views.slice(0, first + count);
    past = seen.slice(-VIEWS_BEFORE);
    return seen.slice(0, -VIEWS_BEFORE);
  };
}

/** Turns frames back to samples and adds them up where they overlap. */
function createOutput(kernel: WindKernel, size: number) {
  const hop = size / HOPS_A_FRAME;
  /** Samples of the silence before the stream that are still to be left out. */
  let silent = size;
  /** Samples that have been expected and not come out yet. */
  let owed = 0;

  const addFrame = (frame: KernelFrame, out: Float32Array, at: number): number => {
    kernel.add(frame);
    const from = Math.min(silent, hop);
    silent -= from;
    const written = Math.min(hop - from, owed);
    owed -= written;
    out.set(kernel.overlap.subarray(from, from + written), at);
    kernel.overlap.copyWithin(0, hop);
    kernel.overlap.fill(0, size - hop);
    return written;
  };

  return {
    /** No more samples come out in all than were expected. */
    expect(count: number): void {
      owed += count;
    },
    /** The samples that are complete with these frames. */
    add(frames: readonly KernelFrame[]): Float32Array {
      const out = new Float32Array(frames.length * hop);
      let written = 0;
      for (const frame of frames) written += addFrame(frame, out, written);
      return out.subarray(0, written);
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
