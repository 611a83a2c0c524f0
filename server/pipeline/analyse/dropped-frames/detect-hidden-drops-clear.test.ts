import { describe, expect, it } from 'vitest';
import { NO_VOTES } from '#server/media/grey/grey-jump-votes.ts';
import type { JumpMeasure } from '#server/media/grey/grey-jumps.ts';
import { beatenSteps, clearSteps } from './detect-hidden-drops-clear.ts';

const FPS = 30;
const CLEAR: JumpMeasure = {
  windows: 20,
  slope: 2,
  agreement: 0.95,
  steadiness: 0.9,
  excess: 1.8,
  leastAround: 0.8,
  speed: 0.8,
  livelyBlocks: 60,
  commonRise: 1.8,
  votes: { voters: 12, share: 0.9, factor: 2 },
  atPlaces: NO_VOTES,
};

/** The clear steps among those with such small odds; `factor` applies to the first. */
function clear(at: readonly number[], odds = 2, { factor = 2, speaks = false } = {}): number[] {
  const jumps = new Map(
    at.map((step, k) => [step, k > 0 ? CLEAR : { ...CLEAR, votes: { ...CLEAR.votes, factor } }]),
  );
  const scores = Array.from({ length: 400 }, (_, i) => (at.includes(i) ? odds : -Infinity));
  return [...clearSteps({ jumps }, scores, FPS, speaks).keys()];
}

describe('clearSteps', () => {
  it('finds a loss where all windows continue across a step by one factor, although its odds are small', () => {
    expect(clear([100])).toEqual([100]);
    expect(clear([100], 1)).toEqual([]);
    expect(clear([100], 1, { speaks: true })).toEqual([100]);
    expect(clear([100], -0.5, { speaks: true })).toEqual([]);
  });

  it.each([
    { votes: { voters: 2, share: 1, factor: 2 } },
    { votes: { voters: 12, share: 0.6, factor: 2 } },
    { votes: { voters: 12, share: 0.9, factor: 1.5 } },
    { agreement: 0.7 },
    { steadiness: 0.5 },
    { excess: 1.2 },
    { leastAround: 0.1 },
  ])('requires every measure: $votes $agreement $steadiness $excess $leastAround', (other) => {
    const jumps = new Map([[100, { ...CLEAR, ...other }]]);
    expect([
      ...clearSteps(
        { jumps },
        Array.from({ length: 200 }, () => 2),
        FPS,
        false,
      ).keys(),
    ]).toEqual([]);
  });

  it('leaves out many such steps as the rhythm of a recording, and three within a second as a conversion', () => {
    expect(clear([60, 110, 160])).toEqual([60, 110, 160]);
    expect(clear([60, 110, 160, 200])).toEqual([]);
    expect(clear([60, 65, 70])).toEqual([]);
    // Odds that are sufficient by themselves do not count towards a rhythm.
    expect(clear([60, 110, 160, 200], 3)).toEqual([60, 110, 160, 200]);
  });

  it('finds a longer step within such a rhythm', () => {
    expect(clear([60, 110, 160, 200], 2, { factor: 4 })).toEqual([60]);
    expect(clear([60, 110, 160, 200, 240], 2, { factor: 2.2 })).toEqual([]);
  });
});

describe('beatenSteps', () => {
  /** Steps with the given change; all others have half of the first. */
  const beaten = (
    at: readonly number[],
    levels: readonly number[] = [],
    other: Partial<JumpMeasure> = {},
  ) => {
    const meanDiff = Array.from({ length: 400 }, (_, i) =>
      at.includes(i) ? (levels[at.indexOf(i)] ?? 4) : 2,
    );
    const jumps = new Map(at.map((step) => [step, { ...CLEAR, ...other }]));
    return [...beatenSteps({ jumps, meanDiff }, FPS)];
  };

  it('names steps of two pictures that are repeated within a second', () => {
    expect(beaten([103, 105, 108, 111])).toEqual([103, 105, 108, 111]);
    expect(beaten([105, 108])).toEqual([]);
    expect(beaten([100, 140, 180])).toEqual([]);
  });

  it('leaves out one that changes much more than the others', () => {
    expect(beaten([103, 108, 113, 118], [3, 4.5, 3, 3])).toEqual([103, 113, 118]);
  });

  it('requires agreement of the windows on one missing picture', () => {
    expect(beaten([103, 105, 108], [], { votes: { voters: 4, share: 1, factor: 2 } })).toEqual([]);
    expect(beaten([103, 105, 108], [], { votes: { voters: 12, share: 0.7, factor: 2 } })).toEqual([]);
    expect(beaten([103, 105, 108], [], { votes: { voters: 12, share: 0.9, factor: 3 } })).toEqual([]);
  });

  it('names steps in even time, as a lower rate makes them, whatever the windows say', () => {
    const unvoted = { votes: { voters: 4, share: 0.4, factor: 1 } };
    const everySixth = [90, 96, 102, 108, 114];
    expect(beaten(everySixth, [], unvoted)).toEqual([96, 102, 108]);
    // From 30 to 25.25 a second; the motion grows meanwhile.
    const uneven = [85, 90, 96, 101, 106, 112, 117];
    expect(beaten(uneven, [3, 3.2, 3.4, 3.6, 3.8, 4, 4.2], unvoted)).toContain(101);
    expect(beaten([88, 96, 101, 110, 118], [], unvoted)).toEqual([]);
    // From 30 to 25 a second; motion that turns hides half of those nearby, but not those farther away.
    const hidden = [100, 105, 110, 120, 135, 140, 145];
    expect(beaten(hidden, [], unvoted)).toContain(120);
    expect(beaten(hidden.slice(1), [], unvoted)).not.toContain(120);
    // One that goes much farther than the others is a loss among them.
    expect(beaten([90, 96, 102, 108, 114], [3, 3, 9, 3, 3], unvoted)).not.toContain(102);
  });
});
