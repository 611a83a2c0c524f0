import { describe, expect, it } from 'vitest';
import { frameSeries } from '#server/test/frame-series.ts';
import { detectStutter } from './detect-stutter.ts';
import { comesToRest, creeps, glidesToRest, isTurn, swells } from './stutter-easing.ts';

/** A figure that slows down to a stop (measured values), rests, and then words appear. */
const SLOWING = [8.88, 7.93, 7.28, 6.57, 5.94, 4.96, 3.71];
const GLIDE = [2.3, 1.3, 1.13, 1.21, 1.14];
const run = { first: 60, last: 64 };
const before = Array.from({ length: 53 }, (_, i) => 9.2 + 0.3 * Math.sin(i));
const behind = [20.46, ...Array.from({ length: 40 }, (_, i) => 7 + Math.sin(1.3 * i))];
const clip = (inside: readonly number[]) => [...before, ...SLOWING, ...inside, ...behind];

describe('glidesToRest', () => {
  it('recognises a motion that glides into its rest, step by step', () => {
    expect(glidesToRest({ ...run, moves: clip(GLIDE) })).toBe(true);
    expect(detectStutter(frameSeries(clip(GLIDE)), { cuts: [], fps: 30 })).toEqual([]);
  });

  it('does not mistake copies in slowing motion for a glide, because the first of them is still at once', () => {
    const copies = [0.6, 0.3, 0.3, 0.3, 0.3];
    expect(glidesToRest({ ...run, moves: clip(copies) })).toBe(false);
    expect(detectStutter(frameSeries(clip(copies)), { cuts: [], fps: 30 })).toMatchObject([run]);
  });
});

describe('swells', () => {
  it('leaves what a coarse encoder changes in copies beside far livelier motion (measured values)', () => {
    const copies = [0.15, 0.1, 0.11, 0.19, 1.19, 1.08, 2.28];
    expect(swells(copies, 17)).toBe(false);
    expect(swells(copies, 8)).toBe(true);
  });

  it('recognises a pointer that moves in a page at rest (measured values)', () => {
    const rest = [0.3, 0.57, 1.5, 1.61, 0.76, 0.43, 0.56, 0.43];
    expect(swells(rest, 8)).toBe(true);
    expect(detectStutter(frameSeries(clip(rest)), { cuts: [], fps: 30 })).toEqual([]);
  });

  it.each([
    ['copies that settle', [2.4, 2.1, 0.4, 0.3, 0.2, 0.1]],
    ['the better coded picture of a key picture', [0.4, 0.2, 2.2, 0.3, 0.2, 0.2]],
    ['copies that an encoder codes in turns', [0.9, 0.3, 0.9, 0.3, 0.9, 0.3]],
    ['a pair', [0.2, 1.4]],
  ])('does not mistake %s for motion', (_, values) => {
    expect(swells(values, 8)).toBe(false);
  });
});

/**
 * A drawn laptop that enters fast, slows down and rests until it moves on (measured values); the encoder still refines
 * the first pictures of the rest.
 */
const BRISK = [8.2, 7.2, 5.9, 7.8, 25.3, 64.4, 131.8, 51.1, 29.6, 14.6];
const SETTLING = [1.07, 5.69, 5.12, 3.36];
const RESTED = Array.from({ length: 25 }, () => 0.16);
const GOING_ON = [1.68, 47.48, 50.73, 25.83, 17.65, 10.06, 6.89, 12, 16, 20.6, 26.4, 24.5, 35.9, 40.8];

