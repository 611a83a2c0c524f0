import { describe, expect, it } from 'vitest';
import type { PictureTimes } from '../analyse/analysis.ts';
import { planWindows } from './look-again.ts';

const pictures: PictureTimes = {
  timeBase: { num: 1, den: 1000 },
  ptsTicks: Array.from({ length: 1000 }, (_, frame) => frame * 40),
  keyframe: Array.from({ length: 1000 }, (_, frame) => frame % 25 === 0),
  medianIntervalTicks: 40,
  variableByNature: false,
};

const inOrder = pictures.ptsTicks.map((_, frame) => frame);

describe('planWindows', () => {
  it('reaches from a key frame a second and a quarter before to as much behind', () => {
    expect(planWindows(pictures, inOrder, [510, 511, 512])).toEqual([
      { first: 475, shown: 478, end: 545, packets: 70 },
    ]);
  });

  it('joins windows that meet and keeps distant ones apart', () => {
    expect(planWindows(pictures, inOrder, [200, 255, 900])).toEqual([
      { first: 150, shown: 168, end: 288, packets: 138 },
      { first: 850, shown: 868, end: 933, packets: 83 },
    ]);
  });

  it('stays inside the clip', () => {
    expect(planWindows(pictures, inOrder, [0, 999])).toEqual([
      { first: 0, shown: 0, end: 33, packets: 33 },
      { first: 950, shown: 967, end: 1000, packets: 50 },
    ]);
  });

  it('ends where nothing that is still to be decoded belongs before it', () => {
    // Each key frame is followed by groups of four, whose last picture is decoded first.
    const reordered = inOrder.map((at) => (at % 25 === 0 ? at : (at % 25) % 4 === 1 ? at + 3 : at - 1));
    // 543 would be the end, but picture 545 is decoded before 542 to 544.
    expect(planWindows(pictures, reordered, [510])).toEqual([
      { first: 475, shown: 478, end: 546, packets: 71 },
    ]);
  });

  it('is empty when nothing is new', () => {
    expect(planWindows(pictures, inOrder, [])).toEqual([]);
  });
});
