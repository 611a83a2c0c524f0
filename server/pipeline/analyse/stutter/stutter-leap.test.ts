import { describe, expect, it } from 'vitest';
import { frameSeries } from '#server/test/frame-series.ts';
import { detectStutter } from './detect-stutter.ts';
import { leavesMotion } from './stutter-leap.ts';

const run = { first: 60, last: 69 };
const none: ReadonlySet<number> = new Set();
const withStep = (step: number) =>
  frameSeries(
    Array.from({ length: 120 }, (_, i) => {
      if (i === run.last + 1) return step;
      return i >= run.first && i <= run.last ? 0 : 1 + 0.1 * Math.sin(1.3 * i);
    }),
  );

describe('leavesMotion', () => {
  it('recognises a step that pictures lost under a run cannot have made', () => {
    expect(leavesMotion(withStep(11), { ...run, cutSet: none })).toBe(false);
    expect(leavesMotion(withStep(60), { ...run, cutSet: none })).toBe(true);
  });

  it('says nothing about a cut, or when few pictures beside the run show how it moves', () => {
    expect(leavesMotion(withStep(60), { ...run, cutSet: new Set([70]) })).toBe(false);
    expect(leavesMotion(withStep(60), { ...run, cutSet: new Set([58]) })).toBe(false);
  });

  it('recognises other shades that appear with a step no longer than those beside it, as map tiles do', () => {
    const withShades = (change: number) => {
      const series = withStep(1);
      return {
        ...series,
        histogramDiff: series.histogramDiff.map((usual, i) => (i === 70 ? change : usual)),
      };
    };
    const short = { first: 68, last: 69, cutSet: none };
    expect(leavesMotion(withShades(0.013), short, -0.4)).toBe(true);
    expect(leavesMotion(withShades(0.013), short, 0.5)).toBe(false);
    expect(leavesMotion(withShades(0.005), short, -0.4)).toBe(false);
  });

  it('keeps a rest before a turning page out of the stutters', () => {
    expect(detectStutter(withStep(11), { cuts: [], fps: 30 })).toMatchObject([run]);
    expect(detectStutter(withStep(60), { cuts: [], fps: 30 })).toEqual([]);
  });
});
