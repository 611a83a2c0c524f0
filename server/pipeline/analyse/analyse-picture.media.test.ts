import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FfmpegPlan } from '#server/media/ffmpeg/ffmpeg-plan.ts';
import { probe } from '#server/media/probe/probe.ts';
import { runFfmpeg } from '#server/media/ffmpeg/run-ffmpeg.ts';
import { MediaToolError } from '#server/media/ffmpeg/tools.ts';
import {
  corruptSamples,
  DEFAULT_ENCODE,
  injectHiddenDrops,
  injectRepeats,
  injectTimestampGaps,
  makeMovingClip,
} from '#server/test/broken-clips.ts';
import type { DefectKind } from '#common/report.ts';
import { analysePicture } from './analyse-picture.ts';
import type { PictureAnalysis } from './judge-pictures.ts';
import { testTools as tools } from '#server/test/media-job.ts';

let folder = '';
const at = (name: string) => path.join(folder, name);

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'analyse-picture-'));
  await makeMovingClip({ tools, outputPath: at('pan.mp4'), seconds: 6, scenery: 'pan' });
  await makeMovingClip({ tools, outputPath: at('cuts.mp4'), seconds: 6, scenery: 'cuts', sound: false });
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function analyse(name: string, onProgress?: (share: number) => void): Promise<PictureAnalysis> {
  const info = await probe(tools, at(name), 'mov');
  return analysePicture({ inputPath: at(name), info, tools, onProgress });
}

const DEFECTS: readonly DefectKind[] = ['stuttered_cut', 'dropped_frames', 'corrupted_section'];

/** Kind, history or evidence, first and last picture, and count of every defect; flags are left out. */
function defects({ findings }: PictureAnalysis) {
  return findings
    .filter((finding) => DEFECTS.includes(finding.kind))
    .map((finding) => {
      const { detail } = finding;
      const history =
        detail.kind === 'stuttered_cut' || detail.kind === 'dropped_frames' ? detail.history : null;
      return [finding.kind, history, finding.firstFrame, finding.lastFrame, finding.count];
    });
}

async function encode(from: string, to: string, filter: string, extra: string[] = []): Promise<void> {
  const plan: FfmpegPlan = {
    label: 'make a clip',
    inputs: [{ path: at(from) }],
    outputs: [{ path: at(to), options: ['-vf', filter, ...extra, '-an', ...DEFAULT_ENCODE, '-f', 'mp4'] }],
    expectedDurationMs: null,
  };
  await runFfmpeg(plan, { tools });
}

describe('analysePicture on an intact clip', () => {
  it('finds no defect, numbers the pictures and reports progress that only grows to 1', async () => {
    const shares: number[] = [];
    const result = await analyse('pan.mp4', (share) => shares.push(share));
    expect(defects(result)).toEqual([]);
    expect(result.pictures?.ptsTicks).toHaveLength(180);
    expect(result.pictures?.keyframe[0]).toBe(true);
    expect(result.pictures?.variableByNature).toBe(false);
    expect(result.audioPackets?.ptsTicks.length).toBeGreaterThan(250);
    expect(result.motion?.frameTimesMs[30]).toBeCloseTo(1000, 3);
    expect(result.posterFrame).not.toBeNull();
    expect(shares).toEqual([...shares].sort((a, b) => a - b));
    expect(shares.at(-1)).toBe(1);
  });

  it('finds scene cuts at their pictures', async () => {
    const result = await analyse('cuts.mp4');
    expect(result.sceneCuts).toEqual([45, 90, 135]);
    expect(defects(result)).toEqual([]);
  });

  it.each([
    ['12.5 pictures a second in 25', 'fps=12.5,fps=25'],
    ['24 in 30', 'fps=24,fps=30'],
    ['animation on threes', 'fps=8,fps=24'],
    ['a slide show', 'fps=1,fps=30'],
    ['fades from and to black', 'fade=in:0:30,fade=out:150:30'],
  ])('finds no defect in %s', async (_name, filter) => {
    await encode('pan.mp4', 'nature.mp4', filter);
    expect(defects(await analyse('nature.mp4'))).toEqual([]);
  });

  it('finds no defect in a still shot with sensor noise', async () => {
    await makeMovingClip({ tools, outputPath: at('still.mp4'), seconds: 4, scenery: 'still', sound: false });
    expect(defects(await analyse('still.mp4'))).toEqual([]);
  });
});

