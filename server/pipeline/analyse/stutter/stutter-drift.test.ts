import { describe, expect, it } from 'vitest';
import { frameSeries } from '#server/test/frame-series.ts';
import { detectStutter } from './detect-stutter.ts';
import { drifts } from './stutter-drift.ts';

const run = { first: 60, last: 69 };
const isHeld = (i: number) => i >= run.first && i <= run.last;
const moves = Array.from({ length: 120 }, (_, i) => (isHeld(i) ? 0.4 : 12 + 3 * Math.sin(1.3 * i)));

const copies = frameSeries(moves);
/** Slow motion adds up over a distance; what an encoder leaves of copies does not. */
const slow = {
  ...copies,
  blockDiff: new Map(
    [...copies.blockDiff].map(([lag, values]) => [
      lag,
      values.map((value, i) => (isHeld(i) && i - lag >= run.first - 1 ? 0.4 * lag : value)),
    ]),
  ),
};

describe('drifts', () => {
  it('distinguishes slow motion from copies by how its changes add up', () => {
    expect(drifts(slow, run)).toBe(true);
    expect(drifts(copies, run)).toBe(false);
  });

  it('does not mistake refinement for motion that is next to nothing against the steps beside it', () => {
    const four = { first: 60, last: 63 };
    const near = moves.map((_, i) => (i >= four.first && i <= four.last ? 0.1 : 12));
    const grown = (grey: number) => {
      const far = moves.map(() => grey);
      return { ...copies, blockDiff: new Map(copies.blockDiff).set(1, near).set(4, far) };
    };
    expect(drifts(grown(0.4), four)).toBe(false);
    expect(drifts(grown(0.8), four)).toBe(true);
  });

  it('does not mistake an encoder’s refinement of five copies, 2.6 times a single change, for motion', () => {
    const refined = (times: number) => ({
      ...copies,
      blockDiff: new Map(copies.blockDiff).set(
        4,
        moves.map(() => times * 0.4),
      ),
    });
    expect(drifts(refined(2.6), { first: 60, last: 64 })).toBe(false);
    expect(drifts(refined(4), { first: 60, last: 64 })).toBe(true);
    const longer = {
      ...copies,
      blockDiff: new Map(copies.blockDiff).set(
        8,
        moves.map(() => 2.6 * 0.4),
      ),
    };
    expect(drifts(longer, run)).toBe(true);
  });

  it('says nothing about three pictures, over which encoders still refine', () => {
    expect(drifts(slow, { first: 60, last: 62 })).toBe(false);
  });

  it('does not mistake an encoder’s refinement at the start of a long run for motion, because it comes to an end', () => {
    const long = { first: 60, last: 88 };
    const still = moves.map((move, i) => (i >= long.first && i <= long.last ? 0.2 : move));
    const refinedUntil = (end: number) => ({
      ...copies,
      blockDiff: new Map([[1, still] as const, [16, still.map((_, i) => (i <= end ? 1.2 : 0.1))] as const]),
    });
    expect(drifts(refinedUntil(80), long)).toBe(false);
    expect(drifts(refinedUntil(long.last), long)).toBe(true);
  });

  it('is not misled by a last picture in which motion starts again', () => {
    const wakes = (series: typeof copies) => ({
      ...series,
      blockDiff: new Map(series.blockDiff).set(
        1,
        moves.map((move, i) => (i === run.last ? 2 : move)),
      ),
    });
    expect(drifts(wakes(slow), run)).toBe(true);
    expect(drifts(wakes(copies), run)).toBe(false);
  });

  it('keeps slowly moving pictures out of the stutters', () => {
    expect(detectStutter(copies, { cuts: [], fps: 30 })).toMatchObject([run]);
    expect(detectStutter(slow, { cuts: [], fps: 30 })).toEqual([]);
  });
});
