import { access } from 'node:fs/promises';
import type { Knex } from 'knex';
import type { StepRecord } from '#common/report.ts';
import { Video } from '#db/models/video.ts';
import { detailOf } from '#server/error-detail.ts';
import { AppError, FILE_GONE } from '#server/errors.ts';
import type { EventBus } from '#server/events.ts';
import type { ClaimedJob, JobOutcome, JobQueue } from '#server/jobs/job-queue.ts';
import type { JobHandler } from '#server/jobs/job-runner.ts';
import { isLastTry, JOB_PAYLOADS } from '#server/jobs/job-types.ts';
import { isStorageFull } from '#server/jobs/no-room.ts';
import type { MediaPool } from '#server/jobs/media-pool.ts';
import {
  type Attempt,
  endFailed,
  type EndAttemptDeps,
  giveUp,
  publishResult,
  removeWork,
  waitForRoom,
} from './end-attempt.ts';
import { holdClips, type HeldClips } from './hold-clips.ts';
import { PROGRESS_INTERVAL_MS, ROOM_SHARE } from './media-job-rules.ts';
import { createProgressWriter, type ProgressWriter } from './progress/progress-writer.ts';
import type { FinishedVideo } from './publish/publish.service.ts';
import type { MediaStorage } from './storage/media-storage.ts';
import type { MediaLimits, ProcessVideoTask, WorkerMessage } from './worker-protocol.ts';

const INTERRUPTED = 'Processing was interrupted too many times.';
const OUR_FAULT = 'Something went wrong on our side while this clip was processed. Please try again later.';

export interface ProcessVideoJobDeps extends EndAttemptDeps {
  readonly db: Knex;
  readonly storage: MediaStorage;
  readonly pool: Pick<MediaPool, 'run'>;
  readonly queue: Pick<JobQueue, 'madeHeadway'>;
  readonly events: EventBus;
  /** Sandboxed tools. */
  readonly tools: ProcessVideoTask['tools'];
  readonly limits: MediaLimits;
  readonly version: string;
}

/**
 * Main-thread side of `process-video`: passes paths to the pool, progress to the video's state, and the result to
 * publication. It starts from what is stored, so it may run again after any kill.
 */
export function createProcessVideoJob(deps: ProcessVideoJobDeps): JobHandler {
  const { db, state, events, logger } = deps;
  const running = new Map<string, AbortController>();
  events.on('video.deleted', ({ videoId }) => {
    const abort = running.get(videoId);
    if (abort) abort.abort();
    else void removeWork(deps, videoId);
  });

  async function run(job: ClaimedJob, signal: AbortSignal): Promise<JobOutcome> {
    const { videoId } = JOB_PAYLOADS['process-video'].parse(job.payload);
    const number = await state.begin(videoId);
    if (number === null) {
      await removeWork(deps, videoId);
      return { kind: 'done' };
    }
    const attempt: Attempt = { jobId: job.id, videoId, number, isLast: isLastTry(job) };
    const lost = new AbortController();
    running.set(videoId, lost);
    try {
      return await processStored(deps, attempt, AbortSignal.any([signal, lost.signal]), lost);
    } catch (error) {
      if (isStorageFull(error)) return await waitForRoom(deps, attempt);
      if (!attempt.isLast) throw error;
      logger.error({ jobId: job.id, videoId, error: detailOf(error) }, 'the last try failed');
      return await giveUp(deps, attempt, 'internal', error instanceof AppError ? error.message : OUR_FAULT);
    } finally {
      running.delete(videoId);
      // If the video was deleted meanwhile, nobody else will remove the folder.
      if (!(await Video.query(db).findById(videoId).select('id'))) await removeWork(deps, videoId);
    }
  }

  return {
    run,
    async exhausted(job) {
      const { videoId } = JOB_PAYLOADS['process-video'].parse(job.payload);
      await state.fail(videoId, null, 'interrupted', INTERRUPTED);
      await removeWork(deps, videoId);
    },
  };
}

/**
 * Does what is still to be done for a video: publishes the result of an attempt that was killed while it did so, else
 * mends the original.
 * @param lost aborted when the video takes no more progress of this attempt
 */
