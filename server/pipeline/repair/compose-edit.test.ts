import { describe, expect, it } from 'vitest';
import { composeEdit, plannedPictures } from './compose-edit.ts';
import type { ChangedSpan, NewPicture } from './picture-edit.ts';

const fresh = (ptsTicks: number): NewPicture => ({ ptsTicks, pixels: { kind: 'original', frame: 0 } });
const times = [0, 10, 20, 30, 40, 50, 60, 70];
const removal: ChangedSpan = { firstFrame: 2, endFrame: 4, pictures: [], shiftAfterTicks: -20 };
const insertion: ChangedSpan = { firstFrame: 6, endFrame: 6, pictures: [fresh(55)], shiftAfterTicks: 0 };

describe('composeEdit', () => {
  it('sorts spans and moves later new pictures by what earlier spans remove', () => {
    const edit = composeEdit([insertion, removal]);
    expect(edit.map(({ firstFrame }) => firstFrame)).toEqual([2, 6]);
    expect(edit[1]?.pictures[0]?.ptsTicks).toBe(35);
  });
});

describe('plannedPictures', () => {
  it('lists the whole result with ascending times', () => {
    const planned = plannedPictures(times, composeEdit([insertion, removal]));
    expect(planned.map(({ originalFrame }) => originalFrame)).toEqual([0, 1, 4, 5, null, 6, 7]);
    expect(planned.map(({ ptsTicks }) => ptsTicks)).toEqual([0, 10, 20, 30, 35, 40, 50]);
  });

  it('is the original for an empty edit', () => {
    expect(plannedPictures(times, []).map(({ ptsTicks }) => ptsTicks)).toEqual(times);
  });
});
