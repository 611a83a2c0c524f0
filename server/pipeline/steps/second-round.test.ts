import { describe, expect, it } from 'vitest';
import { plainInfo } from '#server/test/clip-facts.ts';
import { renderLimits as limits } from '#server/test/rendered-clips.ts';
import type { Finding } from '../analyse/analysis.ts';
import { plannedPictures } from '../repair/compose-edit.ts';
import type { ChangedSpan } from '../repair/picture-edit.ts';
import type { Verdict } from '../repair/picture-task.ts';
import { planSecondRound } from './second-round.ts';

const pictures = {
  timeBase: { num: 1, den: 1000 },
  ptsTicks: Array.from({ length: 200 }, (_, frame) => frame * 40),
  keyframe: Array.from({ length: 200 }, (_, frame) => frame % 50 === 0),
  medianIntervalTicks: 40,
  variableByNature: false,
};

function finding(
  detail: Finding['detail'],
  firstFrame: number,
  lastFrame: number,
  count = lastFrame - firstFrame + 1,
): Finding {
  return {
    kind: detail.kind,
    startMs: firstFrame * 40,
    endMs: (lastFrame + 1) * 40,
    firstFrame,
    lastFrame,
    count,
    confidence: 0.9,
    detector: detail.kind === 'dropped_frames' ? 'detect-hidden-drops' : 'detect-stutter',
    measure: { name: 'pictures', unit: 'frames', threshold: 0, value: 1 },
    detail,
  };
}

const repeats = (first: number, last: number, history: 'held' | 'inserted' = 'held') =>
  finding({ kind: 'stuttered_cut', history, startsAtCut: false, endsAtCut: false }, first, last);
const jump = (before: number, count: number) =>
  finding({ kind: 'dropped_frames', history: 'hidden', acrossCut: false }, before, before + 1, count);
const damage = (first: number, last: number) =>
  finding({ kind: 'corrupted_section', evidence: 'decoder', undecodedFrames: 0 }, first, last);

const mended = (of: Finding, action: Verdict['action']): Verdict => {
  return { finding: of, outcome: 'repaired', action, after: 0, explanation: '' };
};

/** New pictures in the places of a defect's pictures, or none. */
function span({ firstFrame, lastFrame }: Finding, isRemoval = false): ChangedSpan {
  const [first, end] = [firstFrame ?? 0, (lastFrame ?? 0) + 1];
  const frames = isRemoval ? [] : Array.from({ length: end - first }, (_, at) => first + at);
  return {
    firstFrame: first,
    endFrame: end,
    pictures: frames.map((frame, index) => {
      return { ptsTicks: frame * 40, pixels: { kind: 'raw', path: 'new.raw', index } };
    }),
    shiftAfterTicks: isRemoval ? (first - end) * 40 : 0,
  };
}

/** Eight seconds of pictures, with a sound that lasts this much longer. */
function lasting(soundSurplusMs: number | null) {
  const { video, audio } = plainInfo({ durationMs: 8000 }, 8);
  const sounds = audio.map((sound) => ({ ...sound, durationMs: 8000 + (soundSurplusMs ?? 0) }));
  return { video, audio: soundSurplusMs === null ? [] : sounds };
}

interface First {
  readonly verdicts: readonly Verdict[];
  readonly shown: readonly Finding[];
  readonly soundSurplusMs?: number | null;
}

function secondRound({ verdicts, shown, soundSurplusMs = null }: First) {
  const edit = verdicts.map(({ finding: of, action }) => span(of, action === 'removed_repeats'));
  const found = verdicts.map((verdict) => verdict.finding);
  return planSecondRound({
    analysis: {
      info: plainInfo({}, 8),
      pictures,
      sceneCuts: [],
      findings: found,
      speech: [],
      posterFrame: null,
      notes: [],
    },
    planned: plannedPictures(pictures.ptsTicks, edit),
    shown,
    verdicts,
    resultInfo: lasting(soundSurplusMs),
    dropped: [],
    limits,
  });
}

