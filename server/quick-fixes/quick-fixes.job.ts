import { readFile } from 'node:fs/promises';
import type { Knex } from 'knex';
import { isQuickFix } from '#common/fixes.ts';
import { isAtWork } from '#common/is-at-work.ts';
import { FixRun } from '#db/models/fix-run.ts';
import { VideoVersion } from '#db/models/video-version.ts';
import { FILE_GONE } from '#server/errors.ts';
import type { EventBus } from '#server/events.ts';
import type { ClaimedJob, JobOutcome, JobQueue } from '#server/jobs/job-queue.ts';
import type { JobHandler, RunnerLogger } from '#server/jobs/job-runner.ts';
import { isLastTry, JOB_PAYLOADS } from '#server/jobs/job-types.ts';
import { createJobFolders, inKeptFolder } from '#server/jobs/job-folder.ts';
import { isStorageFull, noRoomFor, ROOM_WAIT_MS } from '#server/jobs/no-room.ts';
import { noteHeadway } from '#server/jobs/note-headway.ts';
import { createProgressTeller } from '#server/jobs/progress-teller.ts';
import { createRequestRows } from '#server/jobs/requested-work.ts';
import { createTimeLeft } from '#server/jobs/time-left.ts';
import type { MediaPool } from '#server/jobs/media-pool.ts';
import type { MediaStorage } from '#server/pipeline/storage/media-storage.ts';
import type {
  ApplyFixesResult,
  ApplyFixesTask,
  FixesMessage,
  MediaLimits,
} from '#server/pipeline/worker-protocol.ts';
import { PROGRESS_INTERVAL_MS, RETRYABLE, ROOM_SHARE } from '#server/pipeline/media-job-rules.ts';
import { fixRequests } from './fix-requests.ts';
import { publishFixes, type PublishFixesDeps } from './publish-fixes.ts';
import { detailOf } from '#server/error-detail.ts';
import { MESSAGES } from '#common/messages.ts';

const KEPT = MESSAGES.clipKept;
const NO_ROOM = noRoomFor('the new version');
const INTERRUPTED = `Applying the fixes was interrupted too many times. ${KEPT}`;
const OUR_FAULT = `Something went wrong on our side while the fixes were applied. ${KEPT}`;

export interface QuickFixesJobDeps extends PublishFixesDeps {
  readonly db: Knex;
  readonly storage: MediaStorage;
  readonly pool: Pick<MediaPool, 'applyFixes'>;
  readonly events: EventBus;
  readonly tools: ApplyFixesTask['tools'];
  readonly limits: MediaLimits;
  /** Version of this project. */
  readonly version: string;
  readonly queue: Pick<JobQueue, 'madeHeadway'>;
  /** Folder for files being made; the folder of a job survives a killed attempt. */
  readonly folder: string;
  readonly logger: RunnerLogger;
  readonly now: () => number;
}

/**
 * Main-thread side of `apply-fixes`: gives paths and the task to a thread, writes progress to the row, publishes the
 * result as a version.
 */
