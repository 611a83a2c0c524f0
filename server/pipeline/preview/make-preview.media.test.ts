import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Defect, RepairReport } from '#common/report.ts';
import { runFfmpeg } from '#server/media/ffmpeg/run-ffmpeg.ts';
import { FAKE_MEDIA, fakeReport } from '#server/test/fake-report.ts';
import { makeFolder, testTools as tools } from '#server/test/media-job.ts';
import { layOutPreview } from './lay-out.ts';
import { makePreview, NoComparison } from './make-preview.ts';

const FPS = 30;
const SECONDS = 8;
/** Brightness of picture `n` of the two made clips, which identifies every picture. */
const originalLuma = (n: number) => 20 + ((n * 7) % 200);
const resultLuma = (n: number) => 20 + ((n * 11) % 200);

let folder: Awaited<ReturnType<typeof makeFolder>>;
beforeAll(async () => {
  folder = await makeFolder();
});
afterAll(async () => folder.remove());

async function makeCounted(name: string, factor: number, sound: string): Promise<string> {
  const outputPath = path.join(folder.path, name);
  const picture = `nullsrc=size=320x180:rate=${FPS}:duration=${SECONDS},format=yuv420p,geq=lum='20+mod(N*${factor},200)':cb=128:cr=128`;
  await runFfmpeg(
    {
      label: 'make a counted clip',
      inputs: [{ path: `${picture}[out0];${sound}[out1]`, lavfi: true }],
      outputs: [
        {
          path: outputPath,
          options: [
            '-pix_fmt',
            'yuv420p',
            '-c:v',
            'libx264',
            '-crf',
            '4',
            '-bf',
            '2',
            '-c:a',
            'aac',
            '-t',
            `${SECONDS}`,
          ],
        },
      ],
      expectedDurationMs: null,
    },
    { tools },
  );
  return outputPath;
}

/** Brightness of the centre of both halves, picture by picture. */
async function halves(file: string): Promise<{ left: number; right: number }[]> {
  const chunks: Buffer[] = [];
  await runFfmpeg(
    {
      label: 'read both halves',
      inputs: [{ path: file }],
      outputs: [
        {
          path: 'pipe:1',
          options: [
            '-map',
            '0:v:0',
            '-vf',
            'extractplanes=y,scale=8:1:flags=area',
            '-fps_mode',
            'passthrough',
            '-f',
            'rawvideo',
          ],
        },
      ],
      expectedDurationMs: null,
    },
    { tools, onStdout: (chunk) => void chunks.push(chunk) },
  );
  const bytes = Buffer.concat(chunks);
  return Array.from({ length: bytes.length / 8 }, (_, n) => ({
    left: bytes[8 * n + 1] ?? -1,
    right: bytes[8 * n + 6] ?? -1,
  }));
}

/** Samples of one channel, 48 kHz. */
async function channel(file: string, index: 0 | 1): Promise<Float32Array> {
  const chunks: Buffer[] = [];
  await runFfmpeg(
    {
      label: 'read a channel',
      inputs: [{ path: file }],
      outputs: [
        { path: 'pipe:1', options: ['-map', '0:a:0', '-af', `pan=mono|c0=c${index}`, '-f', 'f32le'] },
      ],
      expectedDurationMs: null,
    },
    { tools, onStdout: (chunk) => void chunks.push(chunk) },
  );
  const bytes = Buffer.concat(chunks);
  return new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
}

function levelDb(samples: Float32Array): number {
  const power = samples.reduce((sum, value) => sum + value * value, 0) / Math.max(1, samples.length);
  return 10 * Math.log10(power + 1e-12);
}

function defect(id: string, startMs: number, endMs: number, change: Partial<Defect> = {}): Defect {
  return {
    id,
    kind: 'corrupted_section',
    startMs,
    endMs,
    firstFrame: null,
    lastFrame: null,
    count: 1,
    confidence: 1,
    detector: 'detect-corruption',
    measure: { name: 'damaged pictures', unit: 'frames', threshold: 0, before: 1, after: 0 },
    action: 'rebuilt_frames',
    outcome: 'repaired',
    explanation: '',
    ...change,
  };
}

function reportOf(defects: Defect[], resultMs = SECONDS * 1000): RepairReport {
  const media = { ...FAKE_MEDIA, width: 320, height: 180 };
  return fakeReport({
    original: { sha256: 'a'.repeat(64), sizeBytes: 1, media },
    result: { sha256: 'b'.repeat(64), sizeBytes: 1, media: { ...media, durationMs: resultMs } },
    defects,
  });
}

async function make(report: RepairReport, originalPath: string, resultPath: string, name: string) {
  const plan = layOutPreview(report);
  if (!plan) throw new Error('nothing was planned');
  const work = path.join(folder.path, name);
  await mkdir(work, { recursive: true });
  const shares: number[] = [];
  const made = await makePreview({
    plan,
    originalPath,
    resultPath,
    folder: work,
    tools,
    threads: 1,
    signal: new AbortController().signal,
    onProgress: (share) => void shares.push(share),
  });
  return { ...made, plan, shares };
}

