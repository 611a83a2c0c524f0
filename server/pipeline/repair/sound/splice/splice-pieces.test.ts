import { describe, expect, it } from 'vitest';
import { planPieces, unknownSamples } from './splice-pieces.ts';

/** Frames, with those at these places lost. */
const without = (count: number, lost: readonly number[]) =>
  Array.from({ length: count }, (_, place) => (lost.includes(place) ? null : {}));

describe('planPieces', () => {
  it('rebuilds stretches of lost frames, near ones together', () => {
    const pieces = planPieces(without(60, [10, 13, 30, 31]));
    expect(pieces.map(({ lost }) => lost)).toEqual([
      { first: 10, end: 14 },
      { first: 30, end: 32 },
    ]);
    expect(pieces[0]?.coded.first).toBeLessThan(10);
    expect(pieces[0]?.coded.end).toBeGreaterThan(14);
  });

  it('has nothing to make when nothing is lost', () => {
    expect(planPieces(without(5, []))).toEqual([]);
  });
});

describe('unknownSamples', () => {
  it('counts the frame after a lost one as unknown, because it is decoded with its half', () => {
    expect(unknownSamples(without(20, [4, 5, 9, 11]), 100)).toEqual([
      { first: 400, end: 700 },
      { first: 900, end: 1300 },
    ]);
  });

  it('ends with the sound', () => {
    expect(unknownSamples(without(6, [5]), 100)).toEqual([{ first: 500, end: 600 }]);
  });
});
