import { createFramer, createPowerSpectrum } from '#server/media/signal/signal-frames.ts';
import { createCrackleMeter } from './detect-wind-noise-crackles.ts';
import { countKnocks } from './detect-wind-noise-knocks.ts';
import { createLineMeter, type LineFigures } from './detect-wind-noise-lines.ts';
import { createSpectralFloor } from '#server/media/signal/signal-floor.ts';
import { fitLine, mean, percentile, powerToDb, selectQuantile } from '#server/media/signal/signal.ts';

/** Sample rate of the wind meter, Hz; wind and the voice band lie below 8 kHz. */
export const WIND_RATE_HZ = 16_000;
/** Samples in a frame (64 ms), and from one to the next. */
const FRAME = 1024;
const HOP = 512;
const BIN_HZ = WIND_RATE_HZ / FRAME;
/** Number of bins that are kept, up to 4 kHz. */
const BINS = 256;
/** Neighbours in the background median: +-70 Hz spans more than one harmonic of any voice. */
const FLOOR_HALF_BINS = 4;
/** Frames in a window (3 s), and from one to the next. */
const WINDOW_FRAMES = 94;
const WINDOW_HOP_FRAMES = 47;
/** A last window with no more than this many frames that no other holds is left out. */
const FEW_FRAMES = 8;
/** Frames in a block, 0.256 s. */
const BLOCK_FRAMES = 8;
/** The background of a window or block is the level that this share of its frames stay below. */
const QUIET_SHARE = 0.25;
/** Share of the frames of a window that are its pauses: the quietest. */
const PAUSE_SHARE = 0.2;
/** Bands that are measured, Hz: what wind, rumble, knocks, the voice and its harmonics fill. */
const BANDS = {
  whole: [20, 4000],
  floor: [60, 500],
  high: [1000, 4000],
  rumble: [20, 80],
  burst: [16, 78],
  knocks: [16, 250],
  lines: [80, 1000],
  slope: [100, 1600],
} as const;
/** Top of the band of the centroid, Hz. */
const CENTROID_HZ = 500;
/** Power that stands for digital silence, -140 dBFS. */
const LEAST_POWER = 1e-14;

/** Figures of one window of 3 s. Levels are in dBFS of the background, which is what is neither tone nor voice. */
export interface WindWindow {
  readonly startMs: number;
  readonly endMs: number;
  /** Level of the whole sound. */
  readonly totalDb: number;
  /** Background at 60-500 Hz in the quieter quarter of the window. */
  readonly floorDb: number;
  /** Background at 1-4 kHz in the quieter quarter. */
  readonly highFloorDb: number;
  /** Background at 20-80 Hz in the quieter quarter. */
  readonly lowFloorDb: number;
  /** Slope of the background between 100 and 1600 Hz, dB per octave. */
  readonly tiltDbPerOctave: number;
  /** Share of the power at 80-1000 Hz that exceeds the background in the quietest fifth: spectral lines. */
  readonly pauseTonalShare: number;
  /** The same below 500 Hz at four times the resolution, and how steady those lines are. */
  readonly fineLineShare: number;
  readonly lineSteadiness: number;
  /** Treble bursts that come and go within 12 ms, as of embers and scratches. */
  readonly cracklesPerSecond: number;
  /** Sudden rises below 250 Hz that die away at once, as of balls, drums and doors. */
  readonly knocksPerSecond: number;
  /** Sub-band spectral centroid below 500 Hz (Nelke and Vary 2014) in the quieter half, Hz. */
  readonly centroidHz: number;
}

export interface WindSeries {
  readonly windows: readonly WindWindow[];
  /** Background at 60-500 Hz of every quarter second (0.256 s), dBFS. */
  readonly blockFloorDb: readonly number[];
  /**
   * How bursty the power at 16-78 Hz is within each of those blocks: log of its mean less mean of its log, nats. Steady
   * noise gives 0.19 to 0.21, a tone less, wind on a microphone 0.24 to 0.4; voices have no power there.
   */
  readonly blockLowBurst: readonly number[];
  readonly blockMs: number;
}

