import { describe, expect, it } from 'vitest';
import { seededRandom } from '#server/test/seeded-random.ts';
import { createRealFft } from './fft.ts';
import { hannWindow } from './signal-frames.ts';
import { createSpectrumKernel } from './signal-kernel.ts';

describe('createSpectrumKernel', () => {
  it.each([4, 8, 16, 512, 1024, 4096])(
    'gives the powers of the plain transform to the last bit, frames of %d',
    (size) => {
      const window = hannWindow(size);
      const kernel = createSpectrumKernel(window, 3 * size);
      const fft = createRealFft(size);
      const re = new Float64Array(fft.bins);
      const im = new Float64Array(fft.bins);
      const random = seededRandom(size);
      for (const gain of [1, 1e-5, 0]) {
        const frame = Float64Array.from({ length: size }, () => gain * (random() - 0.5));
        kernel.frame.set(frame);
        kernel.run();
        const windowed = frame.map((value, at) => value * (window[at] ?? 0));
        fft.forward(windowed, re, im);
        const power = re.map((real, bin) => {
          const imaginary = im[bin] ?? 0;
          const sides = bin === 0 || bin === fft.bins - 1 ? 1 : 2;
          return (sides * (real * real + imaginary * imaginary)) / (3 * size);
        });
        expect([...kernel.power]).toEqual([...power]);
      }
    },
  );
});
