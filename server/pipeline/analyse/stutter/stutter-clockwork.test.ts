import { describe, expect, it } from 'vitest';
import { frameSeries } from '#server/test/frame-series.ts';
import { detectStutter } from './detect-stutter.ts';
import { leapsInClockwork } from './stutter-clockwork.ts';

const NONE = new Set<number>();
const RESTS = [
  [10, 21],
  [34, 49],
  [78, 91],
  [101, 118],
  [131, 141],
  [152, 170],
] as const;

/** A drawn figure that rests between gestures of 12 grey levels; a run of four starts at 60, followed by a step. */
function figure(step: number, uneven = 0): number[] {
  return Array.from({ length: 180 }, (_, i) => {
    if (RESTS.some(([from, to]) => i >= from && i <= to) || (i >= 60 && i <= 63)) return 0.02;
    return i === 64 ? step : 12 + uneven * Math.sin(1.7 * i);
  });
}

describe('leapsInClockwork', () => {
  const run = { first: 60, last: 63, cutSet: NONE };

  it('recognises a leap in motion that continues as evenly as before', () => {
    expect(leapsInClockwork({ ...run, moves: figure(25) })).toBe(true);
    expect(leapsInClockwork({ ...run, moves: figure(13) })).toBe(false);
  });

  it('says nothing in uneven motion, nor at a cut', () => {
    expect(leapsInClockwork({ ...run, moves: figure(25, 8) })).toBe(false);
    expect(leapsInClockwork({ ...run, cutSet: new Set([64]), moves: figure(25) })).toBe(false);
    expect(leapsInClockwork({ ...run, cutSet: new Set([57]), moves: figure(25) })).toBe(false);
  });

  it('finds lost pictures among the rests of a figure, and ignores its rests', () => {
    expect(detectStutter(frameSeries(figure(25)), { cuts: [], fps: 30 })).toMatchObject([
      { first: 60, last: 63, history: 'held' },
    ]);
    expect(detectStutter(frameSeries(figure(13)), { cuts: [], fps: 30 })).toEqual([]);
  });
});
