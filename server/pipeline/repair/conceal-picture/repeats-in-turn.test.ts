import { describe, expect, it } from 'vitest';
import { isTurnOfRepeat } from './repeats-in-turn.ts';

/** Pictures of which every sixth, from the fourth on, has almost no data. */
const CODED = Array.from({ length: 60 }, (_, i) => ({
  pts: 512 * i,
  sizeBytes: i % 6 === 3 ? 180 : 4000 + (i % 5) * 300,
}));
const without = (lost: number) => CODED.map((one, i) => (i === lost ? { ...one, sizeBytes: 0 } : one));

describe('isTurnOfRepeat', () => {
  it('recognises a lost picture whose turn it was to repeat the one before', () => {
    expect(isTurnOfRepeat(without(33), 33)).toBe(true);
    expect([30, 31, 32, 34, 35].map((lost) => isTurnOfRepeat(without(lost), lost))).toEqual([
      false,
      false,
      false,
      false,
      false,
    ]);
  });

  it('requires three small turns, and others that are not small', () => {
    expect(isTurnOfRepeat(without(57), 57)).toBe(false);
    const larger = (turns: readonly number[]) =>
      without(33).map((picture, i) => (turns.includes(i) ? { ...picture, sizeBytes: 2500 } : picture));
    expect(isTurnOfRepeat(larger([39]), 33)).toBe(true);
    expect(isTurnOfRepeat(larger([27, 39]), 33)).toBe(false);
    const still = without(33).map((picture, i) => (i % 2 === 0 ? { ...picture, sizeBytes: 200 } : picture));
    expect(isTurnOfRepeat(still, 33)).toBe(false);
  });

  it('says nothing when pictures are displayed in another order than they are decoded', () => {
    const reordered = without(33).map((picture, i) =>
      i === 31 ? { ...picture, pts: picture.pts + 1024 } : picture,
    );
    expect(isTurnOfRepeat(reordered, 33)).toBe(false);
  });
});
