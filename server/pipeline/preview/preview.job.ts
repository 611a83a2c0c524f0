import { rm } from 'node:fs/promises';
import type { Knex } from 'knex';
import { id as anyId } from '#common/api/endpoint.ts';
import { Video } from '#db/models/video.ts';
import { VersionPreview } from '#db/models/version-preview.ts';
import { VideoVersion } from '#db/models/video-version.ts';
import type { JobOutcome } from '#server/jobs/job-queue.ts';
import type { JobHandler, RunnerLogger } from '#server/jobs/job-runner.ts';
import { createJobFolders } from '#server/jobs/job-folder.ts';
import { isLastTry, JOB_PAYLOADS } from '#server/jobs/job-types.ts';
import { createProgressTeller } from '#server/jobs/progress-teller.ts';
import { isClipsFault, type ToolPaths } from '#server/media/ffmpeg/tools.ts';
import { recordObject } from '#server/videos/create-video.ts';
import type { MediaStorage } from '../storage/media-storage.ts';
import { layOutPreview } from './lay-out.ts';
import { readReport } from '../storage/stored-report.ts';
import { withLocalPaths } from '../storage/with-local-paths.ts';
import { makePreview, NoComparison } from './make-preview.ts';
import { detailOf } from '#server/error-detail.ts';

const FAILED = 'The comparison could not be made. The mended video itself is not affected.';
const INTERRUPTED = 'The comparison was interrupted too many times. Please try again later.';

export interface PreviewJobDeps {
  readonly db: Knex;
  readonly storage: MediaStorage;
  readonly tools: ToolPaths;
  readonly threads: number;
  /** Folder for the pieces; what an earlier process left there is removed before the first job. */
  readonly folder: string;
  readonly logger: RunnerLogger;
  readonly now: () => number;
}

/** Makes the before/after clip of a version and stores it. A deleted video ends it through the queue. */
export function createPreviewJob(deps: PreviewJobDeps): JobHandler {
  const { db, storage, logger, now } = deps;
  const folders = createJobFolders(deps.folder);

  const patch = (versionId: string, change: Partial<VersionPreview>) =>
    VersionPreview.query(db)
      .patch({ ...change, updatedAt: now() })
      .where({ versionId });

  const progressOf = (versionId: string) =>
    createProgressTeller({
      now,
      write: (progress) => patch(versionId, { progress }),
      logger,
      about: { versionId },
    });

  async function make(versionId: string, signal: AbortSignal): Promise<void> {
    const version = await VideoVersion.query(db).findById(versionId);
    const video = version && (await Video.query(db).findById(version.videoId));
    if (!version || !video) return;
    const report = await readReport(storage, version.reportSha256);
    const plan = report && layOutPreview(report);
    if (!plan) throw new NoComparison('Nothing was mended, so there is nothing to compare.');
    await patch(versionId, { state: 'making', progress: 0, message: null });
    const folder = await folders.fresh(anyId.parse(versionId));
    try {
      const made = await withLocalPaths(
        storage,
        [video.originalSha256, version.sha256],
        async ([originalPath = '', resultPath = '']) =>
          makePreview({
            plan,
            originalPath,
            resultPath,
            folder,
            tools: deps.tools,
            threads: deps.threads,
            signal,
            onProgress: progressOf(versionId),
          }),
      );
      const stored = await storage.put(made.path);
      await db.transaction(async (trx) => {
        // If the row is gone (the video was deleted), nothing refers to the object.
        const row = await VersionPreview.query(trx).findById(versionId).forUpdate();
        if (!row) return;
        const at = now();
        await recordObject(trx, stored, at);
        const ready = { state: 'ready', progress: 100, sha256: stored.sha256, layout: made.layout } as const;
        await VersionPreview.query(trx)
          .patch({ ...ready, updatedAt: at })
          .where({ versionId });
      });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  async function fail(jobId: string, versionId: string, error: unknown): Promise<JobOutcome> {
    const known = error instanceof NoComparison;
    // A repair with nothing to compare is no fault; a file that the tools could not read is one.
    const fault = known ? error.cause : error;
    const detail = detailOf(fault ?? error);
    if (fault !== undefined) logger.warn({ jobId, versionId, detail }, 'a comparison could not be made');
    await patch(versionId, { state: 'failed', message: known ? error.message : FAILED });
    return { kind: 'failed', error: known ? error.message : detail, retryable: false };
  }

  return {
    async run(job, signal) {
      const { versionId } = JOB_PAYLOADS['make-preview'].parse(job.payload);
      const row = await VersionPreview.query(db).findById(versionId);
      if (!row || row.state === 'ready') return { kind: 'done' };
      try {
        await make(versionId, signal);
        return { kind: 'done' };
      } catch (error) {
        if (signal.aborted) return { kind: 'interrupted' };
        const worthAgain = !(error instanceof NoComparison) && !isClipsFault(error) && !isLastTry(job);
        if (worthAgain) throw error;
        return fail(job.id, versionId, error);
      }
    },
    async exhausted(job) {
      const { versionId } = JOB_PAYLOADS['make-preview'].parse(job.payload);
      await patch(versionId, { state: 'failed', message: INTERRUPTED }).whereNot('state', 'ready');
    },
  };
}
