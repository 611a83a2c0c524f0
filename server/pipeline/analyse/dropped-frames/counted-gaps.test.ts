import { describe, expect, it } from 'vitest';
import type { PictureTimes } from '../analysis.ts';
import { countedGaps, withCounted } from './counted-gaps.ts';

/** Pictures of a variable rate, 90 000 ticks a second. */
const timesOf = (ptsTicks: readonly number[]): PictureTimes => ({
  timeBase: { num: 1, den: 90_000 },
  ptsTicks: [...ptsTicks],
  keyframe: ptsTicks.map((_, at) => at === 0),
  medianIntervalTicks: 3000,
  variableByNature: true,
});
const UNEVEN = [2700, 3300, 3000, 3600, 2400];
const times = Array.from({ length: 40 }, (_, at) => at).reduce<number[]>(
  (all, at) => [...all, (all.at(-1) ?? 0) + (UNEVEN[at % UNEVEN.length] ?? 0)],
  [0],
);
const lost = (frame: number) => times.toSpliced(frame, 1);

describe('countedGaps', () => {
  it('finds pictures that the stream counts as missing where the times have room for them', () => {
    const found = countedGaps(timesOf(lost(20)), [{ placeBefore: 19, missing: 1 }]);
    expect(found).toMatchObject([{ frameBefore: 19, missing: 1 }]);
    expect(found[0]?.ratio).toBeGreaterThan(1.5);
  });

  it('rejects a count of more pictures than fit into that time, because counts restart after a lost key picture', () => {
    expect(countedGaps(timesOf(lost(20)), [{ placeBefore: 19, missing: 13 }])).toEqual([]);
    // The rate inside the hole would be twice as high as beside it.
    expect(countedGaps(timesOf(lost(20)), [{ placeBefore: 19, missing: 3 }])).toHaveLength(1);
  });

  it('accepts only as many as there is room for in a constant rate', () => {
    const even = Array.from({ length: 40 }, (_, at) => at * 3000);
    const without = { ...timesOf(even.toSpliced(20, 3)), variableByNature: false };
    expect(countedGaps(without, [{ placeBefore: 19, missing: 3 }])).toMatchObject([{ missing: 3 }]);
    expect(countedGaps(without, [{ placeBefore: 19, missing: 7 }])).toEqual([]);
  });

  it('finds nothing where there is no room, nor at the ends', () => {
    expect(countedGaps(timesOf(times), [{ placeBefore: 19, missing: 1 }])).toEqual([]);
    expect(countedGaps(timesOf(lost(1)), [{ placeBefore: 0, missing: 1 }])).toEqual([]);
    const last = times.length - 5;
    expect(countedGaps(timesOf(lost(last + 1)), [{ placeBefore: last, missing: 1 }])).toEqual([]);
  });
});

describe('withCounted', () => {
  it('lists each hole once, with the count of the stream', () => {
    const gap = (frameBefore: number, missing: number) => ({
      frameBefore,
      missing,
      ratio: 2,
      confidence: 0.9,
    });
    expect(withCounted([gap(4, 1), gap(30, 1)], [gap(4, 2), gap(9, 1)])).toEqual([
      gap(4, 2),
      gap(9, 1),
      gap(30, 1),
    ]);
  });
});
