import { describe, expect, it } from 'vitest';
import { findHolesWithoutLoss } from './gaps-without-loss.ts';

const gap = { frameBefore: 40, missing: 1, ratio: 2, confidence: 0.99 };
/** Even motion, but for the step over the hole. */
const movesOver = (over: number | null) => (frame: number) => (frame === 41 ? over : 24 + (frame % 3));
const found = (moveTo: (frame: number) => number | null, holes = [gap]) =>
  findHolesWithoutLoss(holes, moveTo, moveTo);

describe('findHolesWithoutLoss', () => {
  it('finds a hole over which no more motion passes than beside it', () => {
    expect(found(movesOver(26))).toEqual([gap]);
  });

  it('leaves a step that is twice as long to the losses', () => {
    expect(found(movesOver(50))).toEqual([]);
  });

  it('asks the whole picture as well: fast blocks change no more over two steps than over one', () => {
    expect(findHolesWithoutLoss([gap], movesOver(26), movesOver(38))).toEqual([]);
  });

  it('leaves a hole of several pictures to the losses, which motion may come back within', () => {
    expect(found(movesOver(26), [{ ...gap, missing: 3, ratio: 4 }])).toEqual([]);
  });

  it.each([
    ['the motion is uneven', (frame: number) => (frame === 41 ? 26 : 14 + 8 * (frame % 3))],
    ['next to nothing moves', () => 1.2],
    ['a cut lies in the hole', movesOver(null)],
  ])('says nothing where %s', (_, moveTo) => {
    expect(found(moveTo)).toEqual([]);
  });

  it('asks no other hole how far things go', () => {
    const other = { ...gap, frameBefore: 42 };
    const moveTo = (frame: number) => (frame === 43 ? 60 : 25);
    expect(found(moveTo, [gap, other])).toEqual([gap]);
  });
});
