import { describe, expect, it } from 'vitest';
import type { DefectCurve } from '#common/report.ts';
import { polylines, valueAxis } from './curve-scale.ts';

function curve(values: readonly [number, number | null][], change: Partial<DefectCurve> = {}): DefectCurve {
  return {
    quantity: 'sync_offset',
    unit: 'ms',
    source: 'content',
    points: values.map(([before, after], index) => ({ atMs: index * 1000, before, after })),
    ...change,
  };
}

describe('the value axis', () => {
  it.each([
    [
      curve([
        [0, 0],
        [400, 5],
      ]),
      [0, 200, 400],
    ],
    [
      curve([
        [180, 1],
        [182, -2],
      ]),
      [0, 100, 200],
    ],
    [
      curve([
        [0, -3],
        [360, 5],
      ]),
      [0, 200, 400],
    ],
    [curve([[1, 0]]), [-10, 0, 10]],
    [
      curve(
        [
          [-36.3, -56.4],
          [-30.1, -58],
        ],
        { quantity: 'low_band_level', unit: 'dBFS' },
      ),
      [-60, -50, -40, -30],
    ],
  ])('is round and contains every value', (given, ticks) => {
    const axis = valueAxis(given);
    expect(axis.ticks).toEqual(ticks);
    const hair = 0.06 * ((ticks[1] ?? 0) - (ticks[0] ?? 0));
    for (const { before, after } of given.points) {
      for (const value of after === null ? [before] : [before, after]) {
        expect(value).toBeGreaterThanOrEqual(axis.low - hair);
        expect(value).toBeLessThanOrEqual(axis.high + hair);
      }
    }
  });
});

describe('the lines', () => {
  const axis = { low: 0, high: 100, ticks: [0, 100] };

  it('map time from left to right and value from bottom to top', () => {
    const points = [
      { atMs: 0, value: 0 },
      { atMs: 5000, value: 100 },
      { atMs: 10_000, value: 50 },
    ];
    expect(polylines(points, 10_000, axis)).toEqual(['0.00,100.00 50.00,0.00 100.00,50.00']);
  });

  it('break where nothing was measured, and show a single point', () => {
    const points = [
      { atMs: 0, value: 0 },
      { atMs: 2000, value: null },
      { atMs: 4000, value: 0 },
      { atMs: 6000, value: 0 },
    ];
    expect(polylines(points, 10_000, axis)).toEqual(['0.00,100.00 0.00,100.00', '40.00,100.00 60.00,100.00']);
  });
});
