import { createFramer, createPowerSpectrum } from '#server/media/signal/signal-frames.ts';
import { createMedianKernel } from '#server/media/signal/median-kernel.ts';
import { median } from '#server/media/signal/signal.ts';

const FRAME = 4096;
const HOP = 1024;
const LOW_HZ = 40;
const HIGH_HZ = 500;
/** Half width of the median that a spectral line must exceed, Hz. */
const REACH_HZ = 32;
/** Distance of two compared spectra in frames: one whole frame, so that they share no sample. */
const LAG = FRAME / HOP;

/** How much of the bass consists of spectral lines: notes, hum and engines do, wind does not. */
export interface LineFigures {
  /** Share of the power at 40-500 Hz above twice the local median, in the quietest fifth; noise gives 0.25. */
  readonly pauseShare: number;
  /** Median similarity of the fine spectrum to that 256 ms earlier: noise gives 0, held tones up to 1. */
  readonly steadiness: number;
}

interface FineFrame {
  readonly start: number;
  readonly power: number;
  readonly excess: number;
  /** Log of power over local median, with the mean removed and unit length. */
  readonly shape: Float64Array;
}

export interface LineMeter {
  push(samples: ArrayLike<number>): void;
  /** Figures of the frames within `[first, end)`, samples; older frames are forgotten. */
  between(first: number, end: number): LineFigures;
}

/**
 * Measures spectral lines in the bass with frames of 256 ms (3.9 Hz between bins at 16 kHz). The chord of a bass or the
 * harmonics of a rotor are separate there and stay, while wind looks the same at every resolution.
 * @param rateHz rate of the mono samples
 */
export function createLineMeter(rateHz: number): LineMeter {
  const spectrum = createPowerSpectrum(FRAME);
  const binHz = rateHz / FRAME;
  const low = Math.round(LOW_HZ / binHz);
  const high = Math.round(HIGH_HZ / binHz);
  const reach = Math.round(REACH_HZ / binHz);
  const local = createMedianKernel({ rows: 1, length: high + reach, reach });
  let frames: FineFrame[] = [];
  const framer = createFramer(FRAME, HOP, (frame, index) => {
    const spectral = spectrum.of(frame);
    local.row(0).set(spectral.subarray(0, high + reach));
    local.run();
    const shape = new Float64Array(high - low);
    let power = 0;
    let excess = 0;
    for (let k = low; k < high; k++) {
      const usual = local.medians[k] ?? 0;
      const here = spectral[k] ?? 0;
      power += here;
      excess += Math.max(0, here - 2 * usual);
      shape[k - low] = Math.log((here + 1e-15) / (usual + 1e-15));
    }
    frames.push({ start: index * HOP, power, excess, shape: normalise(shape) });
  });
  return {
    push: (samples) => framer.push(samples),
    between(first, end) {
      frames = frames.filter((frame) => frame.start >= first);
      const inside = frames.filter((frame) => frame.start + FRAME <= end);
      const quiet = [...inside]
        .sort((a, b) => a.power - b.power)
        .slice(0, Math.max(1, Math.round(inside.length / 5)));
      const power = quiet.reduce((sum, frame) => sum + frame.power, 0);
      const excess = quiet.reduce((sum, frame) => sum + frame.excess, 0);
      const likeness = inside.slice(LAG).map((frame, i) => product(frame.shape, inside[i]?.shape));
      return {
        pauseShare: power > 0 ? excess / power : 0,
        steadiness: likeness.length > 0 ? median(likeness) : 0,
      };
    },
  };
}

function product(a: Float64Array, b: Float64Array | undefined): number {
  let sum = 0;
  for (let k = 0; k < a.length; k++) sum += (a[k] ?? 0) * (b?.[k] ?? 0);
  return sum;
}

/** Removes the mean of the values and scales them to unit length. */
function normalise(values: Float64Array): Float64Array {
  let sum = 0;
  for (let k = 0; k < values.length; k++) sum += values[k] ?? 0;
  const mean = sum / values.length;
  for (let k = 0; k < values.length; k++) values[k] = (values[k] ?? 0) - mean;
  const norm = Math.sqrt(product(values, values));
  if (norm > 0) for (let k = 0; k < values.length; k++) values[k] = (values[k] ?? 0) / norm;
  return values;
}
