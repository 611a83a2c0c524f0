import { expect, it } from 'vitest';
import { createTimeLeft } from './time-left.ts';

/** Converts moments (seconds, share) to the reported seconds left. */
function told(moments: readonly (readonly [seconds: number, share: number])[]) {
  let ms = 0;
  const left = createTimeLeft(() => ms);
  return moments.map(([seconds, share]) => {
    ms = seconds * 1000;
    return left(share);
  });
}

it('estimates the time left from the rate of the last seconds, and gives none before there is a rate', () => {
  expect(
    told([
      [0, 0],
      [1, 0.1],
      [10, 0.5],
    ]),
  ).toEqual([null, null, 10]);
  expect(
    told([
      [0, 0.3],
      [60, 0.301],
    ]),
  ).toEqual([null, null]);
});

it('ignores what was taken over at once', () => {
  const steady = Array.from({ length: 50 }, (_, second) => [second + 1, 0.5 + second / 200] as const);
  const left = told([[0, 0], ...steady]);
  // 0.255 are left at 0.005 a second; counting the half that was taken over at once would give 17 s.
  expect(left.at(-1)).toBeCloseTo(51, 0);
});
