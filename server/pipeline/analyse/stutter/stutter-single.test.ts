import { describe, expect, it } from 'vitest';
import { frameSeries } from '#server/test/frame-series.ts';
import { detectStutter } from './detect-stutter.ts';
import { keepsTime } from './stutter-single.ts';

/** Even motion with single repeats, each followed by a step over one lost picture. */
const withSingles = (at: readonly number[]) =>
  Array.from({ length: 240 }, (_, i) => {
    const usual = 12 + Math.sin(1.3 * i);
    if (at.includes(i)) return 0;
    return at.includes(i - 1) ? 2 * usual : usual;
  });

describe('leadsElsewhere', () => {
  it('takes no caption that goes for a jump over a lost picture', () => {
    const moves = withSingles([60]);
    const found = (after: number) =>
      detectStutter(frameSeries(moves, { sharpness: moves.map((_, i) => (i <= 60 ? 1400 : after)) }), {
        cuts: [],
        fps: 30,
      });
    expect(found(1300)).toMatchObject([{ first: 60, last: 60 }]);
    expect(found(330)).toEqual([]);
  });
});

describe('keepsTime', () => {
  it('recognises single repeats that come once a second by their beat, and leaves the others', () => {
    const beat = [37, 62, 87, 112, 137, 187, 212];
    const found = (at: readonly number[]) =>
      detectStutter(frameSeries(withSingles(at)), { cuts: [], fps: 30 }).map(({ first }) => first);
    expect(found(beat)).toEqual([]);
    expect(found([37, 83, 112, 190])).toEqual([37, 83, 112, 190]);
  });

  it('requires three others on the beat', () => {
    const place = (at: readonly number[]) => ({
      first: 60,
      holds: at.map((one) => [one, one] as const),
      moves: withSingles(at),
      fps: 30,
    });
    expect(keepsTime(place([60, 85, 110]))).toBe(false);
    expect(keepsTime(place([35, 60, 85, 111]))).toBe(true);
    expect(keepsTime(place([60, 120, 180, 239]))).toBe(false);
  });
});
