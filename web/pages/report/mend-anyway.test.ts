import { describe, expect, it } from 'vitest';
import type { Defect } from '#common/report.ts';
import { makeReport } from '../../test/samples.ts';
import { marksOf } from './mend-anyway.tsx';

const [gap] = makeReport().defects;
function left(change: Partial<Defect>, before: number, unit = 'ratio'): Defect {
  if (!gap) throw new Error('no defect');
  const measure = { ...gap.measure, unit, before, after: null };
  return { ...gap, measure, action: 'none', outcome: 'left_alone', ...change };
}
const NONE = { places: [] };

describe('what a defect that was left would be marked as', () => {
  it('is a freeze at the end of repeats, at its time in the finished clip', () => {
    const removed = {
      ...left({ startMs: 1000, endMs: 1200 }, 0.1),
      outcome: 'repaired',
      action: 'removed_repeats',
    } as const;
    const held = left({ kind: 'stuttered_cut', startMs: 5000, endMs: 5100 }, 0.3);
    expect(marksOf(held, [removed, held], NONE)).toEqual({ places: [{ kind: 'freeze', atMs: 4900 }] });
    // A repeat in the place of a lost picture.
    expect(marksOf(left({ endMs: 300 }, 0.2), [], NONE)).toEqual({ places: [{ kind: 'freeze', atMs: 300 }] });
    expect(marksOf(left({ endMs: 300 }, 1.8), [], NONE)).toEqual({ places: [{ kind: 'jump', atMs: 300 }] });
  });

  it('is a sound moved back by its offset, as far as a sound can be moved', () => {
    expect(marksOf(left({ kind: 'audio_sync' }, 83.6, 'ms'), [], NONE)).toEqual({ soundShiftMs: -84 });
    expect(marksOf(left({ kind: 'audio_sync' }, 2400, 'ms'), [], NONE)).toBeNull();
    expect(marksOf(left({ kind: 'audio_sync' }, 40, 'ppm'), [], NONE)).toBeNull();
  });

  it('is nothing for what was mended, and for damage and wind; a second mark adds none', () => {
    expect(marksOf({ ...left({}, 1.8), outcome: 'repaired' }, [], NONE)).toBeNull();
    expect(marksOf(left({ kind: 'corrupted_section' }, 3, 'frames'), [], NONE)).toBeNull();
    expect(marksOf(left({ kind: 'wind_noise' }, -30, 'dBFS'), [], NONE)).toBeNull();
    expect(marksOf(left({ endMs: 300 }, 1.8), [], { places: [{ kind: 'jump', atMs: 310 }] })).toEqual({});
  });
});