export interface WindMeter {
  push(samples: ArrayLike<number>): void;
  finish(): WindSeries;
}

interface FrameFigures {
  readonly floor: Float64Array;
  readonly totalPower: number;
  readonly bandFloor: number;
  readonly bandPower: number;
  readonly excess: number;
  readonly lowPower: number;
  readonly thumpPower: number;
  readonly centroidHz: number;
}

/** Takes the power spectrum of one frame and its smooth background; both arrays are reused. */
export type SpectrumListener = (power: Float64Array, background: Float64Array) => void;

/** Distance between two frames passed to a `SpectrumListener`, ms. */
export const SPECTRUM_HOP_MS = (HOP * 1000) / WIND_RATE_HZ;
/** Width of one bin of those spectra, Hz. */
export const SPECTRUM_BIN_HZ = BIN_HZ;

/**
 * Measures streamed mono sound at `WIND_RATE_HZ` without keeping its spectra.
 * @param listen gets every spectrum, so that others need no transform of their own
 */
export function createWindMeter(listen?: SpectrumListener): WindMeter {
  const spectrum = createPowerSpectrum(FRAME);
  const background = createSpectralFloor(BINS, FLOOR_HALF_BINS);
  const lines = createLineMeter(WIND_RATE_HZ);
  const crackles = createCrackleMeter(WIND_RATE_HZ);
  const windows: WindWindow[] = [];
  const blockFloorDb: number[] = [];
  const blockLowBurst: number[] = [];
  let block: FrameFigures[] = [];
  const recent: FrameFigures[] = [];
  let waiting: Float64Array | null = null;
  let frames = 0;
  const detailsOf = (first: number, end: number) => {
    return { ...lines.between(first, end), cracklesPerSecond: crackles.between(first, end) };
  };
  const take = (power: Float64Array, floor: Float64Array) => {
    listen?.(power, floor);
    const figures = measureFrame(power, floor);
    recent.push(figures);
    frames += 1;
    block.push(figures);
    if (block.length === BLOCK_FRAMES) {
      const floors = block.map(({ bandFloor }) => bandFloor);
      blockFloorDb.push(powerToDb(percentile(floors, QUIET_SHARE)));
      blockLowBurst.push(burstiness(block.map(({ lowPower }) => lowPower)));
      block = [];
    }
    if (recent.length === WINDOW_FRAMES) {
      windows.push(summarise(recent, frames - WINDOW_FRAMES, detailsOf));
      recent.splice(0, WINDOW_HOP_FRAMES);
    }
  };
  const framer = createFramer(FRAME, HOP, (frame) => {
    const power = spectrum.of(frame);
    const floor = background.push(power);
    if (floor && waiting) take(waiting, floor);
    waiting = power.slice(0, BINS);
  });
  return {
    push(samples) {
      lines.push(samples);
      crackles.push(samples);
      framer.push(samples);
    },
    finish() {
      const floor = background.flush();
      if (floor && waiting) take(waiting, floor);
      const shared = windows.length > 0 ? WINDOW_FRAMES - WINDOW_HOP_FRAMES : 0;
      if (recent.length > shared + FEW_FRAMES) {
        windows.push(summarise(recent, frames - recent.length, detailsOf));
      }
      return { windows, blockFloorDb, blockLowBurst, blockMs: (BLOCK_FRAMES * HOP * 1000) / WIND_RATE_HZ };
    },
  };
}

function bandSum(values: Float64Array, [lowHz, highHz]: readonly [number, number]): number {
  let sum = 0;
  const end = Math.min(values.length, Math.round(highHz / BIN_HZ));
  for (let k = Math.max(1, Math.round(lowHz / BIN_HZ)); k < end; k++) sum += values[k] ?? 0;
  return sum;
}

function burstiness(powers: readonly number[]): number {
  const heard = powers.map((power) => Math.max(power, LEAST_POWER));
  return Math.log(mean(heard)) - mean(heard.map((power) => Math.log(power)));
}

