import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { REPORT_SCHEMA, type MediaSummary } from '#common/report.ts';
import { NO_ISSUES, PROCESSING_STEPS } from '#common/video.ts';
import type { ProcessVideoResult, ProcessVideoTask } from '#server/pipeline/worker-protocol.ts';

const MEDIA: MediaSummary = {
  container: 'mov,mp4',
  durationMs: 8000,
  videoCodec: 'h264',
  width: 1280,
  height: 720,
  rotation: null,
  frameCount: 240,
  frameRate: 30,
  variableFrameRate: false,
  audioCodec: 'aac',
  sampleRateHz: 48_000,
  channels: 2,
};

/**
 * A result as a media thread returns it, for tests of the main thread.
 * @param content bytes of the repaired clip; null for a clip that needed nothing
 */
export async function fakeResult(
  task: ProcessVideoTask,
  content: Buffer | null,
): Promise<Extract<ProcessVideoResult, { ok: true }>> {
  await mkdir(task.workDir, { recursive: true });
  const file = (name: string) => path.join(task.workDir, name);
  const input = await readFile(task.inputPath);
  const bytes = content ?? input;
  if (content) await writeFile(file('result.mp4'), content);
  await writeFile(file('poster.jpg'), `poster of ${task.videoId}`);
  await writeFile(file('captions.vtt'), 'WEBVTT\n');
  const result = {
    sha256: createHash('sha256').update(bytes).digest('hex'),
    sizeBytes: bytes.length,
    media: MEDIA,
  };
  return {
    ok: true,
    resultPath: content ? file('result.mp4') : null,
    resultSha256: result.sha256,
    resultSizeBytes: bytes.length,
    posterPath: file('poster.jpg'),
    captionsPath: file('captions.vtt'),
    issues: { ...NO_ISSUES, stutteredCuts: content ? 2 : 0 },
    fixesApplied: content ? { stutteredCuts: 2, windNoise: true } : {},
    report: {
      schema: REPORT_SCHEMA,
      createdAt: new Date(0).toISOString(),
      outcome: content ? 'repaired' : 'unchanged',
      original: { sha256: task.inputSha256, sizeBytes: input.length, media: MEDIA },
      result,
      tools: { reelmend: 'test', ffmpeg: 'test' },
      video: { treatment: 'untouched', reason: null, unitsKept: 240, unitsTotal: 240 },
      audio: { treatment: 'untouched', reason: null, unitsKept: null, unitsTotal: null },
      steps: PROCESSING_STEPS.map((step) => ({ step: step.id, state: 'done', tookMs: 1, note: '' })),
      defects: [],
      checks: [],
      captions: [],
      notes: [],
    },
  };
}
