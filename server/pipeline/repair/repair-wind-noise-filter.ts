import { createRealFft } from '#server/media/fft.ts';
import { hannWindow } from '#server/media/signal-frames.ts';
import { createSpectralFloor } from '#server/media/signal-floor.ts';

/**
 * Settings of the suppressor. Found by search on real microphone wind mixed with real speech at 0 and 5 dB
 * (SI-SDR), other speakers and winds held out.
 */
export const SUPPRESSOR = {
  /** Frame length, ms: long enough to part the harmonics of a deep voice. */
  frameMs: 85,
  /** Background median: +- this many Hz around a bin. */
  floorHalfHz: 70,
  /** Background times this is the assumed wind power. */
  overSubtraction: 2,
  /** Weight of the last frame in the signal-to-wind estimate (decision-directed, Ephraim and Malah 1984). */
  memory: 0.95,
  /** Lowest gain: -28 dB keeps a trace of the place instead of holes. */
  gainFloor: 0.04,
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
  shapeHeadroom: Math.exp(1.5),
  /** Below this voices have nothing; the gain falls with the eighth power. */
  lowCutHz: 80,
} as const;

/** Shape of a clip's wind: power of each bin relative to the level of the band 100-500 Hz. */
export interface WindShape {
  readonly frame: number;
  readonly rateHz: number;
  readonly relative: Float64Array;
}

/** Frame length for a rate: the power of two nearest `SUPPRESSOR.frameMs`. */
export function frameLength(rateHz: number): number {
  return 2 ** Math.round(Math.log2((SUPPRESSOR.frameMs / 1000) * rateHz));
}

function levelOf(background: Float64Array, hz: (bin: number) => number): number {
  let level = 0;
  for (let k = 0; k < background.length; k++) {
    const f = hz(k);
    if (f >= SUPPRESSOR.levelLowHz && f < SUPPRESSOR.levelHighHz) {
      level += SUPPRESSOR.overSubtraction * (background[k] ?? 0);
    }
  }
  return level;
}

/** Cuts one channel into Hann-rooted frames at a quarter of their length and hands out their spectra. */
function createAnalyser(rateHz: number) {
  const size = frameLength(rateHz);
  const fft = createRealFft(size);
  const hz = (bin: number) => (bin * rateHz) / size;
  const bins = fft.bins;
  const floorBins = Math.min(bins, Math.ceil((SUPPRESSOR.floorLimitHz * size) / rateHz));
  const halfBins = Math.max(1, Math.round((SUPPRESSOR.floorHalfHz * size) / rateHz));
  const window = hannWindow(size).map(Math.sqrt);
  return { size, hop: size / 4, fft, hz, bins, floorBins, halfBins, window };
}

export interface ShapeLearner {
  /** Samples of one channel; only windy stretches should be given. */
  push(samples: ArrayLike<number>): void;
  finish(): WindShape;
}

const HISTOGRAM_LOW = -30;
const HISTOGRAM_STEP = 0.1;
const HISTOGRAM_CELLS = 500;

/** Learns the shape of the wind from windy sound; memory is one histogram per bin. */
export function createShapeLearner(rateHz: number): ShapeLearner {
  const { size, hop, fft, hz, bins, floorBins, halfBins, window } = createAnalyser(rateHz);
  const cells = new Uint32Array(bins * HISTOGRAM_CELLS);
  const floor = createSpectralFloor(floorBins, halfBins);
  const windowed = new Float64Array(size);
  const re = new Float64Array(bins);
  const im = new Float64Array(bins);
  const store = new Float64Array(size);
  let filled = 0;
  let waiting: Float64Array | null = null;
  let frames = 0;
  const count = (power: Float64Array, background: Float64Array) => {
    const level = levelOf(background, hz);
    if (level <= 0) return;
    frames += 1;
    for (let k = 0; k < bins; k++) {
      const ratio = Math.log(((power[k] ?? 0) + 1e-15) / level);
      const cell = Math.round((ratio - HISTOGRAM_LOW) / HISTOGRAM_STEP);
      const at = k * HISTOGRAM_CELLS + Math.min(HISTOGRAM_CELLS - 1, Math.max(0, cell));
      cells[at] = (cells[at] ?? 0) + 1;
    }
  };
  const onFrame = () => {
    for (let i = 0; i < size; i++) windowed[i] = (store[i] ?? 0) * (window[i] ?? 0);
    fft.forward(windowed, re, im);
    const power = new Float64Array(bins);
    for (let k = 0; k < bins; k++) power[k] = (re[k] ?? 0) ** 2 + (im[k] ?? 0) ** 2;
    const background = floor.push(power);
    if (background && waiting) count(waiting, background);
    waiting = power;
  };
  return {
    push(samples) {
      for (let i = 0; i < samples.length; i++) {
        store[filled++] = samples[i] ?? 0;
        if (filled < size) continue;
        onFrame();
        store.copyWithin(0, hop);
        filled = size - hop;
      }
    },
    finish() {
      const raw = new Float64Array(bins);
      for (let k = 0; k < bins; k++) {
        let seen = 0;
        let cell = 0;
        while (cell < HISTOGRAM_CELLS && seen < frames * SUPPRESSOR.shapeQuantile) {
          seen += cells[k * HISTOGRAM_CELLS + cell++] ?? 0;
        }
        raw[k] = HISTOGRAM_LOW + (cell - 0.5) * HISTOGRAM_STEP;
      }
      return { frame: size, rateHz, relative: smooth(raw, 2).map(Math.exp) };
    },
  };
}

