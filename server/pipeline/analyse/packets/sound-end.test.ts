import { describe, expect, it } from 'vitest';
import { excessByNatureMs, listedSoundEndMs } from './sound-end.ts';

const timeBase = { num: 1, den: 44_100 };
const endOf = (durationTicks: number[]) => {
  return listedSoundEndMs({ timeBase, ptsTicks: durationTicks.map((_, i) => i * 2048), durationTicks });
};

describe('listedSoundEndMs', () => {
  it('gives the last frame no more than the length of the others, whatever the stated length leaves for it', () => {
    expect(endOf([2048, 2048, 9092])).toBeCloseTo((3 * 2048) / 44.1, 6);
    expect(endOf([2048, 2048, 500])).toBeCloseTo((2 * 2048 + 500) / 44.1, 6);
  });

  it('trusts a single packet, and gives nothing without any', () => {
    expect(endOf([9092])).toBeCloseTo(9092 / 44.1, 6);
    expect(endOf([])).toBeNull();
  });
});

describe('excessByNatureMs', () => {
  it('grows with the frame size, because priming and a last block consist of frames', () => {
    const excessOf = (samples: number) =>
      excessByNatureMs({ timeBase, ptsTicks: [], durationTicks: Array.from({ length: 9 }, () => samples) });
    expect(excessOf(1024)).toBe(100);
    // The excess of service clips with HE-AAC lies in this range.
    expect(excessOf(2048)).toBeGreaterThan(150);
    expect(excessOf(2048)).toBeLessThan(250);
    expect(excessByNatureMs({ timeBase, ptsTicks: [], durationTicks: [] })).toBe(100);
  });
});
