import { describe, expect, it } from 'vitest';
import { planTimes } from './smart-render-timing.ts';

const sample = (at: number, dts: number) => {
  return {
    offset: at * 100,
    sizeBytes: 100,
    dts,
    pts: dts,
    durationTicks: 40,
    sync: at === 0,
    chunk: 0,
    description: 1,
  };
};

describe('planTimes', () => {
  it('decodes the first of two originals listed at the same time a tick before the other', () => {
    const timing = planTimes([sample(0, 0), sample(1, 0), sample(2, 40), sample(3, 80)], []);
    expect(timing).toMatchObject({ ok: true, rebase: 1 });
    expect(timing.ok && timing.samples.map(({ dts, pts }) => [dts, pts])).toEqual([
      [0, 1],
      [1, 1],
      [41, 41],
      [81, 81],
    ]);
  });

  it('keeps ascending decode times', () => {
    const timing = planTimes([sample(0, 0), sample(1, 40), sample(2, 80)], []);
    expect(timing.ok && timing.samples.map(({ dts }) => dts)).toEqual([0, 40, 80]);
  });
});
