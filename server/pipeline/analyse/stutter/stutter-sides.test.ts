import { describe, expect, it } from 'vitest';
import { frameSeries } from '#server/test/frame-series.ts';
import { detectStutter } from './detect-stutter.ts';

describe('judgeSides', () => {
  it('takes no flash for a far step, before which little stillness would suffice (measured values)', () => {
    const before = [15.9, 33, 54.1, 59.3, 42.8, 84.9, 65.2, 38.8, 13.8, 30.5, 5.4, 44.3, 63.3, 77.1, 21.5];
    const behind = [110.6, 6.8, 7.3, 6, 9.5, 48.5, 48.5, 39.5, 30.3, 23, 19.9, 30.6, 34.5];
    const moves = [...before, ...before, 2.43, 2.47, 2.36, ...behind, ...before];
    const found = (shades: number) =>
      detectStutter(frameSeries(moves, { histogramDiff: moves.map((_, i) => (i === 33 ? shades : 0.002)) }), {
        cuts: [],
        fps: 30,
      });
    expect(found(0.03)).toMatchObject([{ first: 30, last: 32 }]);
    expect(found(0.143)).toEqual([]);
  });
});
