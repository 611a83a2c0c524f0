import { describe, expect, it } from 'vitest';
import { findHolesWithoutLoss } from './gaps-without-loss.ts';

const gap = { frameBefore: 40, missing: 1, ratio: 2, confidence: 0.99 };
/** Even motion, except for the step across the hole. */
const movesOver = (over: number | null) => (frame: number) => (frame === 41 ? over : 24 + (frame % 3));
type MoveTo = (frame: number) => number | null;
/** The whole picture rests: what moves does so within it. */
const stays: MoveTo = () => 0;
const found = (
  moveTo: MoveTo,
  holes = [gap],
  { growth = 1.8, wholeTo = moveTo, shiftXTo = stays, shiftYTo = stays } = {},
) => {
  const blockOverTwoTo = (frame: number) => (moveTo(frame) === null ? null : 25 * growth);
  return findHolesWithoutLoss(holes, { blockTo: moveTo, blockOverTwoTo, wholeTo, shiftXTo, shiftYTo });
};

describe('findHolesWithoutLoss', () => {
  it('finds a hole across which no more motion happens than beside it', () => {
    expect(found(movesOver(26))).toEqual([gap]);
  });

  it('leaves a step that is twice as long to the losses', () => {
    expect(found(movesOver(50))).toEqual([]);
  });

  it('also checks the whole picture, because fast blocks change no more over two steps than over one', () => {
    expect(found(movesOver(26), [gap], { wholeTo: movesOver(38) })).toEqual([]);
  });

  it('says nothing when two steps change no more than one, as with fast wings', () => {
    expect(found(movesOver(26), [gap], { growth: 1.2 })).toEqual([]);
  });

  it('leaves a hole of several pictures to the losses, because motion may come back within it', () => {
    expect(found(movesOver(26), [{ ...gap, missing: 3, ratio: 4 }])).toEqual([]);
  });

  describe('of several pictures in a pan', () => {
    const hole = { ...gap, missing: 2, ratio: 3 };
    const panOver = (over: number | null) => (frame: number) =>
      frame === 41 ? over : 0.7 + 0.05 * (frame % 3);
    const inPan = (shiftXTo: MoveTo, over = hole) => found(movesOver(26), [over], { shiftXTo });

    it('finds one across which the pan goes a single step', () => {
      expect(inPan(panOver(0.66))).toEqual([hole]);
      expect(found(movesOver(26), [gap, { ...hole, frameBefore: 60 }], { shiftXTo: panOver(0.7) })).toEqual([
        gap,
        { ...hole, frameBefore: 60 },
      ]);
    });

    it.each([
      ['the pan goes as far as three steps', panOver(2.2)],
      ['the pan goes elsewhere', panOver(-0.7)],
      ['a cut lies in the hole', panOver(null)],
      ['the pan is uneven', (frame: number) => (frame === 38 ? 0.2 : 0.7)],
      ['the camera rests', (frame: number) => 0.1 + 0.01 * (frame % 3)],
    ])('leaves it to the losses when %s', (_, shiftXTo) => {
      expect(inPan(shiftXTo)).toEqual([]);
    });

    it('leaves it to the losses when what moves goes farther than a step', () => {
      expect(found(movesOver(34), [hole], { shiftXTo: panOver(0.7) })).toEqual([]);
    });

    it('leaves longer holes to the losses', () => {
      expect(inPan(panOver(0.7), { ...hole, missing: 4, ratio: 5 })).toEqual([]);
    });
  });

  it.each([
    ['the motion is uneven', (frame: number) => (frame === 41 ? 26 : 14 + 8 * (frame % 3))],
    ['next to nothing moves', () => 1.2],
    ['a cut lies in the hole', movesOver(null)],
  ])('says nothing when %s', (_, moveTo) => {
    expect(found(moveTo)).toEqual([]);
  });

  it('does not compare with other holes', () => {
    const other = { ...gap, frameBefore: 42 };
    const moveTo = (frame: number) => (frame === 43 ? 60 : 25);
    expect(found(moveTo, [gap, other])).toEqual([gap]);
  });

  describe('of many holes', () => {
    const holes = [40, 70, 100, 130, 160].map((frameBefore) => ({ ...gap, frameBefore }));
    const behind = new Set(holes.map(({ frameBefore }) => frameBefore + 1));
    /** Steps too uneven to judge a single hole. */
    const moveTo = (over: number) => (frame: number) =>
      behind.has(frame) ? over + (frame % 7) : 14 + 11 * (frame % 3);

    it('accepts all when half of them say that nothing is missing', () => {
      expect(found(moveTo(24), holes)).toEqual(holes);
    });

    it('accepts none when most go farther', () => {
      expect(found(moveTo(46), holes)).toEqual([]);
    });

    it('accepts none when there are few', () => {
      expect(found(moveTo(24), holes.slice(0, 3))).toEqual([]);
    });
  });
});
