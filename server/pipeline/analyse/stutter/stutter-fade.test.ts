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

/** A clip that rests up to a picture and grows brighter behind it, by `step` grey levels a picture. */
function fadingFrom(last: number, step: number) {
  const changes = moves.map((_, i) => (i <= last ? 0 : step));
  let luma = 2;
  return frameSeries(
    changes.map((change) => 12 * change),
    {
      meanDiff: changes,
      histogramDiff: changes.map((change) => change / 128),
      lumaMean: changes.map((change) => (luma += change)),
      sharpness: changes.map(() => 45),
    },
  );
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

  it('recognises a still that has faded in and begins to move (measured values), and copies in a fade before motion', () => {
    const fade = Array.from({ length: 30 }, (_, i) => 5.2 + 0.6 * Math.sin(1.7 * i));
    const rest = [0.17, 0.21, 0.23, 0.18];
    const found = (behind: readonly number[]) => {
      const all = [...fade, ...rest, ...behind];
      const steps = all.map((move, i) => (i < 34 ? 0.62 * move : move / 8));
      const shades = steps.map((step, i) => (i < 34 ? step / 128 : 0.003));
      let luma = 10;
      const clip = frameSeries(all, {
        meanDiff: steps,
        histogramDiff: shades,
        lumaMean: steps.map((step, i) => (luma += i < 34 ? step : 0)),
      });
      return detectStutter(clip, { cuts: [], fps: 24 });
    };
    const goesOn = Array.from({ length: 20 }, (_, i) => 20 + Math.sin(1.7 * i));
    expect(found([4, 14, 19.9, 21.5, 25.1, ...goesOn])).toEqual([]);
    expect(found(goesOn)).toMatchObject([{ first: 30, last: 33 }]);
  });

  it('recognises a small title on black that rests and fades out (measured values)', () => {
    const dark = {
      lumaP10: moves.map(() => 0),
      lumaP90: moves.map(() => 0),
      sharpness: moves.map(() => 400),
    };
    const found = (step: number) => {
      const title = fading((i) => (i < run.first ? 0.08 : -step));
      return detectStutter({ ...title, ...dark }, { cuts: [], fps: 25 });
    };
    expect(found(0.3)).toEqual([]);
    expect(found(0.05)).toMatchObject([run]);
  });

  it('recognises black under a caption between two scenes that are wiped out and in', () => {
    const isBlack = (i: number) => i >= run.first - 1 && i <= run.last;
    const wiped = (least: number) =>
      frameSeries(moves, {
        lumaP10: moves.map((_, i) => (isBlack(i) ? 3 : least)),
        lumaP90: moves.map((_, i) => (isBlack(i) ? 3 : 100)),
        sharpness: moves.map((_, i) => (isBlack(i) ? 139 : 270)),
      });
    expect(isBetweenFades(wiped(8), place)).toBe(true);
    expect(detectStutter(wiped(8), { cuts: [], fps: 30 })).toEqual([]);
    // A small thing that moves over black all the time may stutter.
    const small = { lumaP10: moves.map(() => 3), lumaP90: moves.map(() => 3) };
    expect(detectStutter(frameSeries(moves, small), { cuts: [], fps: 30 })).toMatchObject([run]);
  });

  it('recognises a title over black that a clip begins or ends with', () => {
    const title = { lumaP10: moves.map(() => 2), lumaP90: moves.map(() => 2) };
    const start = { first: 2, last: 30, cutSet: new Set<number>() };
    const fadesIn = fadingFrom(start.last, 2);
    expect(isBetweenFades({ ...fadesIn, ...title }, start)).toBe(true);
    expect(detectStutter({ ...fadesIn, ...title }, { cuts: [], fps: 30 })).toEqual([]);
    expect(
      isBetweenFades({ ...fadesIn, lumaP10: moves.map(() => 2), lumaP90: moves.map(() => 90) }, start),
    ).toBe(false);
    const halted = { ...fading(() => 2), ...title };
    expect(isBetweenFades(halted, place)).toBe(false);
  });

  it('leaves a fade that pauses and continues, and motion, to the other rules', () => {
    const halted = fading(() => 2);
    expect(isBetweenFades(halted, place)).toBe(false);
    expect(isBetweenFades(frameSeries(moves), place)).toBe(false);
    expect(detectStutter(halted, { cuts: [], fps: 30 })).toMatchObject([run]);
  });
});
