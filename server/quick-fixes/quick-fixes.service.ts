import { isDeepStrictEqual } from 'node:util';
import type { Knex } from 'knex';
import { ORIGINAL_VERSION, type FixRunDto, type QuickFixesDto } from '#common/api/quick-fixes.ts';
import { type ChangeId, FIXES, type FixId } from '#common/fixes.ts';
import { isAtWork } from '#common/is-at-work.ts';
import { changesOf, type Noticed } from '#common/noticed.ts';
import { CertificateRow } from '#db/models/certificate.ts';
import { FixRun } from '#db/models/fix-run.ts';
import type { User } from '#db/models/user.ts';
import { VideoVersion } from '#db/models/video-version.ts';
import { Video } from '#db/models/video.ts';
import { AppError, FILE_GONE, NOT_FINISHED, notFound } from '#server/errors.ts';
import type { EventBus } from '#server/events.ts';
import type { JobQueue } from '#server/jobs/job-queue.ts';
import { createRequestedWork } from '#server/jobs/requested-work.ts';
import type { MediaStorage } from '#server/pipeline/storage/media-storage.ts';
import type { VideoRestore } from '#server/videos/restore-video.ts';
import type { VideoState } from '#server/videos/video-state.ts';
import { fixRequests } from './fix-requests.ts';
import { toQuickFixesDto, toRunDto } from './quick-fixes.presenter.ts';

const BUSY = 'Fixes are being applied to this video. Wait until they are done or cancel them.';

export interface QuickFixesServiceDeps {
  readonly db: Knex;
  readonly storage: Pick<MediaStorage, 'stat'>;
  readonly queue: Pick<JobQueue, 'enqueue' | 'cancel'>;
  readonly state: Pick<VideoState, 'switchVersion'>;
  readonly restoring: VideoRestore;
  readonly events: EventBus;
  /** Removes those of the objects that nothing refers to any more. */
  readonly collect: (sha256s: readonly string[]) => Promise<void>;
  readonly now: () => number;
}

/** Videos are passed as rows that their owner may use. */
export interface QuickFixesService {
  /**
   * Queues the fixes for the current version. The same choice while it is at work is the same request.
   * @throws AppError `conflict` while the video is not finished or other fixes are at work
   */
  apply(video: Video, fixes: readonly FixId[]): Promise<{ fixesApplied: number; jobId: string }>;
  /**
   * Queues the mending of what somebody noticed in the current version; the same as long as it is at work is the same
   * request.
   * @throws AppError `conflict` as for `apply`
   */
  mendNoticed(video: Video, noticed: Noticed): Promise<{ jobId: string }>;
  /**
   * Cancels the request that is waiting or at work and keeps nothing of it; a request that has ended stays unchanged.
   */
  cancel(video: Video): Promise<QuickFixesDto>;
  read(video: Video): Promise<QuickFixesDto>;
  /** State of the newest request, for the push; null when the video is gone. */
  runOf(videoId: string): Promise<{ userId: string; run: FixRunDto | null } | null>;
  /**
   * Makes the upload or an earlier version the current one; nothing is deleted (N7).
   * @throws AppError `not_found`, `conflict` while fixes are at work
   */
  restore(owner: User, video: Video, versionId: string): Promise<void>;
  /**
   * SHA-256 of a platform file.
   * @throws AppError `not_found`
   */
  exportObject(video: Video, exportId: string): Promise<{ sha256: string; fix: FixId }>;
  removeExport(video: Video, exportId: string): Promise<void>;
}

