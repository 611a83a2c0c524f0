import { describe, expect, it } from 'vitest';
import { crackles, gustingWind, steadyNoise, voiceLike, type Samples } from '#server/test/synthetic-sound.ts';
import { createCrackleMeter } from './detect-wind-noise-crackles.ts';

const RATE_HZ = 16_000;

function rateOf(samples: Samples, chunk = 5000): number {
  const meter = createCrackleMeter(RATE_HZ);
  for (let i = 0; i < samples.length; i += chunk) meter.push(samples.subarray(i, i + chunk));
  return meter.between(0, samples.length);
}

describe('createCrackleMeter', () => {
  it('counts most of the crackles over a roar, identically however the sound is divided', () => {
    const roar = gustingWind(12, RATE_HZ, 1);
    const embers = crackles(12, RATE_HZ, 8, 6);
    const fire = roar.map((value, i) => value + (embers[i] ?? 0));
    expect(rateOf(fire)).toBeGreaterThan(5);
    expect(rateOf(fire)).toBeLessThan(8);
    expect(rateOf(fire, 333)).toBe(rateOf(fire));
  });

  it.each<[string, Samples]>([
    ['wind', gustingWind(12, RATE_HZ, 2)],
    ['a voice', voiceLike(12, RATE_HZ, 7)],
    ['rain', steadyNoise(12, RATE_HZ, { cutoffHz: 4000, rms: 0.1, seed: 6 })],
    ['silence', new Float32Array(12 * RATE_HZ)],
  ])('counts few in %s', (_, samples) => {
    expect(rateOf(samples)).toBeLessThan(0.5);
  });

  it('counts within the requested stretch', () => {
    const samples = new Float32Array(3 * RATE_HZ);
    samples.set(crackles(1, RATE_HZ, 20, 3), RATE_HZ);
    const meter = createCrackleMeter(RATE_HZ);
    meter.push(samples);
    expect(meter.between(0, RATE_HZ)).toBe(0);
    expect(meter.between(RATE_HZ, 2 * RATE_HZ)).toBeGreaterThan(8);
    expect(meter.between(2 * RATE_HZ, 3 * RATE_HZ)).toBe(0);
  });
});
