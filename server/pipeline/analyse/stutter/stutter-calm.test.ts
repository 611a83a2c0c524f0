import { describe, expect, it } from 'vitest';
import { findCalmRuns } from './stutter-calm.ts';

/** Little motion, about one grey level a step, with what stands in place of the steps from `first` on. */
function calmMotion(first: number, ...run: readonly number[]): number[] {
  const moves = Array.from({ length: 60 }, (_, at) => 0.85 + 0.3 * ((at * 7) % 5) * 0.25);
  return moves.toSpliced(first, run.length, ...run);
}

const placesOf = (moves: readonly number[]) =>
  findCalmRuns(moves, new Set(), 36).map(({ first, last }) => [first, last]);

describe('findCalmRuns', () => {
  it('begins with the first copy, which the encoder still refines by some hundredths', () => {
    expect(placesOf(calmMotion(30, 0.09, 0.06, 0, 0, 2.9))).toEqual([[30, 33]]);
    expect(placesOf(calmMotion(30, 0.05, 0.05, 0, 0, 0, 2.9))).toEqual([[30, 34]]);
  });

  it('ends before a picture that moves, though less than those around it', () => {
    expect(placesOf(calmMotion(30, 0.01, 0, 0.08, 0.05, 0.05, 0.05, 0.67))).toEqual([[30, 35]]);
  });

  it('finds none before a title that fades in, whose first pictures hardly change (measured values)', () => {
    const fading = [0.02, 0.01, 0.01, 0.02, 0.06, 0.14, 0.22, 0.37, 0.45, 0.68, 0.82, 1.14, 1.31, 1.42, 1.69];
    const before = [0.26, 0.24, 0.26, 0.25, 0.28, 0.25, 0.31, 0.3, 4.82];
    expect(placesOf([0, ...before, ...fading, ...calmMotion(0)])).toEqual([]);
  });

  it('finds none where the jump behind leads to rest, such as a cut from a title to black', () => {
    const title = [1.7, 1.9, 2.1, 2.5, 2.8, 3.2, 3.3, 3.7, 3.9, 4.2, 3.7, 0.93];
    const held = [...title, ...Array.from({ length: 10 }, () => 0), 42.08];
    expect(placesOf([0, ...title, ...held, 0, 0, 0])).toEqual([]);
    expect(placesOf([0, ...title, ...held, 3.1, 3.3, 3.2])).toEqual([[24, 34]]);
  });

  it('keeps a refined picture inside a run', () => {
    expect(placesOf(calmMotion(30, 0.01, 0, 0.5, 0.02, 0.02, 0.02))).toEqual([[30, 35]]);
  });
});