async function processStored(
  deps: ProcessVideoJobDeps,
  attempt: Attempt,
  signal: AbortSignal,
  lost: AbortController,
): Promise<JobOutcome> {
  const { db, storage, work } = deps;
  const { videoId } = attempt;
  const video = await Video.query(db).findById(videoId);
  if (!video) return { kind: 'done' };
  if (!(await storage.stat(video.originalSha256))) return giveUp(deps, attempt, 'source_gone', FILE_GONE);
  const workDir = await work.open(videoId);
  const kept = await readyResult(deps, videoId);
  if (kept) return publishResult(deps, attempt, video, kept);
  if (!(await hasRoom(storage, video))) return waitForRoom(deps, attempt);

  const progress = writeProgress(deps, attempt, lost);
  const headway = await watchHeadway(deps, attempt);
  const clips = await holdClips(deps, video);
  try {
    const onMessage = (message: WorkerMessage) => {
      tell(progress, message);
      if (message.type === 'steps') headway(message.steps);
    };
    const result = await deps.pool.run(taskFor(deps, video, workDir, clips), { onMessage }, signal);
    await progress.flush();
    if (result.ok) {
      await work.keepResult(videoId, result);
      return await publishResult(deps, attempt, video, result);
    }
    if (signal.aborted) return { kind: 'interrupted' };
    const { code, detail } = result;
    deps.logger.warn({ jobId: attempt.jobId, videoId, code, detail }, 'processing failed');
    if (result.code === 'storage_full') return await waitForRoom(deps, attempt);
    return await endFailed(deps, attempt, result.code, result.message);
  } finally {
    await clips.release();
  }
}

function taskFor(
  { tools, limits, version }: ProcessVideoJobDeps,
  video: Video,
  workDir: string,
  { originalPath, referencePaths }: HeldClips,
): ProcessVideoTask {
  return {
    kind: 'process-video',
    videoId: video.id,
    inputPath: originalPath,
    inputSha256: video.originalSha256,
    workDir,
    tools,
    limits,
    reelmendVersion: version,
    referencePaths,
  };
}

/** The result of an earlier attempt that was killed during publication. */
async function readyResult(
  { work, storage }: ProcessVideoJobDeps,
  videoId: string,
): Promise<FinishedVideo | null> {
  const kept = await work.keptResult(videoId);
  if (!kept || kept.resultPath === null) return kept;
  const there = await access(kept.resultPath).then(
    () => true,
    () => false,
  );
  return there || (await storage.stat(kept.resultSha256)) ? kept : null;
}

async function hasRoom(storage: MediaStorage, video: Video): Promise<boolean> {
  const free = await storage.freeBytes();
  return free === null || free >= ROOM_SHARE * video.fileSize;
}

/** Writes progress to the video's row; `lost` is aborted when the row takes none any more. */
function writeProgress(
  { state, logger }: ProcessVideoJobDeps,
  { videoId, number }: Attempt,
  lost: AbortController,
): ProgressWriter {
  return createProgressWriter({
    intervalMs: PROGRESS_INTERVAL_MS,
    write: (report) => state.report(videoId, number, report),
    onLost: (error) => {
      if (error) logger.warn({ videoId, error: String(error) }, 'progress could not be written');
      lost.abort();
    },
  });
}

/** Turns one message of the thread into news for the video's row; 100 % is reserved for the published result. */
function tell(progress: ProgressWriter, message: WorkerMessage): void {
  if (message.type === 'steps') progress.push({ steps: message.steps });
  else if (message.type === 'issues') progress.push({ issues: message.issues });
  else if (message.type === 'findings') progress.push({ findings: message.findings });
  else {
    progress.push({
      step: message.step,
      progress: Math.min(99, Math.floor(message.share * 100)),
      remainingSeconds: message.remainingSeconds === null ? null : Math.ceil(message.remainingSeconds),
    });
  }
}

/** Tells the queue when a step is finished that no earlier attempt had finished. */
async function watchHeadway(
  { work, queue, logger }: ProcessVideoJobDeps,
  { jobId, videoId }: Attempt,
): Promise<(steps: readonly StepRecord[]) => void> {
  let most = await work.finishedSteps(videoId);
  return (steps) => {
    const finished = steps.filter((step) => step.state === 'done' || step.state === 'not_needed').length;
    if (finished <= most) return;
    most = finished;
    work
      .keepFinishedSteps(videoId, finished)
      .then(() => queue.madeHeadway(jobId))
      .catch((error: unknown) => logger.warn({ videoId, error: String(error) }, 'headway was not noted'));
  };
}
