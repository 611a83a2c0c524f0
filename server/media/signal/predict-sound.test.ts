import { describe, expect, it } from 'vitest';
import { seededRandom } from '#server/test/seeded-random.ts';
import { predictSound } from './predict-sound.ts';

const RATE = 48_000;
const tone = (from: number, count: number) =>
  Float32Array.from({ length: count }, (_, i) => {
    const t = (from + i) / RATE;
    return 0.3 * Math.sin(2 * Math.PI * 220 * t) + 0.2 * Math.sin(2 * Math.PI * 1730 * t + 1);
  });
const energy = (samples: Float32Array) => samples.reduce((sum, value) => sum + value * value, 0);

describe('predictSound', () => {
  it('continues tones', () => {
    const truth = tone(4096, 2048);
    const predicted = predictSound(tone(0, 4096), 2048);
    const error = energy(predicted.map((value, i) => value - (truth[i] ?? 0)));
    expect(error).toBeLessThan(0.001 * energy(truth));
  });

  it('lets noise decay, and never gets louder than it', () => {
    const random = seededRandom(3);
    const noise = Float32Array.from({ length: 4096 }, () => random() - 0.5);
    const predicted = predictSound(noise, 4096);
    expect(energy(predicted.subarray(0, 1024))).toBeLessThan(energy(noise.subarray(0, 1024)));
    expect(energy(predicted.subarray(3072))).toBeLessThan(0.05 * energy(noise.subarray(3072)));
  });

  it('returns silence for silence, for nothing and for almost nothing', () => {
    expect(predictSound(new Float32Array(4096), 10)).toEqual(new Float32Array(10));
    expect(predictSound(new Float32Array(0), 10)).toEqual(new Float32Array(10));
    expect(predictSound(Float32Array.of(0.5, 0.5), 3).every(Number.isFinite)).toBe(true);
  });
});
