import { describe, expect, it } from 'vitest';
import { listedSoundEndMs } from './sound-end.ts';

const timeBase = { num: 1, den: 44_100 };
const endOf = (durationTicks: number[]) => {
  return listedSoundEndMs({ timeBase, ptsTicks: durationTicks.map((_, i) => i * 2048), durationTicks });
};

describe('listedSoundEndMs', () => {
  it('lets the last frame last no longer than the others, whatever the stated length leaves for it', () => {
    expect(endOf([2048, 2048, 9092])).toBeCloseTo((3 * 2048) / 44.1, 6);
    expect(endOf([2048, 2048, 500])).toBeCloseTo((2 * 2048 + 500) / 44.1, 6);
  });

  it('believes a lone packet, and tells nothing without any', () => {
    expect(endOf([9092])).toBeCloseTo(9092 / 44.1, 6);
    expect(endOf([])).toBeNull();
  });
});
