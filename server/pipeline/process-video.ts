import { stat } from 'node:fs/promises';
import { isCutShort } from '#server/media/probe/lost-ends.ts';
import { createLiveFindings } from './progress/live-findings.ts';
import { CANCELLED, toFailure } from './media-failure.ts';
import { createProgressMeter, type ProgressMeter } from './progress/progress-meter.ts';
import { buildReport, summarise, toFixes, toIssues } from './publish/build-report.ts';
import { playbackNeeds } from './publish/playback.ts';
import { laterCostMs } from './steps/step-costs.ts';
import { analyseStep, openingFindings } from './steps/analyse-step.ts';
import { captionStep, soundMoveOf } from './steps/caption-step.ts';
import { exportStep } from './steps/export-step.ts';
import type { JobContext } from './steps/job-context.ts';
import { pictureStep } from './steps/picture-step.ts';
import { soundStep } from './steps/sound-step.ts';
import { planRepair } from './repair/plan-repair.ts';
import { createStepRecords } from './steps/step-records.ts';
import { openStepStore } from './steps/step-store.ts';
import type { ProcessVideoResult, ProcessVideoTask, WorkerMessage } from './worker-protocol.ts';

export interface ProcessVideoIo {
  /** Aborting ends the running media tool; the task then answers `cancelled`. */
  readonly signal: AbortSignal;
  readonly send: (message: WorkerMessage) => void;
}

/**
 * Repairs one clip: analyses it, repairs what the evidence allows in the six named steps, writes and checks the result,
 * and reports everything. It throws nothing for a clip that cannot be repaired, and a clip with nothing wrong is its
 * own result. Outputs of finished steps lie in the work folder, so a new attempt after a kill continues after them.
 */
export async function processVideo(task: ProcessVideoTask, io: ProcessVideoIo): Promise<ProcessVideoResult> {
  try {
    return await runSteps(task, io);
  } catch (error) {
    if (io.signal.aborted) {
      const { detail } = toFailure(error);
      return { ok: false, code: 'cancelled', message: CANCELLED, detail };
    }
    return toFailure(error);
  }
}

/** Interval at which the bar advances if a step has no news, ms. */
const BEAT_MS = 250;

async function runSteps(task: ProcessVideoTask, io: ProcessVideoIo): Promise<ProcessVideoResult> {
  const meter = createProgressMeter({ send: io.send });
  const beat = setInterval(meter.beat, BEAT_MS);
  try {
    return await runStepsOf(task, io, meter);
  } finally {
    clearInterval(beat);
  }
}

/** What the outputs of finished steps depend on. */
const storeKey = ({ inputSha256, reelmendVersion, places }: ProcessVideoTask): string =>
  [inputSha256, reelmendVersion, ...(places ? [JSON.stringify(places)] : [])].join(' ');

async function runStepsOf(
  task: ProcessVideoTask,
  io: ProcessVideoIo,
  meter: ProgressMeter,
): Promise<ProcessVideoResult> {
  const job: JobContext = {
    task,
    signal: io.signal,
    store: await openStepStore(task.workDir, storeKey(task)),
    steps: createStepRecords((steps) => io.send({ type: 'steps', steps })),
    meter,
    live: createLiveFindings((findings) => io.send({ type: 'findings', findings })),
  };

  const opened = await analyseStep(job);
  const { analysis } = opened;
  const plan = planRepair(analysis, task.limits);
  const believed = analysis.findings.filter((finding) => !plan.contradicted.includes(finding));
  const issues = toIssues([...openingFindings(opened), ...believed]);
  io.send({ type: 'issues', issues });
  const originalMedia = summarise(analysis.info, analysis.pictures);
  job.live.found([...openingFindings(opened), ...analysis.findings], originalMedia.durationMs);
  job.live.settle(plan.left);

  const needs = playbackNeeds(analysis.info);
  const encodeAll = needs.video !== null;
  const laterMs = laterCostMs({
    pace: opened.pace,
    plan,
    keyframe: analysis.pictures?.keyframe ?? [],
    encodeAll,
  });
  job.meter.expectLater(laterMs, opened.tookMs);
  const cuts = await pictureStep(job, 'fixing_cuts', opened, plan);
  const sound = await soundStep(job, opened, plan);
  const frames = await pictureStep(job, 'recovering_frames', opened, plan);
  const captions = await captionStep(job, analysis, sound);
  const exported = await exportStep(job, { opened, plan, needs, cuts, frames, sound });

  const { size } = await stat(task.inputPath);
  const unchanged = exported.resultPath === null;
  const result = unchanged
    ? { sha256: task.inputSha256, sizeBytes: size, media: originalMedia }
    : { sha256: exported.sha256, sizeBytes: exported.sizeBytes, media: exported.media };
  const report = buildReport({
    createdAt: new Date(),
    outcome: unchanged ? 'unchanged' : 'repaired',
    original: { sha256: task.inputSha256, sizeBytes: size, media: originalMedia },
    result,
    tools: { reelmend: task.reelmendVersion, ffmpeg: opened.ffmpegVersion },
    video: exported.video,
    audio: exported.audio,
    soundMove: unchanged ? null : soundMoveOf(sound.audio),
    lostEnds: opened.rebuilt && isCutShort(analysis.info.lostEnds) ? analysis.info.lostEnds : undefined,
    steps: job.steps.list(),
    verdicts: exported.verdicts,
    checks: exported.checks,
    captions: captions.cues,
    // What was done about a lost index is said with it.
    notes: [...analysis.notes, ...exported.notes],
  });
  return {
    ok: true,
    resultPath: exported.resultPath,
    resultSha256: result.sha256,
    resultSizeBytes: result.sizeBytes,
    posterPath: exported.posterPath,
    captionsPath: captions.path,
    issues,
    fixesApplied: toFixes(exported.verdicts),
    report,
  };
}
