import { describe, expect, it } from 'vitest';
import { createRepeatWatch } from './repair-signs.ts';

/** Places of the pictures of a thing that moves by so many grey levels a step at which a repeat is seen. */
function repeatsSeen(places: readonly number[]): number[] {
  const watch = createRepeatWatch();
  return places.flatMap((place, at) => {
    const before = places[at - 1];
    return watch(before === undefined ? null : 4 * Math.abs(place - before)) ? [at] : [];
  });
}

describe('createRepeatWatch', () => {
  it('sees a picture that repeats the one before in a clip that moves', () => {
    const places = Array.from({ length: 40 }, (_, at) => (at < 30 ? at : at - 1));
    expect(repeatsSeen(places)).toEqual([30]);
  });

  it('sees nothing in steady motion, in a still scene and in the first pictures', () => {
    expect(repeatsSeen(Array.from({ length: 40 }, (_, at) => at))).toEqual([]);
    expect(repeatsSeen(Array.from({ length: 40 }, () => 7))).toEqual([]);
    expect(repeatsSeen([0, 1, 2, 2, 3])).toEqual([]);
  });
});
