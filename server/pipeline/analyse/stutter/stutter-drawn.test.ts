import { describe, expect, it } from 'vitest';
import { isDrawn, repeatsByNature } from './stutter-drawn.ts';
import { toHolds } from './stutter-holds.ts';

const run = { first: 101, last: 107 };

/** A clip that shows pictures twice, and now and then three times; the pictures of `stills` stand still. */
function onTwos(...stills: readonly { first: number; last: number }[]) {
  const moves = Array.from({ length: 240 }, (_, at) => {
    const isStill = stills.some(({ first, last }) => at >= first && at <= last);
    return isStill || at % 2 === 1 || at % 30 === 14 ? 0.05 : 9;
  });
  const runs = toHolds(moves.map((move) => move < 1));
  return { ...run, moves, holds: runs, runs, cutSet: new Set<number>(), fps: 24 };
}

const drawnWith = (place: ReturnType<typeof onTwos>, pictureSurplus: number | null) =>
  isDrawn(place, { evidence: -0.5, pictureSurplus });

describe('isDrawn', () => {
  it('does not hold for the only long run of a clip whose picture outlasts the sound by just that', () => {
    expect(drawnWith(onTwos(run), 6)).toBe(false);
    expect(drawnWith(onTwos(run), 6.9)).toBe(false);
  });

  it('holds where the lengths say nothing or something else, or where other rests are as long', () => {
    for (const surplus of [null, 0, 2, 4, 9]) expect(drawnWith(onTwos(run), surplus)).toBe(true);
    expect(drawnWith(onTwos(run, { first: 41, last: 46 }), 6)).toBe(true);
  });
});

describe('repeatsByNature', () => {
  it('are those that the clip shows of every picture', () => {
    expect(repeatsByNature(onTwos(run))).toBe(1);
  });

  it('are none in a shot that shows each picture once', () => {
    const place = onTwos(run);
    const full = place.moves.map((_, at) => (at >= run.first && at <= run.last ? 0.05 : 9));
    const runs: [number, number][] = [[run.first, run.last]];
    expect(repeatsByNature({ ...place, moves: full, holds: runs, runs })).toBe(0);
  });
});
