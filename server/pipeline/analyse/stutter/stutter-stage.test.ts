import { describe, expect, it } from 'vitest';
import { frameSeries } from '#server/test/frame-series.ts';
import { detectStutter } from './detect-stutter.ts';
import { isEmptyStage } from './stutter-stage.ts';

/** A cut to picture 60, which two copies follow before everything moves. */
const CUT = 60;
const run = { first: CUT + 1, last: CUT + 2 };
const isHeld = (i: number) => i >= run.first && i <= run.last;
const moves = Array.from({ length: 120 }, (_, i) =>
  i === CUT ? 90 : isHeld(i) ? 0.02 : 20 + 3 * Math.sin(1.7 * i),
);
/** Detail that grows from `empty` behind the cut until six pictures behind the run. */
const detail = (empty: number) =>
  moves.map((_, i) => (i < CUT ? 700 : Math.min(500, Math.max(empty, 80 * (i - run.last)))));
const clip = (empty: number) => frameSeries(moves, { sharpness: detail(empty) });

describe('isEmptyStage', () => {
  const cutSet = new Set([CUT]);

  it('tells a plate that rests until something enters', () => {
    expect(isEmptyStage(clip(4), { ...run, cutSet })).toBe(true);
    expect(isEmptyStage(clip(300), { ...run, cutSet })).toBe(false);
  });

  it('says nothing where no cut stands in front of the run, and of what another shot shows', () => {
    expect(isEmptyStage(clip(4), { ...run, cutSet: new Set<number>() })).toBe(false);
    expect(isEmptyStage(clip(4), { ...run, cutSet: new Set([CUT, run.last + 1]) })).toBe(false);
  });

  it('keeps such a rest out of the stutters, and finds copies behind a cut', () => {
    expect(detectStutter(clip(4), [CUT], 30)).toEqual([]);
    expect(detectStutter(clip(300), [CUT], 30)).toMatchObject([run]);
  });
});
