import { describe, expect, it } from 'vitest';
import { frameSeries } from '#server/test/frame-series.ts';
import { detectCuts } from './detect-cuts.ts';

const at = (place: number, value: number, usual: number) =>
  Array.from({ length: 60 }, (_, i) => (i === place ? value : usual));

describe('detectCuts', () => {
  it('finds a change that breaks picture and histogram at once', () => {
    const series = frameSeries(at(30, 400, 16), { histogramDiff: at(30, 0.2, 0.002) });
    expect(detectCuts(series)).toEqual([30]);
  });

  it('does not mistake a jump of the camera for a cut', () => {
    const sameColours = frameSeries(at(30, 400, 16), { histogramDiff: at(30, 0.004, 0.002) });
    const displaced = frameSeries(at(30, 200, 16), {
      histogramDiff: at(30, 0.06, 0.002),
      motionResidual: at(30, 0.3, 0.9),
    });
    expect(detectCuts(sameColours)).toEqual([]);
    expect(detectCuts(displaced)).toEqual([]);
  });

  it('does not mistake the step after a run of repeats for a cut', () => {
    const moves = Array.from({ length: 60 }, (_, i) => (i >= 24 && i < 30 ? 0.1 : i === 30 ? 150 : 80));
    const histogramDiff = moves.map((move) => move / 4000);
    expect(detectCuts(frameSeries(moves, { histogramDiff }))).toEqual([]);
  });

  it('finds no cut at a far step after repeats that all texture follows together: pictures of one shot were lost', () => {
    const moves = Array.from({ length: 60 }, (_, i) => (i >= 24 && i < 30 ? 0.1 : i === 30 ? 400 : 16));
    const change = { histogramDiff: at(30, 0.2, 0.002) };
    expect(detectCuts(frameSeries(moves, change))).toEqual([30]);
    expect(detectCuts(frameSeries(moves, { ...change, coherence: new Map([[30, 0.3]]) }))).toEqual([30]);
    expect(detectCuts(frameSeries(moves, { ...change, coherence: new Map([[30, 0.5]]) }))).toEqual([]);
  });

  it('finds a cut at the change to a black picture, in which texture is found anywhere', () => {
    const moves = Array.from({ length: 60 }, (_, i) => (i >= 28 && i < 30 ? 0.1 : i === 30 ? 600 : 16));
    const change = { histogramDiff: at(30, 0.6, 0.002), coherence: new Map([[30, 0.59]]) };
    const black = { lumaP10: at(30, 0, 30), lumaP90: at(30, 0, 200) };
    expect(detectCuts(frameSeries(moves, change))).toEqual([]);
    expect(detectCuts(frameSeries(moves, { ...change, ...black }))).toEqual([30]);
  });

  it('finds a cut at a strong change after still pictures that no texture follows, though a displacement explains half of it', () => {
    const moves = Array.from({ length: 60 }, (_, i) => (i >= 24 && i < 30 ? 0.1 : i === 30 ? 700 : 16));
    const change = { histogramDiff: at(30, 0.06, 0.002), motionResidual: at(30, 0.5, 1) };
    expect(detectCuts(frameSeries(moves, change))).toEqual([]);
    expect(detectCuts(frameSeries(moves, { ...change, coherence: new Map([[30, 0.03]]) }))).toEqual([30]);
  });

  it('finds a cut behind repeats to a lively shot, where little of the texture can be followed', () => {
    const moves = Array.from({ length: 60 }, (_, i) => (i >= 24 && i < 30 ? 0.1 : i === 30 ? 240 : 80));
    const change = { histogramDiff: at(30, 0.08, 0.003) };
    const followed = (share: number) => ({ ...change, coherence: new Map([[30, share]]) });
    expect(detectCuts(frameSeries(moves, change))).toEqual([]);
    expect(detectCuts(frameSeries(moves, followed(0.25)))).toEqual([]);
    expect(detectCuts(frameSeries(moves, followed(0.14)))).toEqual([30]);
  });
});
