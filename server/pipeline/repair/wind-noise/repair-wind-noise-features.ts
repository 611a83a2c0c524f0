import { clamp } from '#server/media/statistics.ts';
import { createPitchScorer, PITCHES, type PitchView } from './repair-wind-noise-pitch.ts';

/** What the gain network sees of one frame. */
export interface FrameView extends PitchView {
  /** For each of the network's bins: its power over the assumed wind, and over the level of the wind. */
  readonly local: Float32Array;
  /** Powers of the bands above, over the level of the wind. */
  readonly bands: Float32Array;
  /** Natural logarithm of the level of the wind. */
  level: number;
}

// All that follows is part of what the network was trained on; with other values its weights mean nothing.

/** Bins whose gain the network sets: up to 1.5 kHz in frames of 85 ms. */
export const GAIN_BINS = 128;
/** Values of each bin in a view. */
export const LOCAL_VALUES = 2;
/** Bands of equal width above, up to the bin at 4 kHz, where voices stand out from wind. */
export const BANDS = 16;
const TOP_BIN = 341;
/** Distance in frames, on each side, to the frame that the level is compared with. */
export const LEVEL_REACH = 8;
/** Natural logarithms of power over wind are limited to this range; beyond it nothing more is learnt. */
const LEAST_RATIO = -4;
const MOST_RATIO = 8;
/**
 * What brings inputs, natural logarithms, to about -1 to 1. The level is a sum over the level band, so the power of a
 * bin lies below it: `BELOW_LEVEL` is added to that of the network's bins, `BANDS_BELOW_LEVEL` to that of the bands
 * above.
 */
const RATIO_SCALE = 3;
const LEVEL_SCALE = 4;
const BELOW_LEVEL = 4;
const BANDS_BELOW_LEVEL = 6;
const STEP_SCALE = 2;
/** Inputs are limited to this on both sides. */
const MOST_VALUE = 3;
/** Keeps logarithms of silence finite. */
const TINY = 1e-10;
const TINY_LEVEL = 1e-12;

export interface FeatureMaker {
  /** Number of bins whose gain the network sets. */
  readonly bins: number;
  /** A new view to write to. */
  empty(): FrameView;
  /**
   * Writes the view of a frame.
   * @param power power of each bin of the frame
   * @param wind assumed wind of each of the network's bins, a power on the same scale
   * @param level assumed wind of the level band, 100 to 500 Hz: a sum of powers
   * @param to the view that is written
   */
  write(power: Float32Array, wind: Float32Array, level: number, to: FrameView): void;
}

/**
 * Makes the inputs of the gain network: logarithms of each bin's power over the assumed wind (what stands out) and over
 * the level of the wind (the shape of the spectrum, the same for soft and loud recordings), and how well each pitch
 * explains what stands out. All are scaled to about -1 to 1. The network was trained at 11.7 Hz a bin; other rates look
 * to it like slower or faster sound.
 */
export function createFeatureMaker(allBins: number): FeatureMaker {
  const bins = Math.min(GAIN_BINS, allBins);
  const edges = Array.from({ length: BANDS + 1 }, (_, i) =>
    Math.round(GAIN_BINS + ((TOP_BIN - GAIN_BINS) * i) / BANDS),
  );
  const score = createPitchScorer(GAIN_BINS);
  const ratios = new Float32Array(GAIN_BINS);
  return {
    bins,
    empty: () => ({
      local: new Float32Array(LOCAL_VALUES * GAIN_BINS),
      bands: new Float32Array(BANDS),
      level: 0,
      scores: new Float32Array(PITCHES),
      comb: new Float32Array(GAIN_BINS),
    }),
    write(power, wind, level, to) {
      const { local, bands } = to;
      const logLevel = Math.log(level + TINY_LEVEL);
      for (let k = 0; k < bins; k++) {
        const logPower = Math.log((power[k] ?? 0) + TINY);
        const ratio = clamp(logPower - Math.log((wind[k] ?? 0) + TINY), LEAST_RATIO, MOST_RATIO);
        ratios[k] = ratio;
        local[LOCAL_VALUES * k] = ratio / RATIO_SCALE;
        local[LOCAL_VALUES * k + 1] = limited((logPower - logLevel + BELOW_LEVEL) / LEVEL_SCALE);
      }
      for (let i = 0; i < BANDS; i++) {
        const first = Math.min(edges[i] ?? 0, allBins - 1);
        const end = Math.max(first + 1, Math.min(edges[i + 1] ?? 0, allBins));
        let sum = 0;
        for (let k = first; k < end; k++) sum += power[k] ?? 0;
        const logMean = Math.log(sum / (end - first) + TINY);
        bands[i] = limited((logMean - logLevel + BANDS_BELOW_LEVEL) / LEVEL_SCALE);
      }
      to.level = logLevel;
      score(ratios, to.scores);
    },
  };
}

/**
 * How much louder the wind is `LEVEL_REACH` frames away, as an input of the network; at the ends, as far away as there
 * are frames.
 */
export function levelStep(views: readonly FrameView[], at: number, direction: -1 | 1): number {
  const other = clamp(at + direction * LEVEL_REACH, 0, views.length - 1);
  return limited(((views[other]?.level ?? 0) - (views[at]?.level ?? 0)) / STEP_SCALE);
}

const limited = (value: number): number => clamp(value, -MOST_VALUE, MOST_VALUE);