function smooth(values: Float64Array, reach: number): Float64Array {
  return values.map((_, k) => {
    let sum = 0;
    let weight = 0;
    for (let j = Math.max(0, k - 3 * reach); j <= Math.min(values.length - 1, k + 3 * reach); j++) {
      const w = Math.exp(-0.5 * ((j - k) / reach) ** 2);
      sum += w * (values[j] ?? 0);
      weight += w;
    }
    return sum / weight;
  });
}

export interface WindSuppressor {
  /** Samples of one channel in; sample-aligned samples out, `delay` of them late. */
  push(samples: ArrayLike<number>): Float64Array;
  /** The samples still inside; after this exactly as many came out as went in. */
  flush(): Float64Array;
}

/**
 * Takes wind out of one channel: the assumed wind of a frame is the lower of its own smooth background and
 * the learnt shape at the frame's level; the gain is Wiener's with a decision-directed ratio, and nothing is left
 * below the lowest voice. No delay remains: sample n out is sample n in.
 */
export function createWindSuppressor(rateHz: number, shape: WindShape): WindSuppressor {
  const { size, hop, fft, hz, bins, floorBins, halfBins, window } = createAnalyser(rateHz);
  const floor = createSpectralFloor(floorBins, halfBins);
  const lowCut = Float64Array.from(
    { length: bins },
    (_, k) => 1 / (1 + (SUPPRESSOR.lowCutHz / Math.max(hz(k), 1e-3)) ** 8),
  );
  // Hann-rooted frames, used twice, at a quarter hop add up to 2.
  const scale = 0.5;
  const store = new Float64Array(size);
  const windowed = new Float64Array(size);
  const overlap = new Float64Array(size);
  const cleaned = new Float64Array(bins);
  let waiting: { re: Float64Array; im: Float64Array; power: Float64Array } | null = null;
  // The stream is preceded by one frame of silence, so that its first sample is fully covered.
  let filled = size;
  let skip = size;
  let taken = 0;
  let given = 0;
  store.fill(0);

  const render = (
    frame: { re: Float64Array; im: Float64Array; power: Float64Array },
    background: Float64Array,
    out: number[],
  ) => {
    const level = levelOf(background, hz);
    for (let k = 0; k < bins; k++) {
      const power = frame.power[k] ?? 0;
      const limit = (shape.relative[k] ?? 0) * level;
      const wind =
        k < floorBins
          ? Math.min(SUPPRESSOR.overSubtraction * (background[k] ?? 0), limit * SUPPRESSOR.shapeHeadroom)
          : limit;
      const posterior = power / (wind + 1e-15);
      const ratio = Math.max(
        SUPPRESSOR.memory * (cleaned[k] ?? 0) + (1 - SUPPRESSOR.memory) * Math.max(posterior - 1, 0),
        SUPPRESSOR.leastRatio,
      );
      const wiener = ratio / (1 + ratio);
      cleaned[k] = wiener * wiener * posterior;
      const gain = Math.max(wiener, SUPPRESSOR.gainFloor) * (lowCut[k] ?? 1);
      frame.re[k] = (frame.re[k] ?? 0) * gain;
      frame.im[k] = (frame.im[k] ?? 0) * gain;
    }
    fft.inverse(frame.re, frame.im, windowed);
    for (let i = 0; i < size; i++) {
      overlap[i] = (overlap[i] ?? 0) + (windowed[i] ?? 0) * (window[i] ?? 0) * scale;
    }
    for (let i = 0; i < hop; i++) {
      if (skip > 0) skip -= 1;
      else if (given < taken || !flushing) {
        out.push(overlap[i] ?? 0);
        given += 1;
      }
    }
    overlap.copyWithin(0, hop);
    overlap.fill(0, size - hop);
  };

  let flushing = false;
  const step = (out: number[]) => {
    for (let i = 0; i < size; i++) windowed[i] = (store[i] ?? 0) * (window[i] ?? 0);
    const re = new Float64Array(bins);
    const im = new Float64Array(bins);
    const power = new Float64Array(bins);
    fft.forward(windowed, re, im);
    for (let k = 0; k < bins; k++) power[k] = (re[k] ?? 0) ** 2 + (im[k] ?? 0) ** 2;
    const background = floor.push(power);
    if (background && waiting) render(waiting, background, out);
    waiting = { re, im, power };
    store.copyWithin(0, hop);
    filled = size - hop;
  };
  const feed = (samples: ArrayLike<number>, out: number[]) => {
    for (let i = 0; i < samples.length; i++) {
      if (filled === size) step(out);
      store[filled++] = samples[i] ?? 0;
    }
  };
  return {
    push(samples) {
      const out: number[] = [];
      taken += samples.length;
      feed(samples, out);
      return Float64Array.from(out);
    },
    flush() {
      const out: number[] = [];
      flushing = true;
      const silence = new Float64Array(hop);
      while (given < taken) feed(silence, out);
      return Float64Array.from(out);
    },
  };
}
