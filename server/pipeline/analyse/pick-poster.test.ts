import { describe, expect, it } from 'vitest';
import { frameSeries } from '#server/test/frame-series.ts';
import { pickPoster } from './pick-poster.ts';

const COUNT = 300;
const still = Array.from({ length: COUNT }, () => 1);
const none = new Set<number>();
const keyEach = (length: number) => (at: number) => at % length === 0;

describe('pickPoster', () => {
  it('takes a key picture of the first third when all are similar', () => {
    expect(pickPoster(frameSeries(still), none, keyEach(30))).toBe(90);
  });

  it('takes one that is much sharper, even far after a key picture', () => {
    const sharpness = still.map((_, at) => (at >= 200 && at < 220 ? 300 : 30));
    const chosen = pickPoster(frameSeries(still, { sharpness }), none, (at) => at === 0);
    expect(chosen).toBe(200);
  });

  it('takes no damaged, black or moving picture', () => {
    const moves = still.map((move, at) => (at < 100 ? 40 : move));
    const lumaMean = still.map((_, at) => (at >= 100 && at < 200 ? 2 : 110));
    const damaged = new Set(Array.from({ length: 90 }, (_, at) => 200 + at));
    expect(pickPoster(frameSeries(moves, { lumaMean }), damaged, keyEach(30))).toBeGreaterThanOrEqual(290);
  });

  it('finds none in an empty clip', () => {
    expect(pickPoster(frameSeries([]), none, () => true)).toBeNull();
  });
});
