import { describe, expect, it } from 'vitest';
import type { Finding } from '../analyse/analysis.ts';
import type { PlannedPicture } from '../repair/compose-edit.ts';
import { judgeVerdicts } from './verify-verdicts.ts';

function stutter(firstFrame: number, lastFrame: number): Finding {
  return {
    kind: 'stuttered_cut',
    startMs: firstFrame * 40,
    endMs: lastFrame * 40,
    firstFrame,
    lastFrame,
    count: lastFrame - firstFrame + 1,
    confidence: 0.9,
    detector: 'stutter',
    measure: { name: 'motion in the run', unit: 'ratio', threshold: 0.3, value: 0.1 },
    detail: { kind: 'stuttered_cut', history: 'held', startsAtCut: false, endsAtCut: false },
  };
}

/** Pictures 10 and 11 are new, all others the original's. */
const planned: PlannedPicture[] = Array.from({ length: 40 }, (_, index) => ({
  ptsTicks: index * 40,
  originalFrame: index === 10 || index === 11 ? null : index,
  placeFrame: index,
}));

describe('judgeVerdicts', () => {
  it('does not blame a repair for a defect that the original has too', () => {
    const seen = { findings: [stutter(20, 22)] };
    const judged = judgeVerdicts({ verdicts: [] }, planned, seen);
    expect(judged.unexplained).toEqual([]);
    expect(judged.inherited).toEqual(seen.findings);
  });

  it('blames it for a defect among its new pictures', () => {
    const seen = { findings: [stutter(11, 13)] };
    const judged = judgeVerdicts({ verdicts: [] }, planned, seen);
    expect(judged.unexplained).toEqual(seen.findings);
    expect(judged.inherited).toEqual([]);
  });

  it('blames it for a defect where a removal joined pictures', () => {
    const shorter = planned.filter((_, index) => index < 18 || index > 20);
    const seen = { findings: [stutter(18, 19)] };
    expect(judgeVerdicts({ verdicts: [] }, shorter, seen).unexplained).toEqual(seen.findings);
  });

  it('does not reject a repaired loss because of a step beside it that the original has too', () => {
    const jump = (firstFrame: number): Finding => ({
      ...stutter(firstFrame, firstFrame + 1),
      kind: 'dropped_frames',
      detector: 'detect-hidden-drops',
      detail: { kind: 'dropped_frames', history: 'hidden', acrossCut: false },
    });
    // Pictures 10 and 11 were restored between 9 and 12.
    const grown = planned.map((picture, index) => {
      const originalFrame = index > 11 ? index - 2 : picture.originalFrame;
      return { ...picture, originalFrame };
    });
    const repaired = { outcome: 'repaired', action: 'rebuilt_frames', after: null, explanation: '' } as const;
    const judge = (shown: Finding) =>
      judgeVerdicts({ verdicts: [{ finding: jump(9), ...repaired }] }, grown, { findings: [shown] });
    expect(judge(jump(12)).failed).toEqual([]);
    expect(judge(jump(8)).failed).toEqual([]);
    expect(judge(jump(11)).failed).toHaveLength(1);
  });

  it('does not reject filled holes because of a jump of the motion, nor repeats because of traces of damage beside them', () => {
    const repaired = { outcome: 'repaired', after: null, explanation: '' } as const;
    const gap: Finding = {
      ...stutter(9, 12),
      kind: 'dropped_frames',
      detector: 'detect-dropped-frames',
      detail: { kind: 'dropped_frames', history: 'timestamp_gap', acrossCut: false },
    };
    const jump: Finding = { ...gap, firstFrame: 11, lastFrame: 12, detector: 'detect-hidden-drops' };
    const filled = [{ finding: gap, action: 'rebuilt_frames', ...repaired }] as const;
    expect(judgeVerdicts({ verdicts: filled }, planned, { findings: [jump] }).failed).toEqual([]);
    expect(judgeVerdicts({ verdicts: filled }, planned, { findings: [gap] }).failed).toHaveLength(1);

    // Pictures 10 and 11 are kept as the decoder conceals their loss, and the repeats right before them are repaired.
    const damage: Finding = {
      ...stutter(10, 11),
      kind: 'corrupted_section',
      detail: { kind: 'corrupted_section', evidence: 'decoder', undecodedFrames: 0 },
    };
    const run = { finding: stutter(6, 9), action: 'rebuilt_frames', ...repaired } as const;
    const verdicts = [run, { finding: damage, action: 'concealed_frames', ...repaired }] as const;
    expect(judgeVerdicts({ verdicts }, planned, { findings: [stutter(10, 11)] }).failed).toEqual([]);
    expect(judgeVerdicts({ verdicts }, planned, { findings: [stutter(9, 11)] }).failed).toHaveLength(1);
  });
});
