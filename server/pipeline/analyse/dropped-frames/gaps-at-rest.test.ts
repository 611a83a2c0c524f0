import { describe, expect, it } from 'vitest';
import { withoutHolds, withoutRests, withoutUnevenStart, withoutWaits } from './gaps-at-rest.ts';

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

describe('withoutHolds', () => {
  const found = (over: number | null, moves: Readonly<Record<number, number | null>> = {}) =>
    withoutHolds([gap], (frame) => (frame === 41 ? over : (moves[frame] ?? 12 + (frame % 2)))).length;

  it('keeps a hole in motion that has come farther than usual behind it', () => {
    expect(found(24)).toBe(1);
    expect(found(18)).toBe(1);
  });

  it('leaves out what motion does not cross farther than any other step, or where nothing moves', () => {
    expect(found(16)).toBe(0);
    expect(found(24, { 40: 0.1 })).toBe(0);
    expect(found(24, { 42: 0.1 })).toBe(0);
  });

  it('leaves out holes at cuts, where the step is not known', () => {
    const cutAt = (cut: number) =>
      withoutHolds([gap], (frame) => (frame === cut ? null : frame === 41 ? 24 : 12));
    expect([40, 41, 42].map((cut) => cutAt(cut).length)).toEqual([0, 0, 0]);
    expect(cutAt(39)).toHaveLength(1);
  });

  it('does not measure motion by the steps across other holes', () => {
    const other = { ...gap, frameBefore: 42 };
    const moveTo = (frame: number) => (frame === 41 || frame === 43 ? 20 : 12);
    expect(withoutHolds([gap, other], moveTo)).toEqual([gap, other]);
  });
});

describe('withoutUnevenStart', () => {
  const times = (frameBefore: number) => ({
    timeBase: { num: 1, den: 60 },
    ptsTicks: Array.from({ length: 90 }, (_, frame) => frame + (frame > frameBefore ? 2 : 0)),
  });
  const found = (frameBefore: number, move: number, lively = -1) =>
    withoutUnevenStart([{ ...gap, frameBefore }], times(frameBefore), (frame) =>
      frame === lively ? 0.4 : move,
    );

  it('leaves out a hole in the first moments of a screen that stands still', () => {
    expect(found(3, 0.1)).toEqual([]);
    expect(found(15, 0.1)).toEqual([]);
  });

  it('keeps one that comes later, and one beside which something moves', () => {
    expect(found(16, 0.1)).toHaveLength(1);
    expect(found(3, 0.3)).toHaveLength(1);
    for (const lively of [1, 4, 7]) expect(found(3, 0.1, lively), String(lively)).toHaveLength(1);
    expect(found(3, 0.1, 8)).toEqual([]);
  });
});

describe('withoutWaits', () => {
  const found = (moves: Readonly<Record<number, number | null>>) =>
    withoutWaits([gap], (frame) => (frame in moves ? (moves[frame] ?? null) : 0.6)).length;

  it('leaves out a hole between rest and a page that appears, or a cut (measured values)', () => {
    expect(found({ 39: 0.5, 40: 0.3, 41: 85.5, 42: 0.8, 43: 0.6 })).toBe(0);
    expect(found({ 39: 0.9, 40: 0.7, 41: null, 42: 1, 43: 0.8 })).toBe(0);
  });

  it('keeps one in a still shot, and one beside which something moves', () => {
    expect(found({ 41: 1.4 })).toBe(1);
    for (const lively of [39, 40, 42, 43]) expect(found({ 41: 85, [lively]: 1.5 }), String(lively)).toBe(1);
    expect(found({ 41: 85, 40: null })).toBe(1);
    expect(found({ 38: 40, 41: 85, 44: 40 })).toBe(0);
  });
});
