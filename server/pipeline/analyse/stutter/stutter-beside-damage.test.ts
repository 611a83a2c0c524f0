import { describe, expect, it } from 'vitest';
import { isRestBesideDamage } from './stutter-beside-damage.ts';

/** Pictures 30 to 39 are damaged, so that their content jumps. */
const isSound = (at: number) => at < 30 || at >= 40;
const movesOf = (before: number, beyond: number) =>
  Array.from({ length: 60 }, (_, at) => {
    if (at < 17) return before;
    if (at < 30) return 0.7;
    return at <= 40 ? 31 : beyond;
  });
const run = { first: 17, last: 29 };

describe('isRestBesideDamage', () => {
  it('distinguishes a rest that continues after damage from repeats', () => {
    expect(isRestBesideDamage(run, { moves: movesOf(25, 0.8), cuts: [], isSound, speaksTrue: isSound })).toBe(
      true,
    );
    expect(isRestBesideDamage(run, { moves: movesOf(25, 12), cuts: [], isSound, speaksTrue: isSound })).toBe(
      false,
    );
  });

  it('recognises one that began before damage', () => {
    const moves = movesOf(25, 0.8).toReversed();
    // The step into the first picture after the damage lies one later than the step out of the last one before it.
    const whole = (at: number) => at < 20 || at >= 29;
    expect(
      isRestBesideDamage({ first: 30, last: 42 }, { moves, cuts: [], isSound: whole, speaksTrue: whole }),
    ).toBe(true);
  });

  it('asks the pictures that refer to damaged ones where damage lasts to the end of the clip', () => {
    const damaged = {
      cuts: [],
      isSound: (at: number) => at < 30,
      speaksTrue: (at: number) => at < 30 || at > 32,
    };
    const ends = (beyond: number) => movesOf(25, beyond).map((move, at) => (at > 33 ? beyond : move));
    expect(isRestBesideDamage(run, { ...damaged, moves: ends(0.3) })).toBe(true);
    expect(isRestBesideDamage(run, { ...damaged, moves: ends(12) })).toBe(false);
  });

  it('says nothing when no damage is near, or another shot follows it', () => {
    const moves = movesOf(25, 0.8);
    expect(isRestBesideDamage(run, { moves, cuts: [], isSound: () => true, speaksTrue: () => true })).toBe(
      false,
    );
    expect(isRestBesideDamage(run, { moves, cuts: [42], isSound, speaksTrue: isSound })).toBe(false);
    expect(
      isRestBesideDamage({ first: 10, last: 14 }, { moves, cuts: [], isSound, speaksTrue: isSound }),
    ).toBe(false);
  });
});
