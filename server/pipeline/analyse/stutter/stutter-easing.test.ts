import { describe, expect, it } from 'vitest';
import { frameSeries } from '#server/test/frame-series.ts';
import { detectStutter } from './detect-stutter.ts';
import { glidesToRest } from './stutter-easing.ts';

/** A figure that slows down to a stop as measured, rests, and then words appear. */
const SLOWING = [8.88, 7.93, 7.28, 6.57, 5.94, 4.96, 3.71];
const GLIDE = [2.3, 1.3, 1.13, 1.21, 1.14];
const run = { first: 60, last: 64 };
const before = Array.from({ length: 53 }, (_, i) => 9.2 + 0.3 * Math.sin(i));
const behind = [20.46, ...Array.from({ length: 40 }, (_, i) => 7 + Math.sin(1.3 * i))];
const clip = (inside: readonly number[]) => [...before, ...SLOWING, ...inside, ...behind];

describe('glidesToRest', () => {
  it('sees a motion that glides on into its rest, step by step', () => {
    expect(glidesToRest({ ...run, moves: clip(GLIDE) })).toBe(true);
    expect(detectStutter(frameSeries(clip(GLIDE)), [], 30)).toEqual([]);
  });

  it('takes copies in slowing motion for no glide, as the first of them stands at once', () => {
    const copies = [0.6, 0.3, 0.3, 0.3, 0.3];
    expect(glidesToRest({ ...run, moves: clip(copies) })).toBe(false);
    expect(detectStutter(frameSeries(clip(copies)), [], 30)).toMatchObject([run]);
  });
});
