import { describe, expect, it } from 'vitest';
import { frameSeries } from '#server/test/frame-series.ts';
import { detectStutter } from './detect-stutter.ts';
import { NOTHING_BEHIND } from './stutter-evidence.ts';
import { isRestless } from './stutter-restless.ts';

/** Measured changes in a drawn scene whose cup and lamp jitter; four pictures of it rest. */
const JITTER = [
  [14.1, 5.29, 12.5, 6.42, 2.29, 0.61, 2.17, 2.59, 3.15, 0.92, 4.51, 6.68, 3.01, 2.36, 12.78, 0.31, 12.71],
  [1.87, 2.07, 0.93, 1.26, 3.16, 3.11, 12.88, 2.5, 9.8, 0.12, 0.65, 0.44, 0.05, 3.81, 1.79, 5.41, 7.43, 7.42],
  [0.66, 9, 5.71, 3.25, 14.18, 1.39, 1.76, 2.02, 0.71, 2.66, 1.19, 8.66, 3.82, 0.47, 3.98, 13.08, 3.42, 4.69],
].flat();
const still = (moves: readonly number[], { first, last }: { first: number; last: number }) => ({
  first,
  last,
  moves,
  holds: [],
  runs: [],
  cutSet: new Set<number>(),
  fps: 24,
});
const run = { first: 26, last: 29 };

describe('isRestless', () => {
  it('recognises motion that jitters and is repeatedly about as still as a run', () => {
    expect(isRestless(still(JITTER, run), NOTHING_BEHIND)).toBe(true);
    expect(isRestless({ ...still(JITTER, run), cutSet: new Set([30]) }, NOTHING_BEHIND)).toBe(false);
    expect(isRestless(still(JITTER, run), { evidence: 1, motionEvidence: 0.9 })).toBe(false);
    expect(detectStutter(frameSeries([0, ...JITTER, ...JITTER]), { cuts: [], fps: 24 })).toEqual([]);
  });

  it('looks at enough pictures of a screen that shows ten a second', () => {
    expect(isRestless({ ...still(JITTER, run), fps: 10 }, NOTHING_BEHIND)).toBe(true);
  });

  it('ignores copies in motion, however much noise an encoder leaves in them', () => {
    const even = JITTER.map((_, i) => 6 + 4 * Math.sin(1.7 * i));
    const copies = even.map((move, i) => (i >= run.first && i <= run.last ? 0.65 : move));
    expect(isRestless(still(copies, run), NOTHING_BEHIND)).toBe(false);
    const stiller = JITTER.map((move, i) => (i >= run.first && i <= run.last ? 0.05 : move));
    expect(isRestless(still(stiller, run), NOTHING_BEHIND)).toBe(false);
  });

  it('does not mistake the quality step of a key picture for the noise left in a long run', () => {
    const slow = JITTER.map((_, i) => 2.4 + Math.sin(1.7 * i));
    const popping = slow.map((move, i) => (i < 26 || i > 33 ? move : i === 30 ? 1.2 : 0.3));
    expect(isRestless(still(popping, { first: 26, last: 33 }), NOTHING_BEHIND)).toBe(false);
    expect(isRestless(still(popping, { first: 28, last: 31 }), NOTHING_BEHIND)).toBe(true);
  });

  it('ignores runs when pictures are held in a rhythm, or a part of the shot rests', () => {
    const copies = [0.43, 0.83, 0.18, 0.23];
    const converted = JITTER.map((_, i) => copies[i - run.first] ?? (i % 2 ? 0.9 : 3));
    const holds = converted.flatMap((move, i) => (move === 0.9 ? [[i, i] as const] : []));
    expect(isRestless({ ...still(converted, run), holds }, NOTHING_BEHIND)).toBe(false);
    expect(isRestless(still(converted, run), NOTHING_BEHIND)).toBe(true);
    const resting = JITTER.map((_, i) => copies[i - run.first] ?? (i < 17 || i > 38 ? 0.9 : 7));
    expect(isRestless(still(resting, run), NOTHING_BEHIND)).toBe(false);
  });
});
