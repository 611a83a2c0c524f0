import { createSpectrumKernel } from './signal-kernel.ts';

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
      for (let at = 0; at < samples.length;) {
        const taken = Math.min(size - filled, samples.length - at);
        for (let i = 0; i < taken; i++) store[filled + i] = samples[at + i] ?? 0;
        filled += taken;
        at += taken;
        if (filled < size) return;
        onFrame(store, index++);
        store.copyWithin(0, hop);
        filled = size - hop;
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
  const window = hannWindow(size);
  const energy = window.reduce((sum, w) => sum + w * w, 0);
  const kernel = createSpectrumKernel(window, energy * size);
  return {
    bins: kernel.power.length,
    of(frame) {
      kernel.frame.set(frame);
      kernel.run();
      return kernel.power;
    },
  };
}
