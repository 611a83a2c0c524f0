import { describe, expect, it } from 'vitest';
import type { PictureTimes } from '../analyse/analysis.ts';
import { planStretches, planWindows } from './look-again.ts';

const pictures: PictureTimes = {
  timeBase: { num: 1, den: 1000 },
  ptsTicks: Array.from({ length: 1000 }, (_, frame) => frame * 40),
  keyframe: Array.from({ length: 1000 }, (_, frame) => frame % 25 === 0),
  medianIntervalTicks: 40,
  variableByNature: false,
};

const inOrder = pictures.ptsTicks.map((_, frame) => frame);

describe('planStretches', () => {
  it('extends a second and a quarter to both sides', () => {
    expect(planStretches(pictures, [510, 511, 512])).toEqual([{ shown: 478, end: 545 }]);
  });

  it('joins stretches that meet and keeps distant ones apart', () => {
    expect(planStretches(pictures, [200, 255, 900])).toEqual([
      { shown: 168, end: 288 },
      { shown: 868, end: 933 },
    ]);
  });

  it('stays inside the clip', () => {
    expect(planStretches(pictures, [0, 999])).toEqual([
      { shown: 0, end: 33 },
      { shown: 967, end: 1000 },
    ]);
  });

  it('is empty when nothing is new', () => {
    expect(planStretches(pictures, [])).toEqual([]);
  });
});

describe('planWindows', () => {
  const between = (from: number, end: number) => inOrder.slice(from, end);

  it('starts at the key frame before the first picture and ends after the last', () => {
    expect(planWindows(pictures, inOrder, between(478, 545))).toEqual([
      { first: 475, shown: 478, end: 545, packets: 70 },
    ]);
  });

  it('decodes nothing between pictures that follow different key frames', () => {
    expect(planWindows(pictures, inOrder, [200, 210, 255])).toEqual([
      { first: 200, shown: 200, end: 211, packets: 11 },
      { first: 250, shown: 255, end: 256, packets: 6 },
    ]);
  });

  it('ends where no picture that is still to be decoded is displayed earlier', () => {
    // Each key frame is followed by groups of four, whose last picture is decoded first.
    const reordered = inOrder.map((at) => (at % 25 === 0 ? at : (at % 25) % 4 === 1 ? at + 3 : at - 1));
    // 543 would be the end, but picture 545 is decoded before 542 to 544.
    expect(planWindows(pictures, reordered, between(478, 543))).toEqual([
      { first: 475, shown: 478, end: 546, packets: 71 },
    ]);
  });

  it('is empty when nothing has to be decoded', () => {
    expect(planWindows(pictures, inOrder, [])).toEqual([]);
  });
});
