import { describe, expect, it } from 'vitest';
import type { Defect } from '#common/report.ts';
import type { Finding } from '../analyse/analysis.ts';
import { hiddenClaim, isOwnStep, isTrace } from './verify-traces.ts';

const defect = (startMs: number, change: Partial<Defect> = {}): Defect => ({
  id: 'stuttered_cut-1',
  kind: 'stuttered_cut',
  startMs,
  endMs: startMs + 80,
  firstFrame: 1,
  lastFrame: 2,
  count: 2,
  confidence: 0.9,
  detector: 'detect-stutter',
  measure: { name: 'change', unit: 'ratio', threshold: 0.42, before: 0.02, after: null },
  action: 'rebuilt_frames',
  outcome: 'repaired',
  explanation: '',
  ...change,
});

describe('hiddenClaim', () => {
  const hidden = defect(2000, { foundIn: 'result' });

  it('believes in a hidden defect beside one of the original that was repaired', () => {
    const damage = defect(1800, { kind: 'corrupted_section' });
    expect(hiddenClaim(hidden, [hidden, damage])).toMatchObject({
      claim: 'stuttered_cut at 0:02.00 was hidden by another defect of the original',
      confirmed: true,
      detail: 'corrupted_section at 0:01.80.',
    });
  });

  it('does not when none is near, none was repaired, or the other one was hidden too', () => {
    const others = [
      defect(1000),
      defect(2100, { outcome: 'left_alone', action: 'none' }),
      defect(2100, { foundIn: 'result' }),
      defect(2000, { kind: 'audio_sync', firstFrame: null, lastFrame: null }),
    ];
    expect(hiddenClaim(hidden, [hidden, ...others])).toMatchObject({ confirmed: false });
  });
});

const jump = (firstFrame: number): Finding => ({
  kind: 'dropped_frames',
  startMs: 0,
  endMs: 0,
  firstFrame,
  lastFrame: firstFrame + 1,
  count: 1,
  confidence: 0.9,
  detector: 'detect-hidden-drops',
  measure: { name: 'step', unit: 'ratio', threshold: 1.45, value: 2 },
  detail: { kind: 'dropped_frames', history: 'hidden', acrossCut: false },
});

describe('isOwnStep', () => {
  const hole = (firstFrame: number, count: number) =>
    defect(firstFrame * 40, { kind: 'dropped_frames', firstFrame, lastFrame: firstFrame + 1, count });

  it('distinguishes a step that the original has too from one beside a new picture', () => {
    const defects = [
      hole(50, 3),
      defect(0, { firstFrame: 70, lastFrame: 72, action: 'removed_repeats', count: 3 }),
    ];
    const own = [48, 49, 50, 53, 54, 55, 71, 72, 73].filter((frame) => isOwnStep(jump(frame), defects));
    // 51 to 53 are new; after 72 three repeats are removed.
    expect(own).toEqual([48, 49, 54, 55, 71, 73]);
  });

  it('treats pictures that were repaired in place as new ones', () => {
    const torn = defect(0, { kind: 'corrupted_section', firstFrame: 20, lastFrame: 22, count: 3 });
    expect([18, 19, 20, 22, 23].filter((frame) => isOwnStep(jump(frame), [torn]))).toEqual([18, 23]);
    const left = { ...torn, outcome: 'left_alone' } as const;
    expect(isOwnStep(jump(20), [left])).toBe(true);
  });
});

describe('isTrace', () => {
  const damage = defect(0, {
    kind: 'corrupted_section',
    firstFrame: 20,
    lastFrame: 40,
    count: 21,
    action: 'concealed_frames',
  });
  const tracesOf = (others: readonly Defect[]) =>
    [17, 18, 40, 41, 42, 44, 45].filter((frame) => isTrace(jump(frame), [damage, ...others]));

  it('extends from one picture before kept damage to one after it, wherever inserted pictures have moved its end', () => {
    expect(tracesOf([])).toEqual([18, 40, 41]);
    const hole = defect(0, { kind: 'dropped_frames', firstFrame: 29, lastFrame: 30, count: 3 });
    expect(tracesOf([hole])).toEqual([18, 40, 41, 42, 44]);
  });
});
