import path from 'node:path';
import { probe } from '#server/media/probe.ts';
import { runFfmpeg } from '#server/media/run-ffmpeg.ts';
import type { ToolPaths } from '#server/media/tools.ts';
import { processVideo } from '#server/pipeline/process-video.ts';
import { injectRepeats } from '#server/test/broken-clips.ts';
import { moveSound } from '#server/test/broken-sound.ts';
import { makeTask } from '#server/test/media-job.ts';

/** Wall times in seconds of one run, all on the same clip; the ratios are what counts. */
export interface TimeFigures {
  readonly clipSeconds: number;
  readonly size: string;
  readonly decode: number;
  readonly naive: number;
  readonly clean: number;
  readonly damaged: number;
  /** The export step alone: writing and checking. */
  readonly damagedExport: number;
  readonly sound: number | null;
  readonly soundExport: number | null;
}

/**
 * Times the engine on a clean clip, on one with a held run and on one with late sound, beside decoding
 * alone (two threads) and beside a naive repair: all pictures filtered and encoded at preset medium.
 */
export async function measureTime(base: string, folder: string, tools: ToolPaths): Promise<TimeFigures> {
  const info = await probe(tools, base, 'mov');
  const stream = info.video[0];
  const decode = await timed(() =>
    plainRun(base, ['-map', '0:v:0', '-f', 'null'], '/dev/null', tools, ['-threads', '2']),
  );
  const naiveOptions = [
    '-map',
    '0:v:0',
    '-map',
    '0:a:0?',
    '-vf',
    'fps=30,eq=contrast=1.02,unsharp',
    '-c:v',
    'libx264',
  ];
  naiveOptions.push('-preset', 'medium', '-crf', '18', '-c:a', 'aac', '-f', 'mp4');
  const naive = await timed(() => plainRun(base, naiveOptions, path.join(folder, 'naive.mp4'), tools, []));
  const clean = await job(base, path.join(folder, 'time-clean'), tools);
  const held = path.join(folder, 'time-held.mp4');
  const frame = Math.round((stream?.frameCount ?? 100) * 0.6);
  await injectRepeats({
    tools,
    inputPath: base,
    outputPath: held,
    history: 'held',
    runs: [{ frame, count: 3 }],
  });
  const damaged = await job(held, path.join(folder, 'time-held'), tools);
  let sound: Awaited<ReturnType<typeof job>> | null = null;
  if (info.audio.length > 0) {
    const late = path.join(folder, 'time-late.mp4');
    await moveSound({ tools, inputPath: base, outputPath: late, offsetMs: 240 });
    sound = await job(late, path.join(folder, 'time-late'), tools);
  }
  return {
    clipSeconds: (info.durationMs ?? 0) / 1000,
    size: `${stream?.width ?? 0} x ${stream?.height ?? 0}`,
    decode,
    naive,
    clean: clean.all,
    damaged: damaged.all,
    damagedExport: damaged.exporting,
    sound: sound?.all ?? null,
    soundExport: sound?.exporting ?? null,
  };
}

async function plainRun(
  input: string,
  options: readonly string[],
  output: string,
  tools: ToolPaths,
  before: readonly string[],
): Promise<void> {
  const plan = {
    label: 'time',
    inputs: [{ path: input, options: before }],
    outputs: [{ path: output, options }],
    expectedDurationMs: null,
  };
  await runFfmpeg(plan, { tools });
}

async function job(
  input: string,
  workDir: string,
  tools: ToolPaths,
): Promise<{ all: number; exporting: number }> {
  const task = await makeTask(input, workDir, { tools });
  let exporting = 0;
  const all = await timed(async () => {
    const result = await processVideo(task, { signal: new AbortController().signal, send: () => undefined });
    if (!result.ok) throw new Error(`${result.code}: ${result.message}`);
    exporting = (result.report.steps.find(({ step }) => step === 'exporting')?.tookMs ?? 0) / 1000;
  });
  return { all, exporting };
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return (performance.now() - startedAt) / 1000;
}
