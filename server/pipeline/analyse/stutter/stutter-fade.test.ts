import { describe, expect, it } from 'vitest';
import { frameSeries } from '#server/test/frame-series.ts';
import { detectStutter } from './detect-stutter.ts';
import { isBetweenFades } from './stutter-fade.ts';

const run = { first: 40, last: 47 };
const place = { ...run, cutSet: new Set<number>() };
const isHeld = (i: number) => i >= run.first && i <= run.last;
const moves = Array.from({ length: 90 }, (_, i) => (isHeld(i) ? 0 : 24 + Math.sin(i)));

/** A clip in which only the brightness changes, by `step(i)` grey levels before picture `i`. */
function fading(step: (i: number) => number) {
  const steps = moves.map((_, i) => (isHeld(i) ? 0 : step(i)));
  let luma = 100;
  return frameSeries(moves, {
    meanDiff: steps.map(Math.abs),
    histogramDiff: steps.map((change) => Math.abs(change) / 128),
    lumaMean: steps.map((change) => (luma += change)),
  });
}

describe('isBetweenFades', () => {
  it('recognises a still that fades in, rests and fades out', () => {
    const still = fading((i) => (i < run.first ? 2 : -2));
    expect(isBetweenFades(still, place)).toBe(true);
    expect(isBetweenFades(still, { ...run, cutSet: new Set([48]) })).toBe(false);
    expect(detectStutter(still, { cuts: [], fps: 30 })).toEqual([]);
  });

  it('recognises black between two scenes, whatever is still over it', () => {
    const black = fading((i) => (i < run.first ? -2 : 2));
    expect(
      detectStutter(
        { ...black, lumaP10: moves.map(() => 0), lumaP90: moves.map(() => 0) },
        { cuts: [], fps: 30 },
      ),
    ).toEqual([]);
  });

  it('leaves a fade that pauses and continues, and motion, to the other rules', () => {
    const halted = fading(() => 2);
    expect(isBetweenFades(halted, place)).toBe(false);
    expect(isBetweenFades(frameSeries(moves), place)).toBe(false);
    expect(detectStutter(halted, { cuts: [], fps: 30 })).toMatchObject([run]);
  });
});
