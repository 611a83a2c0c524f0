import { expect, it } from 'vitest';
import { createTimeLeft } from './time-left.ts';

/** What is told at some moments: seconds and shares in, seconds left out. */
function told(moments: readonly (readonly [seconds: number, share: number])[]) {
  let ms = 0;
  const left = createTimeLeft(() => ms);
  return moments.map(([seconds, share]) => {
    ms = seconds * 1000;
    return left(share);
  });
}

it('tells the time left by the rate of the last seconds, and none before there is one', () => {
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

it('forgets what was taken over at once', () => {
  const steady = Array.from({ length: 50 }, (_, second) => [second + 1, 0.5 + second / 200] as const);
  const left = told([[0, 0], ...steady]);
  // 0.255 are left at 0.005 a second; the half that came at once would make it 17 s.
  expect(left.at(-1)).toBeCloseTo(51, 0);
});
