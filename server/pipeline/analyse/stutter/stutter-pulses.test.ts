import { describe, expect, it } from 'vitest';
import { frameSeries } from '#server/test/frame-series.ts';
import { detectStutter } from './detect-stutter.ts';
import { isBetweenPulses } from './stutter-pulses.ts';

/** A photograph that is shaken with the beat, and rests for a moment between two pulses (measured values). */
const PULSES = [
  50.0, 28.2, 21.1, 14.0, 10.4, 7.2, 4.9, 4.1, 1.2, 9.0, 59.1, 25.6, 18.5, 12.3, 8.7, 5.9, 4.8, 2.4, 2.2, 8.0,
  48.1, 26.5, 16.3, 10.5, 7.2, 5.3, 4.2, 2.4, 2.1, 0.9, 8.1, 2.7, 7.9, 2.8, 2.0, 2.1, 3.0, 2.7, 2.0, 2.0, 8.7,
];
const run = { first: 17, last: 19 };

describe('isBetweenPulses', () => {
  it('recognises the rest between two pulses of an effect', () => {
    expect(isBetweenPulses({ ...run, moves: PULSES })).toBe(true);
    expect(detectStutter(frameSeries(PULSES), { cuts: [], fps: 24 })).toEqual([]);
  });

  it('leaves copies in motion that only slows down, or goes on behind them as it was', () => {
    const goesOn = PULSES.map((move, i) => (i > run.last ? 8 + Math.sin(1.7 * i) : move));
    expect(isBetweenPulses({ ...run, moves: goesOn })).toBe(false);
    const even = PULSES.map((_, i) => (i >= run.first && i <= run.last ? 0.2 : 8 + Math.sin(1.7 * i)));
    expect(isBetweenPulses({ ...run, moves: even })).toBe(false);
    expect(detectStutter(frameSeries(even), { cuts: [], fps: 24 })).toMatchObject([run]);
  });
});