const TONE = `aevalsrc='0.5*sin(2*PI*440*t)*(between(t,2,4)+gte(t,5.5))':sample_rate=48000:duration=${SECONDS}`;
const SILENCE = `anullsrc=sample_rate=48000:channel_layout=mono:duration=${SECONDS}`;

describe('the comparison clip', () => {
  it('shows the same moment of both files in every picture, in all its pieces', async () => {
    const original = await makeCounted('original.mp4', 7, TONE);
    const result = await makeCounted('result.mp4', 11, SILENCE);
    const report = reportOf([defect('a', 2000, 2100), defect('b', 6000, 6500)]);
    const { path: file, layout, plan, shares } = await make(report, original, result, 'same');
    const pictures = await halves(file);
    expect(pictures).toHaveLength(plan.pieceFrames.reduce((sum, count) => sum + count, 0));
    for (const piece of layout.pieces) {
      const first = Math.round((piece.previewStartMs * FPS) / 1000);
      const end = Math.round((piece.previewEndMs * FPS) / 1000);
      const source = Math.round((piece.originalStartMs * FPS) / 1000);
      for (let n = first; n < end; n += 1) {
        const { left, right } = pictures[n] ?? { left: -1, right: -1 };
        expect(Math.abs(left - originalLuma(source + n - first)), `picture ${n}, left`).toBeLessThanOrEqual(
          3,
        );
        expect(Math.abs(right - resultLuma(source + n - first)), `picture ${n}, right`).toBeLessThanOrEqual(
          3,
        );
      }
    }
    expect(shares.length).toBeGreaterThan(0);
    expect(shares).toEqual(shares.toSorted((x, y) => x - y));
  });

  it('keeps the two sounds separate and in sync with the pictures, in all its pieces', async () => {
    const original = await makeCounted('tone.mp4', 7, TONE);
    const result = await makeCounted('silent.mp4', 11, SILENCE);
    const report = reportOf([defect('a', 2000, 2100), defect('b', 5600, 5700)]);
    const { path: file, layout } = await make(report, original, result, 'sound');
    expect(layout.hasSound).toBe(true);
    const [left, right] = await Promise.all([channel(file, 0), channel(file, 1)]);
    expect(levelDb(right)).toBeLessThan(-70);
    expect(Math.abs((left.length * 1000) / 48_000 - layout.durationMs)).toBeLessThan(25);
    const firstLoudMs = (fromMs: number) => {
      const from = Math.round(fromMs * 48);
      return fromMs + left.subarray(from).findIndex((value) => Math.abs(value) > 0.05) / 48;
    };
    // The tone starts at 2 s and again at 5.5 s: one second into the first piece and 900 ms into the second.
    expect(Math.abs(firstLoudMs(0) - 1000)).toBeLessThan(10);
    const second = layout.pieces[1]?.previewStartMs ?? 0;
    expect(Math.abs(firstLoudMs(second) - second - 900)).toBeLessThan(10);
  });

  it('lets the result play on where repeats were removed, and starts together again', async () => {
    const original = await makeCounted('long.mp4', 7, SILENCE);
    const result = await makeCounted('short.mp4', 11, SILENCE);
    const removed = defect('r', 2000, 2200, { kind: 'stuttered_cut', action: 'removed_repeats' });
    const { path: file, layout } = await make(
      reportOf([removed, defect('b', 3800, 3900)], SECONDS * 1000 - 200),
      original,
      result,
      'moved',
    );
    const pictures = await halves(file);
    const [first, second] = layout.pieces;
    // Half-way between the removed repeats and the next place.
    expect(second?.originalStartMs).toBe(3000);
    // 1000 to 3000 ms of the original beside 1000 to 2800 ms of the result, which plays on.
    const held = Math.round(((first?.previewEndMs ?? 0) * FPS) / 1000) - 1;
    const near = (value: number | undefined, luma: number) => Math.abs((value ?? -1) - luma) <= 3;
    expect(near(pictures[held]?.left, originalLuma(89))).toBe(true);
    expect(near(pictures[held + 1]?.left, originalLuma(90))).toBe(true);
    expect(near(pictures[held + 1]?.right, resultLuma(84))).toBe(true);
    expect(near(pictures[held]?.right, resultLuma(89))).toBe(true);
  });

  it('says in a sentence when the original cannot be played', async () => {
    const result = await makeCounted('only.mp4', 11, SILENCE);
    const work = make(reportOf([defect('a', 1000, 1100)]), import.meta.filename, result, 'none');
    await expect(work).rejects.toBeInstanceOf(NoComparison);
  });
});