function measureFrame(power: Float64Array, floor: Float64Array): FrameFigures {
  const [bottomHz, topHz] = BANDS.lines;
  let excess = 0;
  let bandPower = 0;
  let moment = 0;
  let mass = 0;
  for (let k = 1; k < Math.round(topHz / BIN_HZ); k++) {
    const p = power[k] ?? 0;
    if (k * BIN_HZ >= bottomHz) {
      bandPower += p;
      // Twice the median: single bins of noise are exponentially distributed, so their mean lies at 1.44.
      excess += Math.max(0, p - 2 * (floor[k] ?? 0));
    }
    if (k * BIN_HZ < CENTROID_HZ) {
      moment += p * k * BIN_HZ;
      mass += p;
    }
  }
  return {
    floor: floor.slice(),
    totalPower: bandSum(power, BANDS.whole),
    bandFloor: bandSum(floor, BANDS.floor),
    bandPower,
    excess,
    lowPower: bandSum(power, BANDS.burst),
    thumpPower: bandSum(power, BANDS.knocks),
    centroidHz: mass > 0 ? moment / mass : 0,
  };
}

/** For each bin, the background level that a quarter of the frames stay below. */
function quietestQuarter(frames: readonly FrameFigures[]): Float64Array {
  const floors = new Float64Array(frames.length * BINS);
  frames.forEach(({ floor }, i) => floors.set(floor, i * BINS));
  const levels = new Float64Array(frames.length);
  return Float64Array.from({ length: BINS }, (_, k) => {
    for (let i = 0, at = k; i < levels.length; i++, at += BINS) levels[i] = floors[at] ?? 0;
    return selectQuantile(levels, levels.length, QUIET_SHARE);
  });
}

/** Measures of a window at other resolutions than that of the frames. */
type Details = LineFigures & Pick<WindWindow, 'cracklesPerSecond'>;

function summarise(
  frames: readonly FrameFigures[],
  firstFrame: number,
  detailsOf: (first: number, end: number) => Details,
): WindWindow {
  const firstSample = firstFrame * HOP;
  const endSample = firstSample + (frames.length - 1) * HOP + FRAME;
  const fine = detailsOf(firstSample, endSample);
  const quiet = quietestQuarter(frames);
  const half = [...frames].sort((a, b) => a.bandFloor - b.bandFloor).slice(0, frames.length >> 1);
  const octaves: number[] = [];
  const octaveDb: number[] = [];
  const [fromHz, toHz] = BANDS.slope;
  for (let k = Math.round(fromHz / BIN_HZ); k < Math.round(toHz / BIN_HZ); k++) {
    octaves.push(Math.log2(k * BIN_HZ));
    octaveDb.push(powerToDb(quiet[k] ?? 0));
  }
  const sum = (pick: (frame: FrameFigures) => number, list: readonly FrameFigures[]) =>
    list.reduce((total, frame) => total + pick(frame), 0);
  const pauses = [...frames]
    .sort((a, b) => a.bandPower - b.bandPower)
    .slice(0, Math.max(1, Math.round(PAUSE_SHARE * frames.length)));
  const pausePower = sum((frame) => frame.bandPower, pauses);
  return {
    startMs: (firstSample * 1000) / WIND_RATE_HZ,
    endMs: (endSample * 1000) / WIND_RATE_HZ,
    totalDb: powerToDb(sum((frame) => frame.totalPower, frames) / frames.length),
    floorDb: powerToDb(bandSum(quiet, BANDS.floor)),
    highFloorDb: powerToDb(bandSum(quiet, BANDS.high)),
    lowFloorDb: powerToDb(bandSum(quiet, BANDS.rumble)),
    tiltDbPerOctave: fitLine(octaves, octaveDb).slope,
    pauseTonalShare: pausePower > 0 ? sum((frame) => frame.excess, pauses) / pausePower : 0,
    fineLineShare: fine.pauseShare,
    lineSteadiness: fine.steadiness,
    cracklesPerSecond: fine.cracklesPerSecond,
    knocksPerSecond:
      (countKnocks(frames.map(({ thumpPower }) => powerToDb(thumpPower))) * WIND_RATE_HZ) /
      (frames.length * HOP),
    centroidHz: percentile(
      half.map((frame) => frame.centroidHz),
      0.5,
    ),
  };
}
