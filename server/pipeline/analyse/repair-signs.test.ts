import { describe, expect, it } from 'vitest';
import { createRepeatWatch, repeatsBySizes } from './repair-signs.ts';

/** Bytes of moving pictures; every fourth one is a reference picture. */
const SIZES = Array.from({ length: 120 }, (_, at) => (at % 4 === 0 ? 9000 : 2500) + (at % 7) * 100);

const withTiny = (places: readonly number[]) => SIZES.map((size, at) => (places.includes(at) ? 60 : size));

describe('repeatsBySizes', () => {
  it('counts places in which several pictures have almost no data', () => {
    expect(repeatsBySizes(SIZES)).toBe(0);
    expect(repeatsBySizes(withTiny([40, 41, 42, 90, 91]))).toBe(2);
  });

  it('ignores a single one, and a still clip', () => {
    expect(repeatsBySizes(withTiny([40]))).toBe(0);
    expect(repeatsBySizes(SIZES.map((size, at) => (at < 60 ? size : 50 + (at % 3))))).toBeLessThan(2);
    expect(repeatsBySizes([])).toBe(0);
  });
});

/** Places at which a run of repeats is seen, for an object whose positions are given in grey levels. */
function repeatsSeen(places: readonly number[]): number[] {
  const watch = createRepeatWatch();
  return places.flatMap((place, at) => {
    const before = places[at - 1];
    return watch(before === undefined ? null : 4 * Math.abs(place - before)) ? [at] : [];
  });
}

describe('createRepeatWatch', () => {
  it('detects a run of pictures that repeat the one before in a moving clip, once', () => {
    const places = Array.from({ length: 40 }, (_, at) => (at < 30 ? at : Math.max(29, at - 4)));
    expect(repeatsSeen(places)).toEqual([31]);
  });

  it('detects nothing in steady motion, in a still scene, in the first pictures and at single repeats', () => {
    expect(repeatsSeen(Array.from({ length: 40 }, (_, at) => at))).toEqual([]);
    expect(repeatsSeen(Array.from({ length: 40 }, () => 7))).toEqual([]);
    expect(repeatsSeen([0, 1, 2, 2, 2, 3])).toEqual([]);
    expect(repeatsSeen(Array.from({ length: 40 }, (_, at) => (at < 30 ? at : at - 1)))).toEqual([]);
  });
});
