import { createSparseSpectralFloor } from '#server/media/signal/signal-floor.ts';
import { hannWindow } from '#server/media/signal/signal-frames.ts';
import { GAIN_BINS } from './repair-wind-noise-features.ts';
import { createWindKernelMaker } from './repair-wind-noise-kernel.ts';

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

/** Sizes in samples and bins of a frame, and tables, that learning and suppressing share. */
export function createLayout(rateHz: number) {
  const size = frameLength(rateHz);
  const bins = size / 2 + 1;
  const floorBins = Math.min(bins, Math.ceil((SUPPRESSOR.floorLimitHz * size) / rateHz));
  const halfBins = Math.max(1, Math.round((SUPPRESSOR.floorHalfHz * size) / rateHz));
  const levelFirst = Math.ceil((SUPPRESSOR.levelLowHz * size) / rateHz);
  const levelEnd = Math.ceil((SUPPRESSOR.levelHighHz * size) / rateHz);
  const deepBins = Math.ceil((SUPPRESSOR.deepHz * size) / rateHz);
  const networkBins = Math.min(GAIN_BINS, bins);
  const window = hannWindow(size).map(Math.sqrt);
  return {
    rateHz,
    size,
    bins,
    /** Bins up to `SUPPRESSOR.floorLimitHz`, whose background is followed. */
    floorBins,
    /** Bins below every voice. */
    deepBins,
    /** The network sets the gain of all bins below this one, Wiener's rule that of the others. */
    networkBins,
    createKernel: createWindKernelMaker({ window, floorBins, networkBins }, SUPPRESSOR),
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
