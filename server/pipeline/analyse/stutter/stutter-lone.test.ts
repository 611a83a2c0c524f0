import { describe, expect, it } from 'vitest';
import { isLone } from './stutter-lone.ts';

const run = { first: 40, last: 45 };
const other = { first: 70, last: 75 };

/** Steps of a clip in motion, with runs of others in it. */
function movesOf(
  count: number,
  ...stills: readonly { first: number; last: number; change: number }[]
): number[] {
  return Array.from({ length: count }, (_, at) => {
    return stills.find(({ first, last }) => at >= first && at <= last)?.change ?? 3 + (at % 7);
  });
}

describe('isLone', () => {
  it('holds where nothing else in the clip is nearly as still', () => {
    expect(isLone(run, movesOf(120, { ...run, change: 0.2 }), [])).toBe(true);
    expect(isLone(run, movesOf(120, { ...run, change: 0.6 }), [])).toBe(false);
  });

  it('does not where the clip rests elsewhere too, unless copies stand there', () => {
    const moves = movesOf(120, { ...run, change: 0.2 }, { ...other, change: 0.3 });
    expect(isLone(run, moves, [])).toBe(false);
    expect(isLone(run, moves, [other])).toBe(true);
  });

  it('says nothing of a clip that is too short to show how it moves', () => {
    expect(isLone(run, movesOf(60, { ...run, change: 0.2 }), [])).toBe(false);
  });
});
