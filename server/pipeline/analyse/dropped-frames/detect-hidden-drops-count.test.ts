import { describe, expect, it } from 'vitest';
import { fitCounts } from './detect-hidden-drops-count.ts';

const counted = (...counts: number[]) =>
  counts.map((missing, at) => ({ after: 20 * at + 10, missing, ratio: 2, confidence: 0.9 }));
const fitted = (counts: number[], deficit: number) =>
  fitCounts(counted(...counts), deficit).map(({ missing }) => missing);

describe('fitCounts', () => {
  it('makes all losses together match what the sound is missing', () => {
    expect(fitted([7], 5.2)).toEqual([5]);
    expect(fitted([3, 3], 7.8)).toEqual([4, 4]);
    expect(fitted([15, 3], 12.9)).toEqual([11, 2]);
    expect(fitted([2, 2], 4.3)).toEqual([2, 2]);
  });

  it('does not add pictures of undetected losses to a detected one', () => {
    expect(fitted([3], 12)).toEqual([5]);
    expect(fitted([1, 4], 15)).toEqual([2, 6]);
  });

  it('leaves at least half of what the motion shows, and at least one', () => {
    expect(fitted([7], 1.6)).toEqual([4]);
    expect(fitted([1, 1, 1], 2)).toEqual([1, 1, 1]);
  });

  it('does nothing when nothing is lost', () => {
    expect(fitCounts([], 5)).toEqual([]);
  });
});
