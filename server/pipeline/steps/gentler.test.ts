import { describe, expect, it } from 'vitest';
import type { Finding } from '../analyse/analysis.ts';
import type { PictureRepair } from '../repair/repair-pictures.ts';
import { gentler, type Attempt, type Judged } from './gentler.ts';
import { UNTOUCHED_SOUND } from './sound-step.ts';

function repair(detail: Finding['detail'], firstFrame: number): PictureRepair {
  const finding: Finding = {
    kind: detail.kind,
    startMs: firstFrame * 40,
    endMs: firstFrame * 40 + 40,
    firstFrame,
    lastFrame: firstFrame,
    count: 1,
    confidence: 0.9,
    detector: 'made up',
    measure: { name: 'pictures', unit: 'frames', threshold: 0, value: 1 },
    detail,
  };
  return {
    span: { firstFrame, endFrame: firstFrame + 1, pictures: [], shiftAfterTicks: 0 },
    verdict: { finding, outcome: 'repaired', action: 'rebuilt_frames', after: 0, explanation: '' },
  };
}

const damage = repair({ kind: 'corrupted_section', evidence: 'decoder', undecodedFrames: 0 }, 30);
const run = repair({ kind: 'stuttered_cut', history: 'held', startsAtCut: false, endsAtCut: false }, 90);
const attempt: Attempt = {
  pictures: [damage, run],
  sound: UNTOUCHED_SOUND,
  encodeAll: false,
  dropped: [],
  notes: [],
};
const work = {
  needs: { video: null, audio: null, container: null, brokenSound: false, lostSubtitles: false },
  opened: { rebuilt: null },
};

const judged = (blamed: readonly PictureRepair[], treatment: 'smart_render' | 'full_encode'): Judged => ({
  outcome: { video: { treatment } },
  verification: {
    checks: [],
    failed: blamed.map(({ verdict }) => ({ finding: verdict.finding, reason: 'still there' })),
  },
});

describe('gentler', () => {
  it('re-encodes all pictures when re-encoding a part of them left damage', () => {
    const next = gentler(attempt, judged([damage], 'smart_render'), work);
    expect(next).toMatchObject({ encodeAll: true, pictures: attempt.pictures, dropped: [] });
    expect(next?.notes).toEqual([expect.stringContaining('left damage in the result')]);
  });

  it('drops damage that remains even so, and other repairs that failed', () => {
    const left = gentler({ ...attempt, encodeAll: true }, judged([damage], 'full_encode'), work);
    expect(left).toMatchObject({ pictures: [run], dropped: [{ outcome: 'left_alone' }] });
    const dropped = gentler(attempt, judged([run], 'smart_render'), work);
    expect(dropped).toMatchObject({ encodeAll: false, pictures: [damage] });
  });

  it('is finished when only what opens the clip is left, though a check fails', () => {
    const bare = { ...attempt, pictures: [] };
    const broken = { passed: false, name: 'decodes', detail: 'one message' };
    const failed: Judged = {
      outcome: { video: { treatment: 'copied' } },
      verification: { checks: [broken], failed: [] },
    };
    expect(gentler(bare, failed, { ...work, opened: { rebuilt: null, putBack: {} } })).toBeNull();
    expect(gentler(bare, failed, { ...work, opened: { rebuilt: {} } })).toBeNull();
    expect(gentler(bare, failed, work)).toBe(bare);
  });

  it('is finished when everything holds', () => {
    expect(gentler(attempt, judged([], 'smart_render'), work)).toBeNull();
  });
});
