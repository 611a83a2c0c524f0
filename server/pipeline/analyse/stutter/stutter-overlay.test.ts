import { describe, expect, it } from 'vitest';
import { frameSeries } from '#server/test/frame-series.ts';
import { isOverlay } from './stutter-overlay.ts';

const moves = Array.from({ length: 60 }, (_, i) => (i >= 30 && i < 33 ? 0.1 : 8));
const seriesOf = (shareOf: (i: number) => number) =>
  frameSeries(moves, { meanDiff: moves.map((move, i) => move * shareOf(i)) });
const place = { first: 30, last: 32, cutSet: new Set<number>() };

describe('isOverlay', () => {
  it('tells a drawing over a still picture by the rest of the picture, which does not change at all', () => {
    expect(isOverlay({ ...place, series: seriesOf(() => 0.053) }, -1)).toBe(true);
    expect(isOverlay({ ...place, series: seriesOf(() => 0.065) }, -1)).toBe(false);
  });

  it('asks both sides, or the one that a cut leaves', () => {
    const series = seriesOf((i) => (i < 30 ? 0.053 : 0.1));
    expect(isOverlay({ ...place, series }, -1)).toBe(false);
    expect(isOverlay({ ...place, series, cutSet: new Set([33]) }, 0)).toBe(true);
    expect(isOverlay({ ...place, series, cutSet: new Set([33, 30, 29]) }, 0)).toBe(false);
  });

  it('believes a step that goes over lost pictures', () => {
    expect(isOverlay({ ...place, series: seriesOf(() => 0.053) }, 0.5)).toBe(false);
  });
});
