import { describe, expect, it } from 'vitest';
import { besideDamage, isWaited } from './settle-runs-and-losses.ts';

/** Four repeats. */
const run = {
  first: 16,
  last: 19,
  history: 'inserted',
  startsAtCut: false,
  endsAtCut: false,
  confidence: 0.7,
  quietness: 0.2,
} as const;

describe('besideDamage', () => {
  it('removes nothing right beside damaged data unless the lengths support it', () => {
    expect(besideDamage(run, 1.1, true).history).toBe('held');
    expect(besideDamage(run, -2, true).history).toBe('held');
  });

  it('leaves a run as judged elsewhere, when the picture is longer, and without sound', () => {
    expect(besideDamage(run, 1.1, false)).toEqual(run);
    expect(besideDamage(run, 4.2, true)).toEqual(run);
    expect(besideDamage(run, null, true)).toEqual(run);
  });
});

describe('isWaited', () => {
  const ticks = Array.from({ length: 40 }, (_, i) => i * 25);
  const waitingAt = (frame: number) => ticks.map((at, i) => (i > frame ? at + 500 : at));
  const wait = (ptsTicks: number[]) => {
    const times = { ptsTicks, medianIntervalTicks: 25 };
    return isWaited(run, { times, frameOfDecoded: ptsTicks.map((_, i) => i) });
  };

  it('recognises a rest by the long time of one of its pictures, or of the one that it repeats', () => {
    expect([15, 17, 19].map((frame) => wait(waitingAt(frame)))).toEqual([true, true, true]);
  });

  it('does not look beyond the run', () => {
    expect([13, 14, 20, 21].map((frame) => wait(waitingAt(frame)))).toEqual([false, false, false, false]);
    expect(wait(ticks)).toBe(false);
  });
});
