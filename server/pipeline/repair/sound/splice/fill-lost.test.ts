import { describe, expect, it } from 'vitest';
import { fillLost } from './fill-lost.ts';

const RATE = 44_100;
/** A tone on the left, twice as high and half as loud on the right. */
const stereo = (count: number) =>
  Float32Array.from({ length: 2 * count }, (_, i) => {
    const [at, c] = [i >> 1, i & 1];
    return (c === 0 ? 0.4 : 0.2) * Math.sin((2 * Math.PI * (c === 0 ? 300 : 600) * at) / RATE);
  });

function withHole(count: number, first: number, end: number) {
  const truth = stereo(count);
  const samples = truth.slice();
  samples.fill(0.9, 2 * first, 2 * end);
  fillLost(samples, 2, RATE, [{ first, end }]);
  return { truth, samples };
}

describe('fillLost', () => {
  it('restores what continues evenly, in each channel, and changes nothing else', () => {
    const { truth, samples } = withHole(12_000, 5000, 7048);
    const worst = samples.reduce((most, value, i) => Math.max(most, Math.abs(value - (truth[i] ?? 0))), 0);
    expect(worst).toBeLessThan(0.01);
    expect(samples.subarray(0, 10_000)).toEqual(truth.subarray(0, 10_000));
    expect(samples.subarray(14_096)).toEqual(truth.subarray(14_096));
  });

  it('falls silent in the middle of a gap that is too long to guess, without a step at its edges', () => {
    const { truth, samples } = withHole(30_000, 8000, 24_000);
    expect(Math.max(...samples.subarray(2 * 15_000, 2 * 17_000).map(Math.abs))).toBe(0);
    const step = Math.abs((samples[2 * 8000] ?? 0) - (truth[2 * 8000] ?? 0));
    expect(step).toBeLessThan(0.01);
  });

  it('continues from one side when nothing is known on the other', () => {
    const samples = stereo(6000);
    fillLost(samples, 2, RATE, [{ first: 5000, end: 6000 }]);
    expect(samples.every(Number.isFinite)).toBe(true);
    expect(Math.abs(samples[2 * 5020] ?? 0)).toBeGreaterThan(0);
  });
});
