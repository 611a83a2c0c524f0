import { expect, it } from 'vitest';
import { frameSeries } from '#server/test/frame-series.ts';
import { withoutPops } from './stutter-pops.ts';

/** Somebody talks; before picture 40 the liveliest blocks change twelve times as much. */
const moves = Array.from({ length: 80 }, (_, i) => (i === 40 ? 36 : 3 + Math.sin(i * 1.7)));
const stepsOf = (rise: number) => moves.map((move, i) => (i === 40 ? (rise * 3) / 8 : move / 8));
const plain = (rise: number, cuts: readonly number[] = []) =>
  withoutPops(frameSeries(moves, { meanDiff: stepsOf(rise) }), new Set(cuts)).blockDiff.get(1);

it('removes a word that pops up from the motion', () => {
  const beside = Math.max(moves[39] ?? 0, moves[41] ?? 0);
  expect(plain(2.5)).toEqual(moves.map((move, i) => (i === 40 ? beside : move)));
});

it('keeps a step in which the whole picture moves farther, and a cut', () => {
  expect(plain(12)).toEqual(moves);
  expect(plain(2.5, [40])).toEqual(moves);
});

it('keeps a step after repeats as lively as the step beyond', () => {
  const held = moves.map((move, i) => (i >= 36 && i < 40 ? 0.05 : move));
  const series = frameSeries(held, { meanDiff: stepsOf(2.5) });
  expect(withoutPops(series, new Set()).blockDiff.get(1)?.[40]).toBeCloseTo(moves[41] ?? 0);
});
