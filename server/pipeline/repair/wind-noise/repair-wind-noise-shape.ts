import { SUPPRESSOR, type WindLayout, type WindShape } from './repair-wind-noise-layout.ts';
import { CELLS } from './repair-wind-noise-kernel-steps.ts';
import type { KernelFrame } from './repair-wind-noise-kernel.ts';

export interface ShapeLearner {
  /** Takes samples of one channel; only windy stretches should be given. */
  push(samples: Float32Array): void;
  /** The shape of the wind heard so far. */
  finish(): WindShape;
  /** Levels of what was heard so far. */
  levels(): HeardLevels;
}

/** Mean powers of a sound's frames, sums of their bins: to be compared with each other, not with a full scale. */
export interface HeardLevels {
  /** Assumed wind in the level band. */
  readonly wind: number;
  /** Everything below every voice, 20 to 60 Hz. */
  readonly low: number;
  /** Everything up to `SUPPRESSOR.floorLimitHz`. */
  readonly total: number;
}

/** Band below every voice, Hz; power here is wind or rumble. */
const LOW_FROM_HZ = 20;
const LOW_TO_HZ = 60;
/** Standard deviation of the bell over which the learnt shape is smoothed, bins. */
const SMOOTH_BINS = 2;
/** The bell is cut off after so many standard deviations. */
const BELL_REACH = 3;

/**
 * Learns the shape of the wind from windy sound: for each bin, a low percentile over time of its power relative to the
 * level of the wind in the same frame (voices come and go, the wind's own share stays). Memory is one histogram for
 * each bin.
 */
export function createShapeLearner(layout: WindLayout): ShapeLearner {
  const { rateHz, size, bins, floorBins, deepBins } = layout;
  const lowFirst = Math.ceil((LOW_FROM_HZ * size) / rateHz);
  const lowEnd = Math.ceil((LOW_TO_HZ * size) / rateHz);
  const kernel = layout.createKernel(2);
  // Half-overlapping frames suffice for statistics.
  const hop = size / 2;
  const counts = new Uint32Array(bins * CELLS.count);
  const floor = layout.createFloor();
  const store = kernel.samples;
  let [newest, before] = [kernel.takeFrame(), kernel.takeFrame()];
  let filled = 0;
  let hasBefore = false;
  let frames = 0;
  // Sums over the frames of the level, and of the powers of bands.
  let [wind, low, total, deep, above] = [0, 0, 0, 0, 0];
  const count = (frame: KernelFrame, background: Float32Array) => {
    const level = layout.levelOf(background);
    if (level <= 0) return;
    frames += 1;
    wind += level;
    for (let k = 0; k < deepBins; k++) deep += frame.power[k] ?? 0;
    for (let k = lowFirst; k < floorBins; k++) {
      const power = frame.power[k] ?? 0;
      total += power;
      if (k < lowEnd) low += power;
      if (k >= deepBins) above += power;
    }
    const cells = kernel.cellsOf(frame, level);
    for (let k = 0, first = 0; k < bins; k++, first += CELLS.count) {
      const at = first + (cells[k] ?? 0);
      counts[at] = (counts[at] ?? 0) + 1;
    }
  };
  const takeFrame = () => {
    [newest, before] = [before, newest];
    kernel.analyse(newest);
    const background = floor.push(newest.power);
    // The background is that of the frame before the newest.
    if (background && hasBefore) count(before, background);
    hasBefore = true;
  };
  return {
    push(samples) {
      for (let at = 0; at < samples.length;) {
        const taken = Math.min(samples.length - at, size - filled);
        store.set(samples.subarray(at, at + taken), filled);
        filled += taken;
        at += taken;
        if (filled < size) continue;
        takeFrame();
        store.copyWithin(0, hop);
        filled = size - hop;
      }
    },
    finish() {
      const logRatios = new Float64Array(bins);
      for (let k = 0; k < bins; k++) {
        const ofBin = counts.subarray(k * CELLS.count, (k + 1) * CELLS.count);
        logRatios[k] = quantileOf(ofBin, frames * SUPPRESSOR.shapeQuantile);
      }
      const relative = smooth(logRatios, SMOOTH_BINS).map(Math.exp);
      const isDeep = deep > SUPPRESSOR.deepRatio * wind && deep > SUPPRESSOR.deepShare * above;
      return { rateHz, relative, isDeep };
    },
    levels: () => {
      const count = Math.max(1, frames);
      return { wind: wind / count, low: low / count, total: total / count };
    },
  };
}

/** Upper edge of the histogram cell in which `target` values are reached, a natural logarithm. */
function quantileOf(counts: Uint32Array, target: number): number {
  let seen = 0;
  let cell = 0;
  while (cell < CELLS.count && seen < target) seen += counts[cell++] ?? 0;
  return CELLS.low + (cell - 0.5) * CELLS.step;
}

/** Means of neighbours, weighted by a Gaussian bell; beyond both ends there are none. */
function smooth(values: Float64Array, deviation: number): Float64Array {
  const reach = BELL_REACH * deviation;
  return values.map((_, k) => {
    let sum = 0;
    let weights = 0;
    for (let j = Math.max(0, k - reach); j <= Math.min(values.length - 1, k + reach); j++) {
      const weight = Math.exp(-0.5 * ((j - k) / deviation) ** 2);
      sum += weight * (values[j] ?? 0);
      weights += weight;
    }
    return sum / weights;
  });
}
