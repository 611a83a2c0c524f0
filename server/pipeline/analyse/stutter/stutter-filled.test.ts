import { describe, expect, it } from 'vitest';
import { frameSeries } from '#server/test/frame-series.ts';
import { detectStutter } from './detect-stutter.ts';

/** Motion of ten grey levels with these changes in the middle, from picture 40 on. */
const AT = 40;
const clip = (...middle: readonly number[]) => {
  const motion = (count: number) => Array.from({ length: count }, (_, i) => 10 + Math.sin(i * 1.7));
  return [...motion(AT), ...middle, ...motion(40)];
};
const found = (moves: readonly number[], cuts: readonly number[] = []) =>
  detectStutter(frameSeries(moves), { cuts, fps: 30 }).map(({ first, last, history }) => [
    first,
    last,
    history,
  ]);

describe('a hole that was filled at a constant rate', () => {
  it('is found by one repeat, a longer step and the next picture once more, all in the places of lost ones', () => {
    expect(found(clip(0.3, 16, 0.2))).toEqual([[AT, AT + 1, 'held']]);
  });

  it('is found although the encoder left much of the repeats, if the step is far', () => {
    expect(found(clip(3.6, 32, 3.8))).toEqual([[AT, AT + 1, 'held']]);
    expect(found(clip(3.6, 16, 3.8))).toEqual([]);
    expect(found(clip(2, 16, 1.9))).toEqual([[AT, AT + 1, 'held']]);
  });

  it('is not found without either repeat, or without a longer step', () => {
    expect(found(clip(2, 16))).toEqual([]);
    expect(found(clip(16, 0.3))).toEqual([]);
    expect(found(clip(0.3, 10, 0.2))).toEqual([]);
  });

  it('is not found where repeats are everywhere, as in a lower rate, or where the step is a cut', () => {
    const half = Array.from({ length: 120 }, (_, i) => (i % 2 === 0 ? 0.2 : 14));
    expect(found(half)).toEqual([]);
    expect(found(clip(2, 16, 1.9), [AT + 1])).toEqual([]);
  });

  it('is not found where single pictures are shown twice again and again, however irregularly', () => {
    const hole = [0.3, 13.5, 0.2];
    const among = (repeats: readonly number[]) =>
      found(clip(...hole).map((move, at) => (repeats.includes(at) ? 0.3 : move)));
    expect(among([9, 20, 27, 52])).toEqual([[AT, AT + 1, 'held']]);
    expect(among([9, 20, 27, 52, 61])).toEqual([]);
  });

  it('is no motion, although what encoders refine in its repeats adds up', () => {
    const moves = clip(0.9, 0.9, 0.9, 0.9, 0.9, 40, 0.9);
    const series = frameSeries(moves);
    const blockDiff = new Map(series.blockDiff).set(
      4,
      (series.blockDiff.get(4) ?? []).map((change, at) => (at > AT && at < AT + 5 ? 4 : change)),
    );
    const runs = (other: readonly number[]) =>
      detectStutter({ ...series, blockDiff: new Map(blockDiff).set(1, other) }, { cuts: [], fps: 30 });
    expect(runs(moves)).toMatchObject([{ first: AT, last: AT + 5 }]);
    expect(runs(moves.map((move, at) => (at === AT + 6 ? 12 : move)))).toEqual([]);
  });
});
