import { describe, expect, it } from 'vitest';
import type { PictureTimes } from '../analyse/analysis.ts';
import { nearestFrame, planWindows } from './look-again.ts';

const pictures: PictureTimes = {
  timeBase: { num: 1, den: 1000 },
  ptsTicks: Array.from({ length: 1000 }, (_, frame) => frame * 40),
  keyframe: Array.from({ length: 1000 }, (_, frame) => frame % 25 === 0),
  medianIntervalTicks: 40,
  variableByNature: false,
};

describe('planWindows', () => {
  it('reaches two seconds to both sides and on to key frames', () => {
    expect(planWindows(pictures, [510, 511, 512])).toEqual([{ first: 450, end: 575 }]);
  });

  it('joins windows that meet and keeps distant ones apart', () => {
    expect(planWindows(pictures, [200, 320, 900])).toEqual([
      { first: 150, end: 375 },
      { first: 850, end: 975 },
    ]);
  });

  it('stays inside the clip', () => {
    expect(planWindows(pictures, [0, 999])).toEqual([
      { first: 0, end: 75 },
      { first: 925, end: 1000 },
    ]);
  });

  it('is empty when nothing is new', () => {
    expect(planWindows(pictures, [])).toEqual([]);
  });
});

describe('nearestFrame', () => {
  it('finds the picture whose time is closest', () => {
    expect(nearestFrame(pictures, 4010)).toBe(100);
    expect(nearestFrame(pictures, 4030)).toBe(101);
    expect(nearestFrame(pictures, -5)).toBe(0);
    expect(nearestFrame(pictures, 1e9)).toBe(999);
  });
});
