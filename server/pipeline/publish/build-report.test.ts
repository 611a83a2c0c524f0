import { describe, expect, it } from 'vitest';
import { defect } from '#common/report.ts';
import type { Finding } from '../analyse/analysis.ts';
import type { Verdict } from '../repair/picture-task.ts';
import { countFixes, MADE_PLAYABLE } from '#common/video.ts';
import { clock, toDefects, toFixes, toIssues } from './build-report.ts';

const stutter: Finding = {
  kind: 'stuttered_cut',
  startMs: 12_400,
  endMs: 12_600,
  firstFrame: 310,
  lastFrame: 314,
  count: 5,
  confidence: 0.9,
  detector: 'detect-stutter',
  measure: { name: 'change', unit: 'ratio', threshold: 0.4, value: 0.01 },
  detail: { kind: 'stuttered_cut', history: 'held', startsAtCut: false, endsAtCut: false },
};
const gap: Finding = {
  ...stutter,
  kind: 'dropped_frames',
  startMs: 2000,
  endMs: 2160,
  firstFrame: 50,
  lastFrame: 51,
  count: 3,
  detail: { kind: 'dropped_frames', history: 'timestamp_gap', acrossCut: false },
};
const repaired = (finding: Finding): Verdict => ({
  finding,
  outcome: 'repaired',
  action: 'rebuilt_frames',
  after: null,
  explanation: 'rebuilt.',
});

describe('toIssues', () => {
  it('counts cuts by place, missing pictures by number, and ignores weak evidence', () => {
    const issues = toIssues([stutter, gap, { ...gap, confidence: 0.3 }]);
    expect(issues).toMatchObject({
      stutteredCuts: 1,
      droppedFrames: 3,
      corruptedSections: 0,
      windNoise: false,
    });
  });
});

describe('toFixes', () => {
  it('names only what was repaired', () => {
    const left: Verdict = { ...repaired(gap), outcome: 'left_alone', action: 'none' };
    expect(toFixes([repaired(stutter), left])).toEqual({ stutteredCuts: 1 });
    expect(toFixes([])).toEqual({});
  });

  it('says which corrupted sections were only made playable', () => {
    const torn = { ...stutter, kind: 'corrupted_section' } as const;
    const playable: Verdict = { ...repaired(torn), action: 'concealed_frames' };
    const left: Verdict = { ...playable, outcome: 'left_alone', action: 'none' };
    expect(toFixes([repaired(torn), playable, left])).toEqual({ corruptedSections: 2, [MADE_PLAYABLE]: 1 });
    expect(countFixes(toFixes([repaired(torn), playable]))).toBe(2);
  });
});

describe('toDefects', () => {
  it('orders by time, numbers within the kind and says what and where in words', () => {
    const defects = toDefects([
      repaired(stutter),
      repaired(gap),
      repaired({ ...gap, startMs: 3000, count: 1 }),
    ]);
    expect(defects.map(({ id }) => id)).toEqual(['dropped_frames-1', 'dropped_frames-2', 'stuttered_cut-1']);
    expect(defects[0]?.explanation).toBe('3 missing frames at 0:02.00: rebuilt.');
    expect(defects[1]?.explanation).toBe('1 missing frame at 0:03.00: rebuilt.');
  });
});

describe('the curve of a defect', () => {
  const wind: Finding = {
    ...stutter,
    kind: 'wind_noise',
    firstFrame: null,
    lastFrame: null,
    detail: { kind: 'wind_noise', spans: [] },
    curve: {
      quantity: 'low_band_level',
      unit: 'dBFS',
      source: 'samples',
      points: [
        { atMs: 500, value: -30 },
        { atMs: 1500, value: -28 },
      ],
    },
  };

  it('pairs each value with the one measured on the result, or null if there is none', () => {
    const [mended, left] = toDefects([{ ...repaired(wind), curveAfter: [-52, null] }, repaired(wind)]);
    expect(defect.parse(mended).curve?.points).toEqual([
      { atMs: 500, before: -30, after: -52 },
      { atMs: 1500, before: -28, after: null },
    ]);
    expect(left?.curve?.points.map(({ after }) => after)).toEqual([null, null]);
  });

  it('is absent from defects that have none', () => {
    expect(toDefects([repaired(stutter)])[0]).not.toHaveProperty('curve');
  });
});

describe('clock', () => {
  it('shows minutes, seconds and hundredths', () => {
    expect([0, 12_345, 59_999, 754_560].map(clock)).toEqual(['0:00.00', '0:12.35', '1:00.00', '12:34.56']);
  });
});
