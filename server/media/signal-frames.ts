import { createRealFft } from './fft.ts';

/** Cuts a stream of samples into overlapping frames. */
export interface Framer {
  push(samples: ArrayLike<number>): void;
}

/**
 * Frames of `size` samples, one every `hop`; the first starts at sample 0. The frame handed out is reused.
 * @param onFrame gets the frame and its running number
 */
export function createFramer(
  size: number,
  hop: number,
  onFrame: (frame: Float64Array, index: number) => void,
): Framer {
  const store = new Float64Array(size);
  let filled = 0;
  let index = 0;
  return {
    push(samples) {
      for (let i = 0; i < samples.length; i++) {
        store[filled++] = samples[i] ?? 0;
        if (filled === size) {
          onFrame(store, index++);
          store.copyWithin(0, hop);
          filled = size - hop;
        }
      }
    },
  };
}

/** Hann window whose shifted copies add up to a constant ("periodic"). */
export function hannWindow(size: number): Float64Array {
  return Float64Array.from({ length: size }, (_, i) => 0.5 - 0.5 * Math.cos((2 * Math.PI * i) / size));
}

/** Turns frames into power spectra. */
export interface PowerSpectrum {
  readonly bins: number;
  /** Power of each bin; the bins of a stationary signal add up to its mean square. The array is reused. */
  of(frame: Float64Array): Float64Array;
}

/** Power spectrum under a Hann window, scaled by the window's energy (Welch 1967), one-sided. */
export function createPowerSpectrum(size: number): PowerSpectrum {
  const fft = createRealFft(size);
  const window = hannWindow(size);
  const windowed = new Float64Array(size);
  const re = new Float64Array(fft.bins);
  const im = new Float64Array(fft.bins);
  const power = new Float64Array(fft.bins);
  const energy = window.reduce((sum, w) => sum + w * w, 0);
  return {
    bins: fft.bins,
    of(frame) {
      for (let i = 0; i < size; i++) windowed[i] = (frame[i] ?? 0) * (window[i] ?? 0);
      fft.forward(windowed, re, im);
      for (let k = 0; k < fft.bins; k++) {
        const sides = k === 0 || k === fft.bins - 1 ? 1 : 2;
        power[k] = (sides * ((re[k] ?? 0) ** 2 + (im[k] ?? 0) ** 2)) / (energy * size);
      }
      return power;
    },
  };
}