export function createQuickFixesJob(deps: QuickFixesJobDeps): JobHandler {
  const { db, storage, pool, events, logger, now } = deps;
  const folders = createJobFolders(deps.folder);
  const running = new Map<string, AbortController>();
  events.on('video.deleted', ({ videoId }) => running.get(videoId)?.abort());

  const { tell } = createRequestRows(fixRequests(deps));

  function progressOf(run: FixRun) {
    let fixes = run.fixes;
    let leftS: number | null = null;
    const timeLeft = createTimeLeft(now);
    const tellShare = createProgressTeller({
      intervalMs: PROGRESS_INTERVAL_MS,
      now,
      write: (progress) => tell(run, { progress, fixes, remainingS: leftS }),
      logger,
      about: { videoId: run.videoId },
    });
    let states = '';
    return (message: FixesMessage) => {
      const about = { jobId: run.jobId, videoId: run.videoId };
      if (message.type === 'headway') return noteHeadway(deps, run.jobId, { videoId: run.videoId });
      if (message.type === 'refusal') {
        const { fixes: refused, detail } = message;
        return logger.warn({ ...about, fixes: refused, detail }, 'the tools gave up on a quick fix');
      }
      const left = timeLeft(message.share);
      leftS = left === null ? leftS : Math.ceil(left);
      fixes = message.fixes;
      const before = states;
      states = fixes.map(({ state }) => state).join();
      tellShare(message.share, states !== before);
    };
  }

  async function make(run: FixRun, source: VideoVersion, workDir: string, signal: AbortSignal) {
    const file = await storage.localPath(source.sha256);
    try {
      const task: ApplyFixesTask = {
        kind: 'apply-fixes',
        videoId: run.videoId,
        inputPath: file.path,
        inputSha256: source.sha256,
        workDir,
        tools: deps.tools,
        limits: deps.limits,
        fixes: run.fixes.map(({ id }) => id).filter(isQuickFix),
        ...(run.noticed && { noticed: run.noticed }),
        reelmendVersion: deps.version,
      };
      return await pool.applyFixes(task, { onMessage: progressOf(run) }, signal);
    } finally {
      await file.release();
    }
  }

  async function hasRoom(source: VideoVersion): Promise<boolean> {
    const free = await storage.freeBytes();
    return free === null || free >= ROOM_SHARE * source.sizeBytes;
  }

  async function waitForRoom(run: FixRun): Promise<JobOutcome> {
    await tell(run, { state: 'waiting', progress: 0, message: NO_ROOM });
    return { kind: 'waiting', reason: NO_ROOM, forMs: ROOM_WAIT_MS };
  }

  async function giveUp(run: FixRun, message: string): Promise<JobOutcome> {
    const fixes = run.fixes.map(({ id }) => ({ id, state: 'failed' as const, detail: '', figures: [] }));
    await tell(run, { state: 'failed', message, fixes });
    return { kind: 'failed', error: message, retryable: false };
  }

  async function work(job: ClaimedJob, run: FixRun, signal: AbortSignal): Promise<JobOutcome> {
    const { sourceVersionId } = run;
    const source =
      sourceVersionId === null ? undefined : await VideoVersion.query(db).findById(sourceVersionId);
    if (!source || !(await storage.stat(source.sha256))) return giveUp(run, FILE_GONE);
    if (!(await hasRoom(source))) return waitForRoom(run);
    await tell(run, { state: 'working', progress: 0, remainingS: null, message: null });
    const workDir = await folders.kept(job.id);
    const result = await make(run, source, workDir, signal);
    if (!result.ok) return await endFailed(job, run, result, signal);
    return await publish(run, source, result);
  }

  async function publish(
    run: FixRun,
    source: VideoVersion,
    result: Extract<ApplyFixesResult, { ok: true }>,
  ): Promise<JobOutcome> {
    const poster = result.clip?.posterPath ? await readFile(result.clip.posterPath) : null;
    const ended = await publishFixes(deps, run, source, result, poster);
    if (ended === 'moved') return giveUp(run, `Another version became the current one meanwhile. ${KEPT}`);
    return { kind: 'done' };
  }

  async function endFailed(
    job: ClaimedJob,
    run: FixRun,
    failure: Extract<ApplyFixesResult, { ok: false }>,
    signal: AbortSignal,
  ): Promise<JobOutcome> {
    if (signal.aborted) return { kind: 'interrupted' };
    const { code, detail } = failure;
    logger.warn({ jobId: job.id, videoId: run.videoId, code, detail }, 'quick fixes failed');
    if (code === 'storage_full') return waitForRoom(run);
    if (RETRYABLE.has(code) && !isLastTry(job)) {
      return { kind: 'failed', error: failure.message, retryable: true };
    }
    return giveUp(run, code === 'internal' ? OUR_FAULT : `${failure.message} ${KEPT}`);
  }

  async function attempt(job: ClaimedJob, run: FixRun, signal: AbortSignal): Promise<JobOutcome> {
    try {
      return await work(job, run, signal);
    } catch (error) {
      if (signal.aborted) return { kind: 'interrupted' };
      if (isStorageFull(error)) return waitForRoom(run);
      if (!isLastTry(job)) throw error;
      const detail = detailOf(error);
      logger.error({ jobId: job.id, videoId: run.videoId, detail }, 'the last try of quick fixes failed');
      return giveUp(run, OUR_FAULT);
    }
  }

  return inKeptFolder(
    { db, folders },
    {
      async run(job, signal) {
        const { videoId } = JOB_PAYLOADS['apply-fixes'].parse(job.payload);
        const run = await FixRun.query(db).findById(videoId);
        // The request was deleted, cancelled, replaced by a later one, or published by an attempt that was killed at
        // its end.
        if (!run || run.jobId !== job.id || !isAtWork(run)) return { kind: 'done' };
        const deleted = new AbortController();
        running.set(videoId, deleted);
        try {
          return await attempt(job, run, AbortSignal.any([signal, deleted.signal]));
        } finally {
          running.delete(videoId);
        }
      },
      async exhausted(job) {
        const { videoId } = JOB_PAYLOADS['apply-fixes'].parse(job.payload);
        const run = await FixRun.query(db).findById(videoId);
        if (run?.jobId === job.id) await giveUp(run, INTERRUPTED);
      },
    },
  );
}
