import path from 'node:path';
import type { Knex } from 'knex';
import { isAtWork } from '#common/is-at-work.ts';
import { Video } from '#db/models/video.ts';
import { VideoExport } from '#db/models/video-export.ts';
import { AppError } from '#server/errors.ts';
import type { EventBus } from '#server/events.ts';
import type { ClaimedJob, JobOutcome, JobQueue } from '#server/jobs/job-queue.ts';
import type { JobHandler, RunnerLogger } from '#server/jobs/job-runner.ts';
import { isLastTry, JOB_PAYLOADS } from '#server/jobs/job-types.ts';
import { createJobFolders, inKeptFolder } from '#server/jobs/job-folder.ts';
import { noteHeadway } from '#server/jobs/note-headway.ts';
import { createProgressTeller } from '#server/jobs/progress-teller.ts';
import { createRequestRows } from '#server/jobs/requested-work.ts';
import { probeFile } from '#server/media/probe/probe-file.ts';
import { MediaToolError, type ToolPaths } from '#server/media/ffmpeg/tools.ts';
import { recordObject } from '#server/videos/create-video.ts';
import { replaceVersion } from '#server/videos/replace-version.ts';
import type { MediaStorage, StoredFile } from '../storage/media-storage.ts';
import type { MediaLimits } from '../worker-protocol.ts';
import { makeCopy } from '../encode/make-copy.ts';
import { mustMatch } from '../encode/must-match.ts';
import { limitedSize, shownSize } from '../encode/picture-size.ts';
import { announceExport, exportRequests } from './export-requests.ts';
import { limitedExport } from './limited-export-plan.ts';
import { detailOf } from '#server/error-detail.ts';

const KEPT = 'Your full-size result and the original are kept.';
const INTERRUPTED = `Making the smaller file was interrupted too many times. ${KEPT}`;

export interface LimitedExportJobDeps {
  readonly db: Knex;
  readonly storage: MediaStorage;
  readonly events: EventBus;
  readonly tools: ToolPaths;
  readonly limits: MediaLimits;
  readonly queue: Pick<JobQueue, 'madeHeadway'>;
  /** Folder for files being written; a job's folder outlives a killed attempt. */
  readonly folder: string;
  /** Removes objects that nothing refers to any more. */
  readonly collect: (sha256s: readonly string[]) => Promise<void>;
  readonly logger: RunnerLogger;
  readonly now: () => number;
}

/** Makes the smaller copy of a result. The child does the work, so no thread is needed. */
export function createLimitedExportJob(deps: LimitedExportJobDeps): JobHandler {
  const { db, storage, tools, logger, now } = deps;
  const folders = createJobFolders(deps.folder);

  const { tell } = createRequestRows(exportRequests(deps));

  const progressOf = (row: VideoExport) =>
    createProgressTeller({
      now,
      write: (progress) => tell(row, { progress }),
      logger,
      about: { videoId: row.videoId },
    });

  async function make(job: ClaimedJob, row: VideoExport, signal: AbortSignal): Promise<StoredFile> {
    const workDir = await folders.kept(job.id);
    const outputPath = path.join(workDir, 'smaller.mp4');
    const source = await storage.localPath(row.sourceSha256);
    try {
      const info = await probeFile(tools, source.path, signal);
      const { shortSide } = row;
      const { limits } = deps;
      const [stream] = info.video;
      if (!stream) throw new MediaToolError('tool_failed', 'the clip has no pictures');
      const wanted = limitedSize(shownSize(stream), shortSide);
      await makeCopy({
        recipe: limitedExport({ inputPath: source.path, info, shortSide, limits }),
        workDir,
        outputPath,
        tools,
        signal,
        onProgress: progressOf(row),
        onPiece: () => noteHeadway(deps, job.id, { videoId: row.videoId }),
      });
      mustMatch(info, await probeFile(tools, outputPath, signal), wanted);
      return await storage.put(outputPath);
    } finally {
      await source.release();
    }
  }

  /** A finished copy becomes a version; copies of earlier results are removed. */
  async function publish(row: VideoExport, stored: StoredFile): Promise<void> {
    const { videoId, jobId, sourceSha256, shortSide } = row;
    const replaced = await db.transaction(async (trx) => {
      const still = await VideoExport.query(trx).findOne({ videoId, jobId }).forUpdate();
      // Deleted, cancelled, or asked for anew of another result: nothing refers to these bytes.
      if (!isAtWork(still)) return [stored.sha256];
      const at = now();
      await recordObject(trx, stored, at);
      const mine = { videoId, kind: 'export' } as const;
      const before = await replaceVersion(trx, mine, stored, { sourceSha256, shortSide, createdAt: at });
      await VideoExport.query(trx).delete().where({ videoId });
      return before;
    });
    await announceExport(deps, videoId);
    await deps.collect(replaced.filter((sha256) => sha256 !== stored.sha256));
  }

  async function run(job: ClaimedJob, signal: AbortSignal): Promise<JobOutcome> {
    const { videoId } = JOB_PAYLOADS['export-video'].parse(job.payload);
    const row = await VideoExport.query(db).findById(videoId);
    if (!row || row.jobId !== job.id || !isAtWork(row)) return { kind: 'done' };
    await tell(row, { state: 'working', progress: 0, message: null });
    try {
      await publish(row, await make(job, row, signal));
      return { kind: 'done' };
    } catch (error) {
      if (signal.aborted) return { kind: 'interrupted' };
      const ours = !(error instanceof MediaToolError) || error.code === 'stalled';
      if (ours && !(error instanceof AppError) && !isLastTry(job)) throw error;
      const detail = detailOf(error);
      logger.warn({ jobId: job.id, videoId, detail }, 'a smaller copy could not be made');
      const message = await reasonFor(error, videoId);
      await tell(row, { state: 'failed', message });
      return { kind: 'failed', error: message, retryable: false };
    }
  }

  async function reasonFor(error: unknown, videoId: string): Promise<string> {
    if (error instanceof AppError) return `${error.message} ${KEPT}`;
    const video = await Video.query(db).findById(videoId).select('width', 'height');
    const { width, height } = video ?? { width: null, height: null };
    const large = (width ?? 0) * (height ?? 0) > deps.limits.maxEncodePixels;
    const memory = large
      ? `: a clip of ${width} x ${height} needs more memory than this server may have`
      : '';
    return `The smaller file could not be made${memory}. ${KEPT}`;
  }

  return inKeptFolder(
    { db, folders },
    {
      run,
      async exhausted(job) {
        const { videoId } = JOB_PAYLOADS['export-video'].parse(job.payload);
        const row = await VideoExport.query(db).findById(videoId);
        if (row?.jobId === job.id) await tell(row, { state: 'failed', message: INTERRUPTED });
      },
    },
  );
}
