import { describe, expect, it } from 'vitest';
import { withoutRests } from './gaps-at-rest.ts';

const gap = { frameBefore: 40, missing: 60, ratio: 61, confidence: 0.7 };
const movesAt = (before: number | null, over: number | null) => (frame: number) =>
  frame === 40 ? before : frame === 41 ? over : 12;

describe('withoutRests', () => {
  it.each([
    ['the motion came to rest before it', 0.2, 40],
    ['next to nothing differs behind it', 30, 1.5],
  ])('treats a hole as a still stretch of a screen when %s', (_, before, over) => {
    expect(withoutRests([gap], movesAt(before, over))).toEqual([]);
  });

  it.each([
    ['a hole in motion', 9, 40],
    ['one whose sides are not known', null, null],
  ])('keeps %s', (_, before, over) => {
    expect(withoutRests([gap], movesAt(before, over))).toEqual([gap]);
  });
});