describe('a lull', () => {
  const pointer = Array.from({ length: 50 }, (_, i) => 28 + Math.sin(1.3 * i));
  const slowing = [26.87, 23.76, 25.13, 18.85, 12.67, 2.68];
  const still = [0.21, 0.18, 0.02, 0.01, 0.02, 0.02, 0.83];

  it('is not a run of copies if the motion slows down into it and starts slowly after it, as a pointer does', () => {
    const moves = [...pointer, ...slowing, ...still, 3.34, 6.35, 8.94, 12, 16.56, 21.98, 26.03, ...pointer];
    expect(glidesToRest({ first: 56, last: 62, moves })).toBe(true);
    expect(detectStutter(frameSeries(moves), { cuts: [], fps: 30 })).toEqual([]);
  });

  it('is one if the motion only slows down into it', () => {
    const moves = [...pointer, ...slowing, ...still, ...pointer];
    expect(glidesToRest({ first: 56, last: 62, moves })).toBe(false);
  });
});

describe('a turn', () => {
  const dims = [2.44, 2.31, 1.89, 2.42, 1.96, 1.52, 1.71, 1.53, 1.18, 0.87, 0.73];
  const glows = [1.1, 1.52, 1.64, 1.74, 1.88, 2.04, 2.01, 2.17, 1.85, 2.04, 1.84];
  const pulse = Array.from({ length: 30 }, (_, i) => 2.2 + 0.3 * Math.sin(1.3 * i));
  const run = { first: 41, last: 42 };

  it('is recognised where a light dims, holds for two pictures and glows again (measured values)', () => {
    const moves = [...pulse, ...dims, 0.04, 0.04, ...glows, ...pulse];
    expect(isTurn({ ...run, moves })).toBe(true);
    expect(detectStutter(frameSeries(moves), { cuts: [], fps: 25 })).toEqual([]);
  });

  it('is not seen in copies that motion around them does not slow down for', () => {
    const moves = [...pulse, ...dims.slice(0, -2), 1.6, 1.7, 0.04, 0.04, ...glows, ...pulse];
    expect(isTurn({ ...run, moves })).toBe(false);
    expect(detectStutter(frameSeries(moves), { cuts: [], fps: 25 })).toMatchObject([run]);
  });
});

describe('a title before a cut', () => {
  const title = [5.7, 10.9, 22.9, 32.4, 19, 15.4, 8.8];
  const shot = Array.from({ length: 40 }, (_, i) => 40 + 10 * Math.sin(1.3 * i));
  const clip = (inside: readonly number[]) => [...shot, 95, ...title, ...inside, 109, ...shot];
  const cuts = [40, 52];

  it('that only grows slowly is no run of copies (measured values)', () => {
    expect(creeps([1.58, 1.51, 2, 2.28])).toBe(true);
    expect(detectStutter(frameSeries(clip([1.58, 1.51, 2, 2.28])), { cuts, fps: 25 })).toEqual([]);
  });

  it('that is held shows copies, which settle', () => {
    expect(creeps([2.28, 2, 1.51, 1.58])).toBe(false);
    expect(creeps([0.4, 0.3, 0.6, 0.7])).toBe(false);
    const run = { first: 48, last: 51, endsAtCut: true };
    expect(detectStutter(frameSeries(clip([2.28, 2, 1.51, 1.58])), { cuts, fps: 25 })).toMatchObject([run]);
  });
});

describe('comesToRest', () => {
  it('recognises a drawing that starts at once and slows down to a long rest', () => {
    const drawn = Array.from({ length: 40 }, (_, i) => 32 + 4 * Math.sin(1.3 * i));
    const moves = [...drawn, ...BRISK, ...SETTLING, ...RESTED, ...GOING_ON, ...drawn];
    expect(comesToRest({ first: 50, last: 78, moves })).toBe(true);
    expect(detectStutter(frameSeries(moves), { cuts: [], fps: 33 })).toEqual([]);
  });

  it('does not mistake motion that halves before copies for a rest', () => {
    const even = Array.from({ length: 50 }, (_, i) => 12 + Math.sin(1.7 * i));
    const moves = [...even, 14, 12, 9, 7, ...RESTED, ...even];
    expect(comesToRest({ first: 54, last: 78, moves })).toBe(false);
  });
});
