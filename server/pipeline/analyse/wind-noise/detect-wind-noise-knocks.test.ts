import { describe, expect, it } from 'vitest';
import { countKnocks } from './detect-wind-noise-knocks.ts';

/** Levels of frames 32 ms apart: a floor of -40 dBFS, with the given levels from the 10th frame on. */
function around(shape: readonly number[]): number[] {
  return [...Array.from({ length: 10 }, () => -40), ...shape, ...Array.from({ length: 20 }, () => -40)];
}

describe('countKnocks', () => {
  it('counts a sudden rise that decays at once', () => {
    expect(countKnocks(around([-30, -20, -24, -28, -32, -36]))).toBe(1);
    const twice = [...around([-22, -20, -26, -33]), ...around([-22, -20, -26, -33])];
    expect(countKnocks(twice)).toBe(2);
  });

  it('counts neither a gust that stays nor a slow swell nor a faint knock', () => {
    expect(countKnocks(around([-30, -20, ...Array.from({ length: 15 }, () => -21)]))).toBe(0);
    expect(countKnocks(around([-38, -35, -32, -29, -26, -23, -20, -25, -31, -36]))).toBe(0);
    expect(countKnocks(around([-36, -33, -37]))).toBe(0);
  });
});
