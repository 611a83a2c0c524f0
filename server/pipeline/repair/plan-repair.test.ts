import { describe, expect, it } from 'vitest';
import type { MediaInfo } from '#server/media/probe/probe.ts';
import type { Analysis, Finding, FindingDetail } from '../analyse/analysis.ts';
import type { MediaLimits } from '../worker-protocol.ts';
import { planRepair } from './plan-repair.ts';

const limits: MediaLimits = {
  threads: 1,
  preset: 'veryfast',
  maxEncodePixels: 1920 * 1080,
  maxDurationMs: 3_600_000,
  maxPictures: 200_000,
};

function info(change: { width?: number; soundMs?: number | null } = {}): MediaInfo {
  const { width = 640, soundMs = 4000 } = change;
  const common = { index: 0, profile: null, timeBase: { num: 1, den: 1000 }, startMs: 0, bitRate: null };
  return {
    format: 'mov',
    sizeBytes: 1,
    startMs: 0,
    durationMs: 4000,
    video: [
      {
        ...common,
        codec: 'h264',
        codecTag: 'avc1',
        width,
        height: width === 640 ? 360 : 2160,
        rotation: 0,
        pixelFormat: 'yuv420p',
        frameRate: 25,
        baseFrameRate: 25,
        durationMs: 4000,
        frameCount: 100,
        reorderDepth: 0,
        fieldOrder: null,
        colorSpace: null,
        colorTransfer: null,
        colorPrimaries: null,
        colorRange: null,
        sampleAspectRatio: null,
      },
    ],
    audio:
      soundMs === null
        ? []
        : [
            {
              ...common,
              index: 1,
              codec: 'aac',
              sampleRateHz: 48_000,
              channels: 2,
              channelLayout: null,
              durationMs: soundMs,
            },
          ],
    others: [],
    tags: {},
  };
}

function finding(detail: FindingDetail, first: number, last: number, change: Partial<Finding> = {}): Finding {
  return {
    kind: detail.kind,
    startMs: first * 40,
    endMs: (last + 1) * 40,
    firstFrame: first,
    lastFrame: last,
    count: detail.kind === 'dropped_frames' ? 3 : last - first + 1,
    confidence: 0.9,
    detector: 'test',
    measure: { name: 'x', unit: 'frames', threshold: 0, value: 1 },
    detail,
    ...change,
  };
}

function analysis(findings: Finding[], media = info(), sceneCuts: number[] = []): Analysis {
  const ptsTicks = Array.from({ length: 100 }, (_, frame) => frame * 40);
  const timeBase = { num: 1, den: 1000 };
  return {
    info: media,
    pictures: {
      timeBase,
      ptsTicks,
      keyframe: ptsTicks.map((_, frame) => frame % 25 === 0),
      medianIntervalTicks: 40,
      variableByNature: false,
    },
    sceneCuts,
    findings,
    speech: [],
    posterFrame: 0,
    notes: [],
  };
}

const held: FindingDetail = { kind: 'stuttered_cut', history: 'held', startsAtCut: false, endsAtCut: false };
const inserted: FindingDetail = { ...held, history: 'inserted' };
const gap: FindingDetail = { kind: 'dropped_frames', history: 'timestamp_gap', acrossCut: false };
const hidden: FindingDetail = { kind: 'dropped_frames', history: 'hidden', acrossCut: false };
const damage: FindingDetail = { kind: 'corrupted_section', evidence: 'decoder', undecodedFrames: 0 };

