import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { readFile, rm } from 'node:fs/promises';
import { TOOL_RUNS, type FinishedToolRun, type ToolPaths } from '#server/media/ffmpeg/tools.ts';
import { processVideo } from '#server/pipeline/process-video.ts';
import type { WorkerMessage } from '#server/pipeline/worker-protocol.ts';
import { makeTask } from '#server/test/media-job.ts';

export interface Cost {
  /** Wall-clock time. */
  readonly seconds: number;
  /** User and system time of this process and its ended children; null where the system does not report it. */
  readonly cpuSeconds: number | null;
}

export interface JobCost {
  readonly all: Cost;
  /** Cost of everything after the analysis: rebuilding, encoding, writing, checking. */
  readonly mending: Cost;
  /** Tool runs after the analysis, longest first. */
  readonly parts: readonly { readonly label: string; readonly seconds: number; readonly runs: number }[];
  readonly found: number;
  readonly repaired: number;
}

/** Clock ticks per second in `/proc` (`getconf CLK_TCK` on Linux). */
const TICKS = 100;

/** Processor time of this process and its ended children (proc(5): utime, stime, cutime, cstime). */
async function cpuSeconds(): Promise<number | null> {
  const text = await readFile('/proc/self/stat', 'utf8').catch(() => null);
  const fields = text?.slice(text.lastIndexOf(')') + 2).split(' ');
  return fields ? fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0) / TICKS : null;
}

const difference = (from: number | null, to: number | null) =>
  from === null || to === null ? null : to - from;

export async function measure(work: () => Promise<unknown>): Promise<Cost> {
  const cpuBefore = await cpuSeconds();
  const startedAt = performance.now();
  await work();
  const seconds = (performance.now() - startedAt) / 1000;
  return { seconds, cpuSeconds: difference(cpuBefore, await cpuSeconds()) };
}

/** Repairs a clip and returns what it cost. */
export async function timeJob(input: string, workDir: string, tools: ToolPaths): Promise<JobCost> {
  const task = await makeTask(input, workDir, { tools });
  let analysed: { at: number; cpu: Promise<number | null> } | null = null;
  const parts = new Map<string, { seconds: number; runs: number }>();
  const onToolRun = (message: unknown) => {
    if (!analysed || !isToolRun(message)) return;
    const part = parts.get(message.label) ?? { seconds: 0, runs: 0 };
    parts.set(message.label, { seconds: part.seconds + message.tookMs / 1000, runs: part.runs + 1 });
  };
  const send = (message: WorkerMessage) => {
    const ended =
      message.type === 'steps' &&
      message.steps.some(({ step, state }) => step === 'analyzing' && state === 'done');
    if (ended) analysed ??= { at: performance.now(), cpu: cpuSeconds() };
  };
  let found = 0;
  let repaired = 0;
  let mending: Cost = { seconds: 0, cpuSeconds: null };
  subscribe(TOOL_RUNS, onToolRun);
  try {
    const all = await measure(async () => {
      const result = await processVideo(task, { signal: new AbortController().signal, send });
      if (!result.ok) throw new Error(`${result.code}: ${result.message}`);
      found = result.report.defects.length;
      repaired = result.report.defects.filter(({ outcome }) => outcome === 'repaired').length;
      mending = await since(analysed);
    });
    const byLength = [...parts]
      .map(([label, part]) => ({ label, ...part }))
      .sort((a, b) => b.seconds - a.seconds);
    return { all, mending, parts: byLength, found, repaired };
  } finally {
    unsubscribe(TOOL_RUNS, onToolRun);
    await rm(workDir, { recursive: true, force: true });
  }
}

async function since(
  start: { readonly at: number; readonly cpu: Promise<number | null> } | null,
): Promise<Cost> {
  if (!start) return { seconds: 0, cpuSeconds: null };
  const seconds = (performance.now() - start.at) / 1000;
  return { seconds, cpuSeconds: difference(await start.cpu, await cpuSeconds()) };
}

function isToolRun(message: unknown): message is FinishedToolRun {
  return typeof message === 'object' && message !== null && 'label' in message && 'tookMs' in message;
}