/** See `QuickFixesService`. */
export function createQuickFixesService(deps: QuickFixesServiceDeps): QuickFixesService {
  const { db, storage, queue, state, events, now } = deps;
  const requests = createRequestedWork({ ...fixRequests(deps), type: 'apply-fixes', queue, events });

  async function exportRow(video: Video, exportId: string): Promise<VideoVersion> {
    const row = await VideoVersion.query(db).findOne({ id: exportId, videoId: video.id, kind: 'platform' });
    if (!row) throw notFound();
    return row;
  }

  /** For the original, prefers the version of a clip with nothing wrong: it has the same bytes and keeps the report. */
  async function versionFor(video: Video, versionId: string): Promise<VideoVersion | null> {
    const wanted =
      versionId === ORIGINAL_VERSION
        ? { videoId: video.id, kind: 'repair', sha256: video.originalSha256 }
        : { videoId: video.id, id: versionId };
    const row = await VideoVersion.query(db).findOne(wanted).whereIn('kind', ['original', 'repair', 'fixes']);
    if (!row && versionId !== ORIGINAL_VERSION) throw notFound();
    return row ?? null;
  }

  async function switchTo(video: Video, version: VideoVersion): Promise<void> {
    if (video.currentVersionId === version.id) return;
    if (!(await storage.stat(version.sha256))) throw new AppError('not_found', FILE_GONE);
    await db.transaction(async (trx) => {
      await Video.query(trx).findById(video.id).select('id').forUpdate();
      if (isAtWork(await FixRun.query(trx).findById(video.id))) throw new AppError('conflict', BUSY);
      if (!(await state.switchVersion(trx, video.id, version.id, version.fixesApplied ?? {})))
        throw new AppError('conflict', NOT_FINISHED);
    });
    const fact = { userId: video.userId, videoId: video.id };
    events.emit('video.changed', fact);
    events.emit('video.edited', fact);
  }

  async function read(video: Video): Promise<QuickFixesDto> {
    const run = await FixRun.query(db).findById(video.id);
    const versions = await VideoVersion.query(db).where({ videoId: video.id }).orderBy('createdAt', 'desc');
    const reported = await CertificateRow.query(db)
      .whereIn(
        'versionId',
        versions.map(({ id }) => id),
      )
      .whereNotNull('report')
      .select('versionId');
    return toQuickFixesDto(video, run ?? null, versions, new Set(reported.map(({ versionId }) => versionId)));
  }

  async function ask(video: Video, changes: readonly ChangeId[], noticed: Noticed | null): Promise<string> {
    const versionId = video.currentVersionId;
    if (video.status !== 'completed' || versionId === null) throw new AppError('conflict', NOT_FINISHED);
    const at = now();
    const { jobId } = await requests.ask({
      video,
      blank: { fixes: '[]', created_at: at },
      change: {
        sourceVersionId: versionId,
        resultVersionId: null,
        createdAt: at,
        fixes: changes.map((id) => ({ id, state: 'waiting', detail: '', figures: [] })),
        noticed,
      },
      isSame: (row) =>
        row.fixes.map(({ id }) => id).join() === changes.join() &&
        isDeepStrictEqual(row.noticed ?? null, noticed),
      busy: BUSY,
    });
    events.emit('fixes.changed', { videoId: video.id });
    return jobId;
  }

  return {
    read,

    async apply(video, fixes) {
      // Each fix once, in the order of the list, however they were sent.
      const chosen = FIXES.map(({ id }) => id).filter((id) => fixes.includes(id));
      return { fixesApplied: chosen.length, jobId: await ask(video, chosen, null) };
    },

    async mendNoticed(video, noticed) {
      return { jobId: await ask(video, changesOf(noticed), noticed) };
    },

    async cancel(video) {
      await requests.cancel(video.id);
      // A request that ended first may have made another version the current one.
      return read((await Video.query(db).findById(video.id)) ?? video);
    },

    async runOf(videoId) {
      const video = await Video.query(db).findById(videoId).select('userId');
      if (!video) return null;
      const run = await FixRun.query(db).findById(videoId);
      return { userId: video.userId, run: run ? toRunDto(run) : null };
    },

    async restore(owner, video, versionId) {
      const version = await versionFor(video, versionId);
      if (isAtWork(await FixRun.query(db).findById(video.id))) throw new AppError('conflict', BUSY);
      if (version) await switchTo(video, version);
      else {
        await deps.restoring.restore(owner, {
          videoId: video.id,
          fileName: video.originalFileName,
          sha256: video.originalSha256,
          sizeBytes: video.fileSize,
        });
      }
      events.emit('fixes.changed', { videoId: video.id });
    },

    async exportObject(video, exportId) {
      const { sha256, platformFix } = await exportRow(video, exportId);
      return { sha256, fix: platformFix ?? 'tiktok-optimize' };
    },

    async removeExport(video, exportId) {
      const row = await exportRow(video, exportId);
      await VideoVersion.query(db).deleteById(row.id);
      events.emit('fixes.changed', { videoId: video.id });
      await deps.collect([row.sha256]);
    },
  };
}
