import { access } from 'node:fs/promises';
import type { Knex } from 'knex';
import type { StepRecord } from '#common/report.ts';
import { Video } from '#db/models/video.ts';
import type { EventBus } from '#server/events.ts';
import type { ClaimedJob, JobOutcome, JobQueue } from '#server/jobs/job-queue.ts';
import type { JobHandler, RunnerLogger } from '#server/jobs/job-runner.ts';
import { isLastTry, JOB_PAYLOADS } from '#server/jobs/job-types.ts';
import { isStorageFull, noRoomFor, ROOM_WAIT_MS } from '#server/jobs/no-room.ts';
import type { MediaPool } from '#server/jobs/media-pool.ts';
import { AppError, FILE_GONE } from '#server/errors.ts';
import type { VideoState } from '#server/videos/video-state.ts';
import { createProgressWriter, type ProgressWriter } from './progress/progress-writer.ts';
import type { FinishedVideo, PublishService } from './publish/publish.service.ts';
import type { MediaStorage } from './storage/media-storage.ts';
import { mayNeedReference } from './open/may-need-reference.ts';
import { PROGRESS_INTERVAL_MS, RETRYABLE, ROOM_SHARE } from './media-job-rules.ts';
import type { WorkFolders } from './work-folders.ts';
import type { MediaFailureCode, MediaLimits, ProcessVideoTask, WorkerMessage } from './worker-protocol.ts';
import { detailOf } from '#server/error-detail.ts';

/**
 * Most earlier clips of the account that are offered as references for a lost index; from a bucket, each must be
 * fetched as a whole.
 */
const MAX_REFERENCES = { local: 12, remote: 3 };
const INTERRUPTED = 'Processing was interrupted too many times.';
const OUR_FAULT = 'Something went wrong on our side while this clip was processed. Please try again later.';
const NO_ROOM = noRoomFor('the repair');

export interface ProcessVideoJobDeps {
  readonly db: Knex;
  readonly storage: MediaStorage;
  readonly state: VideoState;
  readonly publisher: PublishService;
  readonly pool: Pick<MediaPool, 'run'>;
  readonly work: WorkFolders;
  readonly queue: Pick<JobQueue, 'madeHeadway'>;
  readonly events: EventBus;
  readonly logger: RunnerLogger;
  /** Sandboxed tools. */
  readonly tools: ProcessVideoTask['tools'];
  readonly limits: MediaLimits;
  readonly version: string;
  /** Wait for space on a full disk, ms; default one minute. */
  readonly roomWaitMs?: number;
}

/**
 * Main-thread side of `process-video`: passes paths to the pool, progress to the video's state, and the result to
 * publication. It starts from what is stored, so it may run again after any kill.
 */
