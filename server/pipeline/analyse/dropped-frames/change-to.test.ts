import { describe, expect, it } from 'vitest';
import { createChangeTo } from './change-to.ts';

/** Picture 3 was not decoded; a shot begins at picture 6. */
const changeTo = createChangeTo({ frameOfDecoded: [0, 1, 2, 4, 5, 6, 7], decodedCuts: [5] });
const changes = [0, 11, 12, 14, 15, 16, 17];
const all = (to: (frame: number) => number | null) => Array.from({ length: 8 }, (_, frame) => to(frame));

describe('createChangeTo', () => {
  it('answers by displayed picture, but not for the first, a lost one or a cut', () => {
    expect(all(changeTo(changes))).toEqual([null, 11, 12, null, 14, 15, null, 17]);
  });

  it('does not compare across a cut', () => {
    expect(all(changeTo(changes, { steps: 2 }))).toEqual([null, null, 12, null, 14, 15, null, null]);
  });

  it('skips steps from and to unreliable pictures', () => {
    expect(all(changeTo(changes, { unfit: new Set([1]) }))).toEqual([
      null,
      null,
      null,
      null,
      14,
      15,
      null,
      17,
    ]);
  });
});