describe('planRepair', () => {
  it('rebuilds held pictures between their true neighbours', () => {
    const plan = planRepair(analysis([finding(held, 10, 12)]), limits);
    expect(plan.cuts).toMatchObject([
      { kind: 'rebuild', firstFrame: 10, endFrame: 13, before: 9, after: 13, slotTicks: [400, 440, 480] },
    ]);
  });

  it('removes inserted repeats with the time they took', () => {
    const plan = planRepair(analysis([finding(inserted, 10, 12)]), limits);
    expect(plan.cuts).toMatchObject([
      { kind: 'remove', firstFrame: 10, endFrame: 13, shiftAfterTicks: -120 },
    ]);
  });

  it('removes repeats before a cut in a clip without sound, and leaves them when sound keeps the time', () => {
    const beforeCut: FindingDetail = { ...held, endsAtCut: true };
    const silent = planRepair(analysis([finding(beforeCut, 10, 12)], info({ soundMs: null }), [13]), limits);
    expect(silent.cuts).toMatchObject([
      { kind: 'remove', firstFrame: 10, endFrame: 13, shiftAfterTicks: -120 },
    ]);
    const heard = planRepair(analysis([finding(beforeCut, 10, 12)], info(), [13]), limits);
    expect(heard.cuts).toEqual([]);
    expect(heard.left).toMatchObject([{ outcome: 'left_alone' }]);
  });

  it('removes only the time of the copies when a hole in the times follows them, which is filled separately', () => {
    const clip = analysis([finding(inserted, 10, 12), finding(gap, 12, 13)]);
    const { pictures } = clip;
    if (!pictures) throw new Error('The clip has pictures.');
    const ptsTicks = pictures.ptsTicks.map((pts, frame) => (frame >= 13 ? pts + 120 : pts));
    const plan = planRepair({ ...clip, pictures: { ...pictures, ptsTicks } }, limits);
    expect(plan.cuts).toMatchObject([
      { kind: 'remove', firstFrame: 10, endFrame: 13, shiftAfterTicks: -120 },
    ]);
    expect(plan.frames).toMatchObject([{ firstFrame: 13, before: 9, slotTicks: [520, 560, 600] }]);
  });

  it('spreads new pictures evenly over a hole in the times', () => {
    const clip = analysis([finding(gap, 10, 11)]);
    const plan = planRepair(clip, limits);
    expect(plan.frames).toMatchObject([
      { firstFrame: 11, endFrame: 11, slotTicks: [410, 420, 430], resumeTicks: 440, shiftAfterTicks: 0 },
    ]);
  });

  it('restores hidden losses only when the sound shows that time is missing', () => {
    const lost = planRepair(analysis([finding(hidden, 10, 11)], info({ soundMs: 4120 })), limits);
    expect(lost.frames).toMatchObject([{ shiftAfterTicks: 120 }]);
    const silent = planRepair(analysis([finding(hidden, 10, 11)], info({ soundMs: null })), limits);
    expect(silent.frames).toHaveLength(1);
    const even = planRepair(analysis([finding(hidden, 10, 11)]), limits);
    expect(even.frames).toEqual([]);
    expect(even.contradicted).toHaveLength(1);
  });

  it('restores no hidden loss for time that the picture lacks at its start', () => {
    const clip = info({ soundMs: 4120 });
    const late = { ...clip, video: clip.video.map((stream) => ({ ...stream, startMs: 120 })) };
    const plan = planRepair(analysis([finding(hidden, 10, 11)], late), limits);
    expect(plan.frames).toEqual([]);
    expect(plan.contradicted).toHaveLength(1);
  });

  it('replaces a repeat in place of a lost picture, without adding time', () => {
    const instead: FindingDetail = {
      ...hidden,
      kind: 'dropped_frames',
      history: 'hidden',
      placement: 'instead',
    };
    const plan = planRepair(analysis([finding(instead, 10, 10)], info({ soundMs: null })), limits);
    expect(plan.frames).toMatchObject([
      { kind: 'rebuild', firstFrame: 10, endFrame: 11, shiftAfterTicks: 0 },
    ]);
  });

  it('uses the end of the last coded frame of the sound, not the length that its writer states', () => {
    const clip = analysis([finding(hidden, 10, 11)], info({ soundMs: 4120 }));
    expect(planRepair({ ...clip, soundEndMs: 4010 }, limits).frames).toEqual([]);
    expect(planRepair({ ...clip, soundEndMs: 4118 }, limits).frames).toHaveLength(1);
  });

  it('restores no more hidden losses than the sound has time for', () => {
    const two = [finding(hidden, 10, 11, { confidence: 0.7 }), finding(hidden, 50, 51)];
    const plan = planRepair(analysis(two, info({ soundMs: 4120 })), limits);
    expect(plan.frames.map(({ firstFrame }) => firstFrame)).toEqual([51]);
    expect(plan.contradicted.map(({ firstFrame }) => firstFrame)).toEqual([10]);
  });

  it('never rebuilds across a cut', () => {
    const plan = planRepair(
      analysis([finding(held, 10, 12), finding(gap, 40, 41)], info(), [13, 41]),
      limits,
    );
    expect([...plan.cuts, ...plan.frames]).toEqual([]);
    expect(plan.left.map(({ explanation }) => explanation).join()).toMatch(/scene changes/);
  });

  it('uses true pictures beyond neighbouring damage', () => {
    const plan = planRepair(analysis([finding(damage, 20, 22), finding(held, 23, 24)]), limits);
    expect(plan.frames).toMatchObject([{ before: 19, after: 25 }]);
    expect(plan.cuts).toMatchObject([{ before: 19, after: 25 }]);
  });

  it('names the reason for weak evidence, large pictures and overlaps', () => {
    const weak = planRepair(analysis([finding(held, 10, 12, { confidence: 0.4 })]), limits);
    expect(weak.left[0]?.explanation).toMatch(/too uncertain/);
    const large = planRepair(analysis([finding(held, 10, 12)], info({ width: 3840 })), limits);
    expect(large.left[0]?.explanation).toMatch(/3840 x 2160/);
    const both = planRepair(analysis([finding(damage, 10, 14), finding(held, 12, 13)]), limits);
    expect(both.frames).toHaveLength(1);
    expect(both.left[0]?.explanation).toMatch(/worse defect/);
  });

  it('plans repeats and holes under damage between pictures whose own data are intact', () => {
    const from22: FindingDetail = { ...damage, damagedDataFrames: [22] };
    const stretch = finding(from22, 20, 60);
    const plan = planRepair(analysis([stretch, finding(held, 23, 24), finding(gap, 40, 41)]), limits);
    expect(plan.cuts).toMatchObject([{ before: 21, after: 25, underDamage: 'decoded' }]);
    expect(plan.frames).toMatchObject([
      { firstFrame: 20, before: 19, after: 61 },
      { firstFrame: 41, before: 40, after: 41, underDamage: 'decoded' },
    ]);
    expect(plan.left).toEqual([]);
    const short = planRepair(analysis([finding(from22, 20, 28), finding(gap, 24, 25)]), limits);
    expect(short.frames[1]).toMatchObject({ firstFrame: 25, before: 19, after: 29, underDamage: 'whole' });
    const silent = info({ soundMs: null });
    const lost = planRepair(analysis([stretch, finding(hidden, 40, 41)], silent), limits);
    expect(lost.frames[1]).toMatchObject({ firstFrame: 41, before: 40, after: 41, underDamage: 'decoded' });
  });

  it('flags what only a quick fix can change', () => {
    const plan = planRepair(analysis([finding({ kind: 'poor_lighting' }, 0, 99)]), limits);
    expect(plan.left).toMatchObject([{ outcome: 'flagged', action: 'none' }]);
  });
});
