import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Knex } from 'knex';
import { raw } from 'objection';
import { newId } from '#db/base-model.ts';
import { Video } from '#db/models/video.ts';
import { VideoExport } from '#db/models/video-export.ts';
import { AppError } from '#server/errors.ts';
import type { EventBus } from '#server/events.ts';
import type { ClaimedJob, JobOutcome } from '#server/jobs/job-queue.ts';
import type { JobHandler, RunnerLogger } from '#server/jobs/job-runner.ts';
import { JOB_OPTIONS, JOB_PAYLOADS } from '#server/jobs/job-types.ts';
import { createProgressTeller } from '#server/jobs/progress-teller.ts';
import { probe, type MediaInfo } from '#server/media/probe.ts';
import { CODING_WALL_MS, runFfmpeg } from '#server/media/run-ffmpeg.ts';
import { sniffFile } from '#server/media/sniff-container.ts';
import { MediaToolError, type ToolPaths } from '#server/media/tools.ts';
import { recordObject } from '#server/videos/create-video.ts';
import { replaceVersion } from '#server/videos/replace-version.ts';
import type { MediaStorage, StoredFile } from '../storage/media-storage.ts';
import type { MediaLimits } from '../worker-protocol.ts';
import { limitedExportPlan, limitedSize, shownSize } from './limited-export-plan.ts';

/** One write a second is a live bar; more would only load the disk. */
const PROGRESS_INTERVAL_MS = 1000;
/** Sound and pictures may end this far from where those of the result end: a packet of sound, a picture. */
const LENGTH_TOLERANCE_MS = 250;
const KEPT = 'The whole result and your original are kept.';
const INTERRUPTED = `Making the smaller file was interrupted too many times. ${KEPT}`;

export interface LimitedExportJobDeps {
  readonly db: Knex;
  readonly storage: MediaStorage;
  readonly events: EventBus;
  readonly tools: ToolPaths;
  readonly limits: MediaLimits;
  /** Folder for files being written; emptied before the first job. */
  readonly folder: string;
  /** Removes objects that nothing refers to any more. */
  readonly collect: (sha256s: readonly string[]) => Promise<void>;
  readonly logger: RunnerLogger;
  readonly now: () => number;
}

/** Makes the smaller copy of a result. The child does the work, so no thread is needed. */
export function createLimitedExportJob(deps: LimitedExportJobDeps): JobHandler {
  const { db, storage, events, tools, logger, now } = deps;
  let emptied: Promise<void> | null = null;

  /** Changes the row of one export and lets pages know; a row of another result stays as it is. */
  async function tell(row: VideoExport, change: Partial<VideoExport>): Promise<void> {
    const { videoId, sourceSha256 } = row;
    const rows = await VideoExport.query(db)
      .patch({ ...change, updatedAt: now() })
      .where({ videoId, sourceSha256 });
    if (rows > 0) await announce(videoId);
  }

  /** Newer news must carry a higher version, or pages take them for old. */
  async function announce(videoId: string): Promise<void> {
    const [video] = await Video.query(db)
      .patch({ version: raw('version + 1'), updatedAt: now() })
      .where({ id: videoId })
      .returning('userId');
    if (video) events.emit('video.changed', { userId: video.userId, videoId });
  }

  const progressOf = (row: VideoExport) =>
    createProgressTeller({
      intervalMs: PROGRESS_INTERVAL_MS,
      now,
      write: (progress) => tell(row, { progress }),
      logger,
      about: { videoId: row.videoId },
    });

  async function inspect(file: string, signal: AbortSignal): Promise<MediaInfo> {
    const format = await sniffFile(file);
    if (!format) throw new MediaToolError('tool_failed', 'the file is no clip');
    return probe(tools, file, format, signal);
  }

  async function make(row: VideoExport, signal: AbortSignal): Promise<StoredFile> {
    const progress = progressOf(row);
    emptied ??= rm(deps.folder, { recursive: true, force: true });
    await emptied;
    await mkdir(deps.folder, { recursive: true, mode: 0o700 });
    const outputPath = path.join(deps.folder, `${newId()}.mp4`);
    const source = await storage.localPath(row.sourceSha256);
    try {
      const info = await inspect(source.path, signal);
      const { shortSide } = row;
      const { limits } = deps;
      await runFfmpeg(limitedExportPlan({ inputPath: source.path, info, shortSide, limits, outputPath }), {
        tools,
        signal,
        wallMs: CODING_WALL_MS,
        onProgress: ({ share }) => share !== null && progress(share),
      });
      mustMatch(info, await inspect(outputPath, signal), shortSide);
      return await storage.put(outputPath);
    } finally {
      await source.release();
      await rm(outputPath, { force: true });
    }
  }

  /** A finished copy becomes a version; copies of earlier results go. */
  async function publish(row: VideoExport, stored: StoredFile): Promise<void> {
    const { videoId, sourceSha256, shortSide } = row;
    const replaced = await db.transaction(async (trx) => {
      const still = await VideoExport.query(trx).findOne({ videoId, sourceSha256 }).forUpdate();
      // Deleted, or another result is current by now: nothing refers to these bytes.
      if (!still) return [stored.sha256];
      const at = now();
      await recordObject(trx, stored, at);
      const mine = { videoId, kind: 'export' } as const;
      const before = await replaceVersion(trx, mine, stored, { sourceSha256, shortSide, createdAt: at });
      await VideoExport.query(trx).delete().where({ videoId });
      return before;
    });
    await announce(videoId);
    await deps.collect(replaced.filter((sha256) => sha256 !== stored.sha256));
  }

  async function run(job: ClaimedJob, signal: AbortSignal): Promise<JobOutcome> {
    const { videoId } = JOB_PAYLOADS['export-video'].parse(job.payload);
    const row = await VideoExport.query(db).findById(videoId);
    if (!row || row.state === 'failed') return { kind: 'done' };
    await tell(row, { state: 'running', progress: 0, message: null });
    try {
      await publish(row, await make(row, signal));
      return { kind: 'done' };
    } catch (error) {
      if (signal.aborted) return { kind: 'interrupted' };
      const ours = !(error instanceof MediaToolError) || error.code === 'stalled';
      if (ours && !(error instanceof AppError) && job.attempt < JOB_OPTIONS['export-video'].maxAttempts) {
        throw error;
      }
      const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
      logger.warn({ videoId, detail }, 'a smaller copy could not be made');
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

  return {
    run,
    async exhausted(job) {
      const { videoId } = JOB_PAYLOADS['export-video'].parse(job.payload);
      const row = await VideoExport.query(db).findById(videoId);
      if (row) await tell(row, { state: 'failed', message: INTERRUPTED });
    },
  };
}

/** @throws MediaToolError when the copy is not what it should be */
function mustMatch(source: MediaInfo, copy: MediaInfo, shortSide: number): void {
  const [from, to] = [source.video[0], copy.video[0]];
  if (!from || !to) throw new MediaToolError('tool_failed', 'the copy has no pictures');
  const wanted = limitedSize(shownSize(from), shortSide);
  const size = shownSize(to);
  const apartMs = Math.abs((source.durationMs ?? 0) - (copy.durationMs ?? 0));
  const sized = size.width === wanted.width && size.height === wanted.height;
  if (!sized || apartMs > LENGTH_TOLERANCE_MS || (source.audio.length > 0 && copy.audio.length === 0)) {
    throw new MediaToolError(
      'tool_failed',
      `the copy has ${size.width} x ${size.height} and ends ${apartMs} ms apart`,
    );
  }
}
