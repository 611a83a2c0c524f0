import { createFramer, createPowerSpectrum } from '#server/media/signal/signal-frames.ts';

const FRAME = 512;
const HOP = 160;
/**
 * Where inside its frame an onset is detected, samples from the start of the frame. The log flux is largest when the
 * onset has just entered the window. Measured with single clicks: `detect-audio-sync-onsets.test.ts`.
 */
const FELT_AT = 336;

export interface OnsetMeter {
  push(samples: ArrayLike<number>): void;
  /** Strength every 10 ms; `sampleOf` gives the sample (at 16 kHz) that a value belongs to. */
  readonly strength: number[];
  sampleOf(index: number): number;
}

/**
 * Onset strength of mono sound at 16 kHz: half-wave rectified flux of the log spectrum (Dixon 2006,
 * "Onset detection revisited"; compression as in Klapuri 1999).
 */
export function createOnsetMeter(): OnsetMeter {
  const spectrum = createPowerSpectrum(FRAME);
  const strength: number[] = [];
  const levels = new Float64Array(spectrum.bins);
  const framer = createFramer(FRAME, HOP, (frame, index) => {
    const power = spectrum.of(frame);
    let flux = 0;
    for (let k = 2; k < power.length; k++) {
      const level = Math.log1p(1e6 * (power[k] ?? 0));
      flux += Math.max(0, level - (levels[k] ?? 0));
      levels[k] = level;
    }
    // The first frame has no previous one.
    strength.push(index === 0 ? 0 : flux);
  });
  return {
    push: (samples) => framer.push(samples),
    strength,
    sampleOf: (index) => index * HOP + FELT_AT,
  };
}
