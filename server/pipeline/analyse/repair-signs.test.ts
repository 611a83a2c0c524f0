import { describe, expect, it } from 'vitest';
import { createRepeatWatch } from './repair-signs.ts';

const BYTES = 160 * 88;

/** A ramp that moves by `place` pixels. */
function ramp(place: number): Uint8Array {
  return Uint8Array.from({ length: BYTES }, (_, i) => ((i % 160) * 3 + place * 4) & 255);
}

function repeatsSeen(places: readonly number[]): number[] {
  const watch = createRepeatWatch(BYTES);
  return places.flatMap((place, at) => (watch(ramp(place)) ? [at] : []));
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
