import { describe, expect, it } from 'vitest';
import type { Defect } from './report.ts';
import { movesLaterBy, toOriginalSoundMs, toResultMs, toResultSoundMs } from './time-axis.ts';

function defect(change: Partial<Defect>): Defect {
  return {
    id: 'd',
    kind: 'stuttered_cut',
    startMs: 1000,
    endMs: 1200,
    firstFrame: 30,
    lastFrame: 35,
    count: 6,
    confidence: 1,
    detector: 'detect-stutter',
    measure: { name: '', unit: '', threshold: null, before: null, after: null },
    action: 'removed_repeats',
    outcome: 'repaired',
    explanation: '',
    ...change,
  };
}

describe('the time axis of a result', () => {
  it('moves earlier after removed repeats, and stands still inside them', () => {
    const removed = defect({});
    expect([500, 1000, 1100, 1200, 5000].map((ms) => toResultMs(ms, [removed]))).toEqual([
      500, 1000, 1000, 1000, 4800,
    ]);
  });

  it('regains the time that was lost without a trace', () => {
    const hidden = defect({
      detector: 'detect-hidden-drops',
      action: 'rebuilt_frames',
      startMs: 8000,
      endMs: 8040,
      count: 4,
    });
    expect([8000, 8040, 9000].map((ms) => toResultMs(ms, [hidden]))).toEqual([8000, 8200, 9160]);
  });

  it('adds up several repairs, in any order', () => {
    const both = [defect({ startMs: 3000, endMs: 3100 }), defect({})];
    expect(toResultMs(10_000, both)).toBe(9700);
    expect(toResultMs(10_000, both.toReversed())).toBe(9700);
  });

  it('is not changed by what was left alone, nor by repairs that keep the times', () => {
    expect(movesLaterBy(defect({ outcome: 'left_alone' }))).toBe(0);
    expect(movesLaterBy(defect({ action: 'rebuilt_frames' }))).toBe(0);
  });
});

describe('the time of a sound', () => {
  it('follows a sound that was moved and stretched, and back', () => {
    expect(toOriginalSoundMs(1000, { shiftMs: -396, startMs: 0, stretch: 1 })).toBe(1396);
    expect(toResultSoundMs(1396, { shiftMs: -396, startMs: 0, stretch: 1 })).toBe(1000);
    const move = { shiftMs: 120, startMs: 20, stretch: 0.998 };
    for (const ms of [0, 500, 61_000])
      expect(toOriginalSoundMs(toResultSoundMs(ms, move), move)).toBeCloseTo(ms, 6);
  });
});
