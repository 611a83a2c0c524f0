import { describe, expect, it } from 'vitest';
import { createRealFft } from './fft.ts';

function noise(length: number): Float64Array {
  let state = 12345;
  return Float64Array.from({ length }, () => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return state / 1073741824 - 1;
  });
}

describe('createRealFft', () => {
  it.each([4, 8, 64, 512])('agrees with the definition of the transform at size %i', (size) => {
    const fft = createRealFft(size);
    const frame = noise(size);
    const re = new Float64Array(fft.bins);
    const im = new Float64Array(fft.bins);
    fft.forward(frame, re, im);
    for (let k = 0; k < fft.bins; k += Math.max(1, Math.floor(size / 32))) {
      let wantRe = 0;
      let wantIm = 0;
      frame.forEach((value, n) => {
        wantRe += value * Math.cos((2 * Math.PI * k * n) / size);
        wantIm -= value * Math.sin((2 * Math.PI * k * n) / size);
      });
      expect(re[k]).toBeCloseTo(wantRe, 8);
      expect(im[k]).toBeCloseTo(wantIm, 8);
    }
  });

  it('returns the frame after forward and inverse', () => {
    const fft = createRealFft(1024);
    const frame = noise(1024);
    const re = new Float64Array(fft.bins);
    const im = new Float64Array(fft.bins);
    const back = new Float64Array(1024);
    fft.forward(frame, re, im);
    fft.inverse(re, im, back);
    back.forEach((value, n) => expect(value).toBeCloseTo(frame[n] ?? Number.NaN, 10));
  });

  it('rejects a size that is not a power of two', () => {
    expect(() => createRealFft(1000)).toThrow(RangeError);
  });
});