describe('analysePicture on repeated pictures', () => {
  const runs = [
    { frame: 40, count: 2 },
    { frame: 90, count: 3 },
    { frame: 140, count: 6 },
  ];

  it.each(['inserted', 'held'] as const)('finds runs of %s pictures exactly', async (history) => {
    const truth = await injectRepeats({
      tools,
      inputPath: at('pan.mp4'),
      outputPath: at('runs.mp4'),
      history,
      runs,
    });
    expect(defects(await analyse('runs.mp4'))).toEqual(
      truth.map((run) => ['stuttered_cut', history, run.firstFrame, run.lastFrame, run.count]),
    );
  });
});

describe('analysePicture on missing pictures', () => {
  const holes = [
    { frame: 50, count: 2 },
    { frame: 100, count: 4 },
  ];

  it('finds holes in the times exactly', async () => {
    const truth = await injectTimestampGaps({
      tools,
      inputPath: at('pan.mp4'),
      outputPath: at('gaps.mp4'),
      holes,
    });
    expect(defects(await analyse('gaps.mp4'))).toEqual(
      truth.map(({ frameBefore, count }) => [
        'dropped_frames',
        'timestamp_gap',
        frameBefore,
        frameBefore + 1,
        count,
      ]),
    );
  });

  it('ignores slots that stay empty because the rate is slightly lower than theirs: nothing is missing', async () => {
    await encode('pan.mp4', 'slower.mp4', 'setpts=(N+floor(N/40))/30/TB', ['-fps_mode', 'passthrough']);
    const result = await analyse('slower.mp4');
    expect(result.pictures?.ptsTicks).toHaveLength(180);
    expect(result.pictures?.variableByNature).toBe(false);
    expect(defects(result)).toEqual([]);
    expect(result.notes.join()).toContain('At 4 places a frame stays longer');
  });

  it('finds losses hidden in a constant rate by the jump of the motion', async () => {
    const truth = await injectHiddenDrops({
      tools,
      inputPath: at('pan.mp4'),
      outputPath: at('hidden.mp4'),
      holes,
    });
    const found = defects(await analyse('hidden.mp4'));
    expect(found.map((defect) => defect.slice(0, 4))).toEqual(
      truth.map(({ frameBefore }) => ['dropped_frames', 'hidden', frameBefore, frameBefore + 1]),
    );
  });
});

describe('analysePicture on damaged data', () => {
  it.each([
    ['zero', 2],
    ['random', 5],
    ['flip', 2],
  ] as const)('finds the damage of %s bytes, identically in %i runs', async (fault, runs) => {
    await corruptSamples({
      tools,
      inputPath: at('pan.mp4'),
      outputPath: at('bad.mp4'),
      frames: [60],
      fault,
      place: 0.3,
    });
    const first = await analyse('bad.mp4');
    const spans = defects(first);
    expect(spans.length).toBeGreaterThan(0);
    expect(spans.every(([kind]) => kind === 'corrupted_section')).toBe(true);
    const frames = first.findings.flatMap(({ firstFrame, lastFrame }) => [firstFrame ?? -1, lastFrame ?? -1]);
    expect(Math.min(...frames)).toBeLessThanOrEqual(60);
    expect(Math.max(...frames)).toBeGreaterThanOrEqual(60);
    for (let run = 1; run < runs; run += 1) expect(defects(await analyse('bad.mp4'))).toEqual(spans);
  });

  it('ends at once when it is cancelled', async () => {
    const info = await probe(tools, at('pan.mp4'), 'mov');
    const stop = new AbortController();
    const running = analysePicture({ inputPath: at('pan.mp4'), info, tools, signal: stop.signal });
    stop.abort();
    await expect(running).rejects.toSatisfy(
      (error) => error instanceof MediaToolError && error.code === 'cancelled',
    );
  });
});
