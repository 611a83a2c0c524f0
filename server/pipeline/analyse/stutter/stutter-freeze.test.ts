import { describe, expect, it } from 'vitest';
import { frameSeries } from '#server/test/frame-series.ts';
import { detectStutter } from './detect-stutter.ts';
import { explainsLengths } from './stutter-freeze.ts';

const FPS = 30;
const LENGTH = 125;

/** Motion of a hand-held shot around a freeze of 125 copies from picture 60 on; `behind` is the step after it. */
function frozen(behind = 12, level = 12): number[] {
  return Array.from({ length: 300 }, (_, i) => {
    if (i >= 60 && i < 60 + LENGTH) return i === 60 ? 0.6 : 0.02;
    return i === 60 + LENGTH ? behind : level * (1 + 0.2 * Math.sin(i * 1.7));
  });
}

const found = (moves: readonly number[], surplus: number | null, cuts: readonly number[] = []) =>
  detectStutter(frameSeries(moves), { cuts, fps: FPS, pictureSurplus: surplus }).map(
    ({ first, last, history }) => [first, last, history],
  );

const FREEZE = [60, 184, 'inserted'];

describe('a freeze longer than a stutter', () => {
  it('is inserted if the motion continues after it and the picture outlasts the sound by just as much', () => {
    expect(found(frozen(), LENGTH)).toEqual([FREEZE]);
    // Sound is a little longer by nature and ends in whole blocks.
    expect(found(frozen(), LENGTH - 3)).toEqual([FREEZE]);
  });

  it('stays if the lengths do not support it', () => {
    expect(found(frozen(), null)).toEqual([]);
    expect(found(frozen(), 0)).toEqual([]);
    expect(found(frozen(), LENGTH - 10)).toEqual([]);
    expect(found(frozen(), LENGTH + 5)).toEqual([]);
  });

  it('stays if the step after it is not motion, or the scene has come to rest or to a cut', () => {
    expect(found(frozen(40), LENGTH)).toEqual([]);
    expect(found(frozen(4), LENGTH)).toEqual([]);
    expect(found(frozen(1.5, 1.5), LENGTH)).toEqual([]);
    expect(found(frozen(), LENGTH, [185])).toEqual([]);
    const starts = frozen().map((move, i) => (i > 184 ? move * 6 : move));
    expect(found(starts, LENGTH)).toEqual([]);
  });

  it('includes copies that the encoder is still refining, or predicts from what follows', () => {
    const moves = frozen();
    moves.splice(60, 3, 3, 1.3, 0.9);
    moves.splice(182, 3, 0.65, 0.6, 2);
    expect(found(moves, LENGTH)).toEqual([[61, 184, 'inserted']]);
    moves[60] = 2.2;
    expect(found(moves, LENGTH)).toEqual([FREEZE]);
  });

  it('counts a key picture among the copies as one of them', () => {
    const moves = frozen();
    moves[120] = 1.9;
    expect(found(moves, LENGTH)).toEqual([FREEZE]);
  });

  it('includes the picture after it if that is there twice', () => {
    const moves = frozen();
    moves[186] = 0.3;
    expect(found(moves, LENGTH + 1)).toEqual([[60, 185, 'inserted']]);
  });

  it('shares the lengths with other inserted runs, and with several of its kind', () => {
    const moves = frozen();
    moves.fill(0.05, 240, 244);
    expect(found(moves, LENGTH + 4)).toEqual([FREEZE, [240, 243, 'inserted']]);
    const twice = [...frozen(), ...frozen()];
    expect(found(twice, 2 * LENGTH)).toEqual([FREEZE, [360, 484, 'inserted']]);
    expect(found(twice, LENGTH)).toEqual([]);
  });
});

describe('explainsLengths', () => {
  it('allows the sound its natural excess, and is false without sound', () => {
    expect(explainsLengths(50, 50, FPS)).toBe(true);
    expect(explainsLengths(47, 50, FPS)).toBe(true);
    expect(explainsLengths(46, 50, FPS)).toBe(false);
    expect(explainsLengths(52, 50, FPS)).toBe(true);
    expect(explainsLengths(53, 50, FPS)).toBe(false);
    expect(explainsLengths(45, 50, 2 * FPS)).toBe(true);
    expect(explainsLengths(null, 0, FPS)).toBe(false);
  });
});