describe('planSecondRound', () => {
  it('repairs repeats that damage beside them had hidden, at their place in the original', () => {
    const gone = repeats(30, 33, 'inserted');
    const torn = damage(60, 66);
    const verdicts = [mended(gone, 'removed_repeats'), mended(torn, 'rebuilt_frames')];
    // Four pictures were removed before.
    const round = secondRound({ verdicts, shown: [repeats(63, 65)] });
    expect(round?.analysis.findings.filter(({ foundIn }) => foundIn === 'result')).toMatchObject([
      { kind: 'stuttered_cut', firstFrame: 67, lastFrame: 69, startMs: 67 * 40, endMs: 70 * 40 },
    ]);
    // What is torn is rebuilt from pictures that are not repeats.
    expect(round?.tasks).toContainEqual(expect.objectContaining({ finding: torn, before: 59, after: 70 }));
  });

  it('repairs repeats as far from damage as the damage hides motion from the detectors', () => {
    const torn = [mended(damage(60, 66), 'rebuilt_frames')];
    const found = (first: number, last: number) =>
      secondRound({ verdicts: torn, shown: [repeats(first, last)] })?.tasks.length ?? 0;
    expect(found(52, 54)).toBe(2);
    expect(found(50, 52)).toBe(0);
  });

  it('gives them the history of the run that they continue', () => {
    const verdicts = [mended(damage(43, 43), 'rebuilt_frames'), mended(repeats(47, 51), 'rebuilt_frames')];
    const round = secondRound({ verdicts, shown: [repeats(45, 46, 'inserted')] });
    expect(round?.tasks.map(({ kind }) => kind)).toEqual(['rebuild', 'rebuild', 'rebuild']);
  });

  it.each([
    [0, 'held'],
    [-120, 'inserted'],
    [null, 'inserted'],
  ] as const)(
    'removes no repeats that a sound %s ms longer does not speak for',
    (soundSurplusMs, history) => {
      const verdicts = [mended(damage(60, 66), 'concealed_frames'), mended(damage(67, 67), 'rebuilt_frames')];
      const round = secondRound({ verdicts, shown: [repeats(69, 71, 'inserted')], soundSurplusMs });
      const found = round?.analysis.findings.find(({ foundIn }) => foundIn === 'result');
      expect(found?.detail).toMatchObject({ kind: 'stuttered_cut', history });
    },
  );

  it('ignores what is known, what is isolated, and traces of damage that stays', () => {
    const torn = damage(60, 66);
    const run = repeats(90, 94);
    const verdicts = [mended(torn, 'rebuilt_frames'), mended(run, 'rebuilt_frames')];
    expect(secondRound({ verdicts, shown: [repeats(94, 94), repeats(75, 77)] })).toBeNull();
    const kept = [mended(torn, 'concealed_frames')];
    expect(secondRound({ verdicts: kept, shown: [repeats(67, 69)] })).toBeNull();
  });

  it('ignores steps between pictures of the original', () => {
    const verdicts = [mended(damage(60, 62), 'rebuilt_frames')];
    expect(secondRound({ verdicts, shown: [jump(64, 3)], soundSurplusMs: 120 })).toBeNull();
  });

  it('rebuilds repeats that were removed when the motion jumps across the seam', () => {
    const run = repeats(60, 63, 'inserted');
    const verdicts = [mended(run, 'removed_repeats')];
    const round = secondRound({ verdicts, shown: [jump(59, 3)] });
    expect(round?.tasks).toMatchObject([{ kind: 'rebuild', firstFrame: 60, endFrame: 64 }]);
    expect(secondRound({ verdicts, shown: [jump(61, 3)] })).toBeNull();
    // A sound as long as the remaining pictures says that they were inserted.
    expect(secondRound({ verdicts, shown: [jump(59, 3)], soundSurplusMs: 10 })).toBeNull();
    expect(secondRound({ verdicts, shown: [jump(59, 3)], soundSurplusMs: 150 })).not.toBeNull();
  });

  it('keeps damage as decoded when its rebuilt pictures jump or repeat', () => {
    const torn = damage(60, 66);
    const verdicts = [mended(torn, 'rebuilt_frames')];
    const round = secondRound({ verdicts, shown: [jump(62, 1)] });
    expect(round?.tasks).toMatchObject([{ finding: torn, keepsDecoded: true }]);
    expect(secondRound({ verdicts, shown: [jump(68, 1)] })).toBeNull();
    expect(secondRound({ verdicts, shown: [] })).toBeNull();
  });
});
