import { describe, expect, it } from 'vitest';
import { frameSeries } from '#server/test/frame-series.ts';
import { isOverlay } from './stutter-overlay.ts';

const isHeld = (i: number) => i >= 30 && i < 33;
const running = Array.from({ length: 60 }, (_, i) => (isHeld(i) ? 0.1 : 8 + 4 * Math.sin(1.7 * i)));
/** Words that rest now and then. */
const uneven = running.map((move, i) => (i === 14 || i === 44 ? 0.2 : move));
const seriesOf = (shareOf: (i: number) => number, moves = uneven) =>
  frameSeries(moves, { meanDiff: moves.map((move, i) => move * shareOf(i)) });
const place = { first: 30, last: 32, cutSet: new Set<number>() };

describe('isOverlay', () => {
  it('recognises a drawing over a still picture by the rest of the picture, which does not change at all', () => {
    expect(isOverlay({ ...place, series: seriesOf(() => 0.053) }, -1)).toBe(true);
    expect(isOverlay({ ...place, series: seriesOf(() => 0.065) }, -1)).toBe(false);
  });

  it('recognises it in little motion too, as in the dialogs of a screen recording', () => {
    const little = uneven.map((move) => move / 10);
    expect(isOverlay({ ...place, series: seriesOf(() => 0.05, little) }, -1)).toBe(true);
    expect(isOverlay({ ...place, series: seriesOf(() => 0.065, little) }, -1)).toBe(false);
  });

  it('recognises a pointer in a dark page, which changes less than half a grey level (measured values)', () => {
    const before = [0.28, 0.46, 0.44, 0.44, 0.33];
    const after = [0.38, 0.46, 0.46, 0.45, 0.44, 0.45, 0.44, 5.17, 5.5, 14.87];
    const moves = [0, ...before, 0.02, 0.02, 0.02, ...after];
    const series = seriesOf(() => 0.052, moves);
    expect(isOverlay({ first: 6, last: 8, cutSet: new Set(), series }, -1)).toBe(true);
    expect(
      isOverlay({ first: 6, last: 8, cutSet: new Set(), series: seriesOf(() => 0.065, moves) }, -1),
    ).toBe(false);
  });

  it('requires both sides, or the one that a cut leaves', () => {
    const series = seriesOf((i) => (i < 30 ? 0.053 : 0.1));
    expect(isOverlay({ ...place, series }, -1)).toBe(false);
    expect(isOverlay({ ...place, series, cutSet: new Set([33]) }, 0)).toBe(true);
    expect(isOverlay({ ...place, series, cutSet: new Set([33, 30, 29]) }, 0)).toBe(false);
  });

  it('requires one side where the motion on the other only sets out (measured values)', () => {
    const setsOut = [25.2, 45, 51.7, 74.8, 89.1, 104.6, 92.6, 77.8];
    const moves = uneven.map((move, i) => setsOut[i - 33] ?? move);
    const series = seriesOf((i) => (i < 30 ? 0.053 : 0.1), moves);
    expect(isOverlay({ ...place, series }, -1)).toBe(true);
    expect(isOverlay({ ...place, series: seriesOf(() => 0.1, moves) }, -1)).toBe(false);
  });

  it('accepts a step that goes over lost pictures', () => {
    expect(isOverlay({ ...place, series: seriesOf(() => 0.053) }, 0.5)).toBe(false);
  });

  it('rejects such a step of a pointer that stops and starts', () => {
    const stopping = uneven.map((move, i) => (i % 4 === 0 ? 0 : move));
    expect(isOverlay({ ...place, series: seriesOf(() => 0.049, stopping) }, 0.5)).toBe(true);
  });

  it('rejects such a step when something else starts to move after it, as a tile of a game does', () => {
    const tile = uneven.map((move, i) => (i < 30 ? move / 8 : move));
    expect(isOverlay({ ...place, series: seriesOf(() => 0.053, tile) }, 0.6)).toBe(true);
  });

  it('accepts a drawing that changes in every picture for long on both sides, as a running time code', () => {
    const series = (moves: number[]) => seriesOf(() => 0.05, moves);
    expect(isOverlay({ ...place, series: series(running) }, -1)).toBe(false);
    const resting = running.map((move, i) => (i === 50 ? 2 : move));
    expect(isOverlay({ ...place, series: series(resting) }, -1)).toBe(true);
    expect(isOverlay({ ...place, series: series(running), cutSet: new Set([45]) }, -1)).toBe(true);
  });

  it('accepts motion as even as clockwork on both sides, copies or not', () => {
    const even = (rate: number) => uneven.map((_, i) => (isHeld(i) ? 0 : i % rate === 0 ? 7 : 6));
    expect(isOverlay({ ...place, series: seriesOf(() => 0.05, even(3)) }, -1)).toBe(false);
    const slowing = even(3).map((move, i) => (i === 29 ? 2 : move));
    expect(isOverlay({ ...place, series: seriesOf(() => 0.05, slowing) }, -1)).toBe(true);
  });
});
