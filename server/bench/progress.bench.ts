import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { ProcessingStepId } from '#common/video.ts';
import type { ToolPaths } from '#server/media/ffmpeg/tools.ts';
import { processVideo } from '#server/pipeline/process-video.ts';
import { hashFile } from '#server/pipeline/steps/step-store.ts';
import {
  corruptSamples,
  injectRepeats,
  injectTimestampGaps,
  makeMovingClip,
} from '#server/test/broken-clips.ts';
import { replaceSound } from '#server/test/broken-sound.ts';
import { gustingWind, mixAtSnr, voiceLike } from '#server/test/synthetic-sound.ts';
import { benchTools } from './bench-options.ts';

const CLIP = { seconds: 12, width: 1280, height: 720 } as const;
const RATE_HZ = 48_000;

interface Told {
  readonly atMs: number;
  readonly share: number;
  readonly step: ProcessingStepId;
}

/**
 * Compares reported progress with the time that really passed (N5). For each clip, prints the largest distance in
 * percentage points over the whole job, within the analysis, and from the moment the plan is known. Clips may be given
 * as arguments; by default they are made.
 */
export async function run(args: readonly string[]): Promise<void> {
  const tools = await benchTools();
  const folder = await mkdtemp(path.join(tmpdir(), 'reelmend-progress-'));
  try {
    const clips: [string, string][] =
      args.length > 0 ? args.map((file) => [path.basename(file), file]) : await makeClips(tools, folder);
    process.stdout.write(
      'clip                 whole job  in analysis  after it  steps: told at their end / time\n',
    );
    for (const [name, file] of clips) {
      await rm(path.join(folder, 'work'), { recursive: true, force: true });
      const { log, totalMs, outcome } = await watch(file, path.join(folder, 'work'), tools);
      process.stdout.write(`${describe(name, log, totalMs)}; ${outcome}, ${(totalMs / 1000).toFixed(1)} s\n`);
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function makeClips(tools: ToolPaths, folder: string): Promise<[string, string][]> {
  const at = (name: string) => path.join(folder, `${name}.mp4`);
  const from = (outputPath: string) => ({ tools, inputPath: at('clean'), outputPath });
  await makeMovingClip({ tools, outputPath: at('clean'), ...CLIP });
  await injectRepeats({ ...from(at('held')), history: 'held', runs: [{ frame: 120, count: 3 }] });
  await injectTimestampGaps({ ...from(at('gaps')), holes: [{ frame: 90, count: 3 }] });
  await corruptSamples({ ...from(at('corrupt')), frames: [100, 101], fault: 'zero' });
  const voice = voiceLike(CLIP.seconds, RATE_HZ, 3);
  const windy = mixAtSnr(voice, gustingWind(CLIP.seconds, RATE_HZ, 4), 0);
  await replaceSound({ ...from(at('wind')), channels: [windy], rateHz: RATE_HZ });
  return ['clean', 'held', 'gaps', 'corrupt', 'wind'].map((name) => [name, at(name)]);
}

async function watch(file: string, workDir: string, tools: ToolPaths) {
  const log: Told[] = [];
  const startedAt = performance.now();
  const result = await processVideo(
    {
      kind: 'process-video',
      videoId: 'bench',
      inputPath: file,
      inputSha256: await hashFile(file),
      workDir,
      tools,
      limits: {
        threads: 2,
        preset: 'faster',
        maxEncodePixels: 4096 * 2304,
        maxDurationMs: 3_600_000,
        maxPictures: 200_000,
      },
      reelmendVersion: 'bench',
      referencePaths: [],
    },
    {
      signal: new AbortController().signal,
      send(message) {
        if (message.type !== 'progress') return;
        const { share, step } = message;
        log.push({ atMs: performance.now() - startedAt, share, step });
      },
    },
  );
  if (!result.ok) throw new Error(result.message);
  const repaired = result.report.defects
    .filter(({ outcome }) => outcome === 'repaired')
    .map(({ kind }) => kind);
  const outcome = repaired.length === 0 ? result.report.outcome : [...new Set(repaired)].join(' ');
  return { log, totalMs: performance.now() - startedAt, outcome };
}

function describe(name: string, log: readonly Told[], totalMs: number): string {
  const planned = log.findIndex(({ step }) => step !== 'analyzing');
  const points = (value: number) => `${(value * 100).toFixed(1)}`.padStart(9);
  const ends = new Map(log.map((told) => [told.step, told]));
  const steps = [...ends.values()].map(({ step, share, atMs }) => {
    return `${step} ${share.toFixed(2)}/${(atMs / totalMs).toFixed(2)}`;
  });
  const whole = farthest(log, { atMs: 0, share: 0 }, { atMs: totalMs, share: 1 });
  const plan = log[planned] ?? { atMs: totalMs, share: 1 };
  const analysis = farthest(log.slice(0, planned), { atMs: 0, share: 0 }, log[planned - 1] ?? plan);
  const behind = farthest(log.slice(planned), plan, { atMs: totalMs, share: 1 });
  return `${name.slice(0, 20).padEnd(20)} ${points(whole)} ${points(analysis)}    ${points(behind)}  ${steps.join(', ')}`;
}

type Point = Pick<Told, 'atMs' | 'share'>;

/**
 * Largest distance between reported share and share of elapsed time, from one point to another. Also checks right
 * before each message, where a bar that stood still is farthest behind.
 */
function farthest(log: readonly Told[], from: Point, to: Point): number {
  const shown = log.flatMap(({ atMs, share }, i) => [
    { atMs, share: log[i - 1]?.share ?? from.share },
    { atMs, share },
  ]);
  return shown.reduce((most, { atMs, share }) => {
    const time = (atMs - from.atMs) / Math.max(1, to.atMs - from.atMs);
    const told = (share - from.share) / Math.max(1e-9, to.share - from.share);
    return Math.max(most, Math.abs(told - time));
  }, 0);
}
