import { describe, expect, it } from 'vitest';
import { motionAsMended } from './motion-as-mended.ts';

const TIME_BASE = { num: 1, den: 1000 };

function timesOf(ptsTicks: readonly number[], variableByNature = false) {
  return {
    timeBase: TIME_BASE,
    ptsTicks,
    keyframe: ptsTicks.map(() => false),
    medianIntervalTicks: 40,
    variableByNature,
  };
}

const numbers = (count: number) => Array.from({ length: count }, (_, i) => i);

describe('motionAsMended', () => {
  it('removes copies and moves what follows them forward', () => {
    const times = timesOf([0, 40, 80, 120, 160, 200]);
    const copies = [
      { firstFrame: 1, lastFrame: 2 },
      { firstFrame: 4, lastFrame: 4 },
    ];
    const left = motionAsMended([0, 1, 2, 3, 4, 5], numbers(6), times, copies);
    expect(left).toEqual({ motion: [0, 3, 5], frameTimesMs: [0, 40, 80] });
  });

  it('keeps a hole after the copies, which is filled separately', () => {
    const times = timesOf([0, 40, 80, 200, 240]);
    const left = motionAsMended([0, 1, 2, 3, 4], numbers(5), times, [{ firstFrame: 1, lastFrame: 2 }]);
    expect(left.frameTimesMs).toEqual([0, 120, 160]);
  });

  it('removes the whole time of a copy in a clip of naturally variable rate', () => {
    const times = timesOf([0, 40, 140, 180], true);
    const left = motionAsMended([0, 1, 2, 3], numbers(4), times, [{ firstFrame: 1, lastFrame: 1 }]);
    expect(left.frameTimesMs).toEqual([0, 40, 80]);
  });

  it('places pictures by their display numbers when some were never decoded', () => {
    const times = timesOf([0, 40, 80, 120, 160]);
    const left = motionAsMended([0, 2, 3, 4], [0, 2, 3, 4], times, [{ firstFrame: 2, lastFrame: 2 }]);
    expect(left).toEqual({ motion: [0, 3, 4], frameTimesMs: [0, 80, 120] });
  });

  it('restores lost pictures and moves what follows them by their time', () => {
    const times = timesOf([0, 40, 80, 120, 160]);
    const losses = [
      { behind: 2, count: 3 },
      { behind: 4, count: 1 },
    ];
    const whole = motionAsMended([0, 1, 2, 3, 4], numbers(5), times, [], losses);
    expect(whole).toEqual({ motion: [0, 1, 2, 3, 4], frameTimesMs: [0, 40, 200, 240, 320] });
  });
});