export function createProcessVideoJob(deps: ProcessVideoJobDeps): JobHandler {
  const { db, storage, state, publisher, pool, work, events, logger } = deps;
  const running = new Map<string, AbortController>();
  events.on('video.deleted', ({ videoId }) => {
    const abort = running.get(videoId);
    if (abort) abort.abort();
    else void removeWork(videoId);
  });

  async function removeWork(videoId: string): Promise<void> {
    await work.remove(videoId).catch((error: unknown) => {
      logger.warn({ videoId, error: String(error) }, 'the work folder could not be removed');
    });
  }

  async function run(job: ClaimedJob, signal: AbortSignal): Promise<JobOutcome> {
    const { videoId } = JOB_PAYLOADS['process-video'].parse(job.payload);
    const attempt = await state.begin(videoId);
    if (attempt === null) {
      await removeWork(videoId);
      return { kind: 'done' };
    }
    const lost = new AbortController();
    running.set(videoId, lost);
    try {
      return await process(job, videoId, attempt, AbortSignal.any([signal, lost.signal]), lost);
    } catch (error) {
      if (isStorageFull(error)) return await waitForRoom(videoId, attempt);
      if (!isLastTry(job)) throw error;
      logger.error({ jobId: job.id, videoId, error: detailOf(error) }, 'the last try failed');
      return await giveUp(
        videoId,
        attempt,
        'internal',
        error instanceof AppError ? error.message : OUR_FAULT,
      );
    } finally {
      running.delete(videoId);
      // If the video was deleted meanwhile, nobody else will remove the folder.
      if (!(await Video.query(db).findById(videoId).select('id'))) await removeWork(videoId);
    }
  }

  async function process(
    job: ClaimedJob,
    videoId: string,
    attempt: number,
    signal: AbortSignal,
    lost: AbortController,
  ): Promise<JobOutcome> {
    const video = await Video.query(db).findById(videoId);
    if (!video) return { kind: 'done' };
    if (!(await storage.stat(video.originalSha256))) {
      return giveUp(videoId, attempt, 'source_gone', FILE_GONE);
    }
    const workDir = await work.open(videoId);
    const kept = await readyResult(videoId);
    if (kept) return publish(video, attempt, kept);
    if (!(await hasRoom(video))) return waitForRoom(videoId, attempt);

    const progress = createProgressWriter({
      intervalMs: PROGRESS_INTERVAL_MS,
      write: (report) => state.report(videoId, attempt, report),
      onLost: (error) => {
        if (error) logger.warn({ videoId, error: String(error) }, 'progress could not be written');
        lost.abort();
      },
    });
    const headway = await watchHeadway(job.id, videoId);
    const { original, references } = await holdClips(video);
    try {
      const task: ProcessVideoTask = {
        kind: 'process-video',
        videoId,
        inputPath: original.path,
        inputSha256: video.originalSha256,
        workDir,
        tools: deps.tools,
        limits: deps.limits,
        reelmendVersion: deps.version,
        referencePaths: references.map((reference) => reference.path),
      };
      const onMessage = (message: WorkerMessage) => {
        tell(progress, message);
        if (message.type === 'steps') headway(message.steps);
      };
      const result = await pool.run(task, { onMessage }, signal);
      await progress.flush();
      if (result.ok) {
        await work.keepResult(videoId, result);
        return await publish(video, attempt, result);
      }
      if (signal.aborted) return { kind: 'interrupted' };
      const { code, detail } = result;
      logger.warn({ jobId: job.id, videoId, code, detail }, 'processing failed');
      if (result.code === 'storage_full') return await waitForRoom(videoId, attempt);
      return await endFailed(job, videoId, attempt, result.code, result.message);
    } finally {
      await original.release();
      for (const reference of references) await reference.release();
    }
  }

  /** Tells the queue when a step is finished that no earlier attempt had finished. */
  async function watchHeadway(jobId: string, videoId: string) {
    let most = await work.finishedSteps(videoId);
    return (steps: readonly StepRecord[]) => {
      const finished = steps.filter((step) => step.state === 'done' || step.state === 'not_needed').length;
      if (finished <= most) return;
      most = finished;
      work
        .keepFinishedSteps(videoId, finished)
        .then(() => deps.queue.madeHeadway(jobId))
        .catch((error: unknown) => logger.warn({ videoId, error: String(error) }, 'headway was not noted'));
    };
  }

  async function publish(video: Video, attempt: number, result: FinishedVideo): Promise<JobOutcome> {
    await publisher.publish(video, attempt, result);
    await removeWork(video.id);
    return { kind: 'done' };
  }

  /** The result of an earlier attempt that was killed during publication. */
  async function readyResult(videoId: string): Promise<FinishedVideo | null> {
    const kept = await work.keptResult(videoId);
    if (!kept || kept.resultPath === null) return kept;
    const there = await access(kept.resultPath).then(
      () => true,
      () => false,
    );
    return there || (await storage.stat(kept.resultSha256)) ? kept : null;
  }

  async function endFailed(
    job: ClaimedJob,
    videoId: string,
    attempt: number,
    code: MediaFailureCode,
    message: string,
  ): Promise<JobOutcome> {
    if (RETRYABLE.has(code) && !isLastTry(job)) return { kind: 'failed', error: message, retryable: true };
    return giveUp(videoId, attempt, code, message);
  }

  async function hasRoom(video: Video): Promise<boolean> {
    const free = await storage.freeBytes();
    return free === null || free >= ROOM_SHARE * video.fileSize;
  }

  /** A full disk is not the clip's fault: the job waits, visible to its owner, and uses up no attempt. */
  async function waitForRoom(videoId: string, attempt: number): Promise<JobOutcome> {
    logger.warn({ videoId }, 'the disk is full: the job waits for room');
    await state.hold(videoId, attempt, 'storage_full', NO_ROOM);
    return { kind: 'waiting', reason: NO_ROOM, forMs: deps.roomWaitMs ?? ROOM_WAIT_MS };
  }

  async function giveUp(
    videoId: string,
    attempt: number,
    code: string,
    message: string,
  ): Promise<JobOutcome> {
    await state.fail(videoId, attempt, code, message);
    await removeWork(videoId);
    return { kind: 'failed', error: message, retryable: false };
  }

  /** The clip, and those that may help to read it. */
  async function holdClips(video: Video) {
    const original = await storage.localPath(video.originalSha256);
    try {
      const wanted = storage.isLocal || (await mayNeedReference(original.path));
      return { original, references: wanted ? await findReferences(video) : [] };
    } catch (error) {
      await original.release();
      throw error;
    }
  }

  async function findReferences(video: Video) {
    const earlier = await Video.query(db)
      .where({ userId: video.userId, status: 'completed', isSample: false })
      .whereNot('originalSha256', video.originalSha256)
      .orderBy('createdAt', 'desc')
      .limit(storage.isLocal ? MAX_REFERENCES.local : MAX_REFERENCES.remote);
    const found = await Promise.all(
      earlier.map((other) => storage.localPath(other.originalSha256).catch(missingIsNull)),
    );
    return found.filter((reference) => reference !== null);
  }

  return {
    run,
    async exhausted(job) {
      const { videoId } = JOB_PAYLOADS['process-video'].parse(job.payload);
      await state.fail(videoId, null, 'interrupted', INTERRUPTED);
      await removeWork(videoId);
    },
  };
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

function missingIsNull(error: unknown): null {
  if (error instanceof AppError && error.code === 'not_found') return null;
  throw error;
}
