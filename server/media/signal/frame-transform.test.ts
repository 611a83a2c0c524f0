import { describe, expect, it } from 'vitest';
import { seededRandom } from '#server/test/seeded-random.ts';
import { createRealFft } from './fft.ts';
import { frameTransform } from './frame-transform.ts';
import { hannWindow } from './signal-frames.ts';
import { assemble } from '../wasm/assemble.ts';
import { loadModule } from '../wasm/load.ts';

function makeTransform(window: Float64Array, back: Float64Array) {
  const { functions, tables } = frameTransform(window, back);
  const size = window.length;
  const room = size / 2 + 4;
  const module = new WebAssembly.Module(assemble(functions));
  const { buffer, run } = loadModule(module, tables.byteLength + 4 * (2 * size + 4 * room));
  new Float32Array(buffer).set(tables);
  let end = tables.byteLength;
  const take = (count: number) => {
    const taken = new Float32Array(buffer, end, count);
    end += 4 * count;
    return taken;
  };
  return {
    frame: take(size),
    out: take(size),
    re: take(room),
    im: take(room),
    power: take(room),
    gain: take(room),
    run,
  };
}

describe('frameTransform', () => {
  it.each([32, 64, 512, 1024, 4096])('gives the spectra of the plain transform, frames of %d', (size) => {
    const window = hannWindow(size);
    const made = makeTransform(window, window);
    const random = seededRandom(size);
    const fft = createRealFft(size);
    const [re, im] = [new Float64Array(fft.bins), new Float64Array(fft.bins)];
    for (const gain of [1, 1e-5]) {
      made.frame.set(Float32Array.from({ length: size }, () => gain * (random() - 0.5)));
      fft.forward(
        window.map((value, i) => value * (made.frame[i] ?? 0)),
        re,
        im,
      );
      made.run('load')(made.frame.byteOffset);
      made.run('transform')();
      made.run('toSpectrum')(made.re.byteOffset, made.im.byteOffset, made.power.byteOffset);
      const loudest = Math.max(...re.map(Math.abs));
      expect(loudest).toBeGreaterThan(0);
      re.forEach((real, k) => {
        const imaginary = im[k] ?? 0;
        expect(Math.abs((made.re[k] ?? Number.NaN) - real)).toBeLessThan(1e-6 * loudest);
        expect(Math.abs((made.im[k] ?? Number.NaN) - imaginary)).toBeLessThan(1e-6 * loudest);
        const off = Math.abs((made.power[k] ?? Number.NaN) - (real * real + imaginary * imaginary));
        expect(off).toBeLessThan(1e-6 * loudest * loudest);
      });
    }
  });

  it.each([32, 64, 2048])('adds the frames of spectra times their gains, frames of %d', (size) => {
    const [window, back] = [hannWindow(size), hannWindow(size).map((value) => 1 + value)];
    const made = makeTransform(window, back);
    const random = seededRandom(size);
    const fft = createRealFft(size);
    const [re, im] = [new Float64Array(fft.bins), new Float64Array(fft.bins)];
    for (let k = 0; k < fft.bins; k++) {
      const ends = k === 0 || k === fft.bins - 1;
      made.re[k] = random() - 0.5;
      made.im[k] = ends ? 0 : random() - 0.5;
      made.gain[k] = random();
      re[k] = (made.re[k] ?? 0) * (made.gain[k] ?? 0);
      im[k] = (made.im[k] ?? 0) * (made.gain[k] ?? 0);
    }
    const frame = new Float64Array(size);
    fft.inverse(re, im, frame);
    made.out.fill(3);
    made.run('fromSpectrum')(made.re.byteOffset, made.im.byteOffset, made.gain.byteOffset);
    made.run('transform')();
    made.run('addFrame')(made.out.byteOffset);
    frame.forEach((value, i) => expect(made.out[i]).toBeCloseTo(3 + value * (back[i] ?? 0), 5));
  });

  it.each([16, 48])('rejects frames of %d', (size) => {
    expect(() => frameTransform(hannWindow(size), hannWindow(size))).toThrow(RangeError);
  });
});
