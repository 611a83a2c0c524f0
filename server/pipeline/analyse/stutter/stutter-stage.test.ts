import { describe, expect, it } from 'vitest';
import { frameSeries } from '#server/test/frame-series.ts';
import { detectStutter } from './detect-stutter.ts';
import { isEmptyStage } from './stutter-stage.ts';

/** A cut to picture 60, followed by two copies before everything moves. */
const CUT = 60;
const run = { first: CUT + 1, last: CUT + 2 };
const isHeld = (i: number) => i >= run.first && i <= run.last;
const moves = Array.from({ length: 120 }, (_, i) =>
  i === CUT ? 90 : isHeld(i) ? 0.02 : 20 + 3 * Math.sin(1.7 * i),
);
const leaping = moves.map((move, i) => (i === run.last + 1 ? 3 * move : move));
/** Detail that grows from `empty` after the cut until six pictures after the run. */
const detail = (empty: number) =>
  moves.map((_, i) => (i < CUT ? 700 : Math.min(500, Math.max(empty, 80 * (i - run.last)))));
const clip = (empty: number) => frameSeries(moves, { sharpness: detail(empty) });

describe('isEmptyStage', () => {
  const cutSet = new Set([CUT]);

  it('recognises a background that rests until something enters', () => {
    expect(isEmptyStage(clip(4), { ...run, moves, cutSet })).toBe(true);
    expect(isEmptyStage(clip(300), { ...run, moves, cutSet })).toBe(false);
  });

  it('says nothing when no cut precedes the run, nor about what another shot shows', () => {
    expect(isEmptyStage(clip(4), { ...run, moves, cutSet: new Set<number>() })).toBe(false);
    expect(isEmptyStage(clip(4), { ...run, moves, cutSet: new Set([CUT, run.last + 1]) })).toBe(false);
  });

  it('leaves copies over lost pictures, after which the motion leaps, to the other rules', () => {
    expect(isEmptyStage(clip(4), { ...run, moves: leaping, cutSet })).toBe(false);
    expect(
      detectStutter(frameSeries(leaping, { sharpness: detail(4) }), { cuts: [CUT], fps: 30 }),
    ).toMatchObject([run]);
  });

  it('keeps such a rest out of the stutters, and finds copies after a cut', () => {
    expect(detectStutter(clip(4), { cuts: [CUT], fps: 30 })).toEqual([]);
    expect(detectStutter(clip(300), { cuts: [CUT], fps: 30 })).toMatchObject([run]);
  });
});
