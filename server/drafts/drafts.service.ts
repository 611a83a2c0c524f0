import type { Knex } from 'knex';
import { UniqueViolationError } from 'objection';
import type { DraftDto } from '#common/api/drafts.ts';
import type { PlanSlug } from '#common/plans.ts';
import { newId } from '#db/base-model.ts';
import { Draft } from '#db/models/draft.ts';
import { Video } from '#db/models/video.ts';
import { VideoVersion } from '#db/models/video-version.ts';
import { AppError, notFound } from '#server/errors.ts';
import type { EventBus } from '#server/events.ts';
import type { JobQueue } from '#server/jobs/job-queue.ts';
import type { DraftExpiry } from '#server/plans/draft-retention.ts';
import type { MediaStorage } from '#server/pipeline/storage/media-storage.ts';
import { enqueueProcessing, insertVideo } from '#server/videos/create-video.ts';
import type { VideoState } from '#server/videos/video-state.ts';

interface Owner {
  readonly id: string;
  readonly plan: PlanSlug;
}

/** Cloud backups: pointers to untouched originals, which outlive their videos. */
export interface DraftsService {
  /** Newest first, expired ones left out. */
  list(owner: Owner): Promise<DraftDto[]>;
  /** Backs a video up; the same content only renews the draft. @throws AppError `not_found` */
  create(owner: Owner, videoId: string, fileName: string): Promise<DraftDto>;
  /**
   * Makes the original the current version of its video, or brings a deleted video back and mends it
   * again. Restoring twice changes nothing more.
   * @throws AppError `not_found`, `conflict` while the video has no finished result
   */
  restore(owner: Owner, draftId: string): Promise<{ videoId: string }>;
  /** @throws AppError `not_found` */
  owned(owner: { readonly id: string }, draftId: string): Promise<Draft>;
}

export interface DraftsServiceDeps {
  readonly db: Knex;
  readonly storage: MediaStorage;
  readonly queue: JobQueue;
  readonly state: VideoState;
  readonly events: EventBus;
  readonly draftExpiry: DraftExpiry;
  readonly now: () => number;
}

const STILL_PROCESSING = 'This video is being processed. Restore it when it is finished.';
const FAILED =
  'This video could not be processed, so there is nothing to undo. Its original is untouched: try again or download it.';

/** See `DraftsService`. */
export function createDraftsService(deps: DraftsServiceDeps): DraftsService {
  const { db, storage, queue, state, events, draftExpiry, now } = deps;

  async function owned(owner: { readonly id: string }, draftId: string): Promise<Draft> {
    const draft = await Draft.query(db)
      .findOne({ id: draftId, userId: owner.id })
      .where('expiresAt', '>', now())
      .withGraphFetched('object');
    if (!draft) throw notFound();
    return draft;
  }

  async function toDtos(owner: Owner, drafts: readonly Draft[]): Promise<DraftDto[]> {
    const existing = await Video.query(db)
      .select('id')
      .where({ userId: owner.id })
      .whereIn(
        'id',
        drafts.map((draft) => draft.videoId),
      );
    const ids = new Set(existing.map((video) => video.id));
    return drafts.map((draft) => toDraftDto(draft, ids.has(draft.videoId)));
  }

  async function bringBack(owner: Owner, draft: Draft): Promise<void> {
    const original = await storage.stat(draft.sha256);
    if (!original) throw new AppError('not_found', 'The stored file is no longer available.');
    try {
      await db.transaction(async (trx) => {
        const video = {
          id: draft.videoId,
          user: owner,
          fileName: draft.fileName,
          original,
          uploadId: null,
          isSample: false,
        };
        // Not counted again: its unit of the upload still stands.
        await insertVideo(trx, video, now);
        await enqueueProcessing(trx, queue, { id: draft.videoId, user: owner });
      });
    } catch (error) {
      // A parallel restore was faster; the video is back.
      if (error instanceof UniqueViolationError) return;
      throw error;
    }
    events.emit('video.created', { userId: owner.id, videoId: draft.videoId });
  }

  async function backToOriginal(owner: Owner, draft: Draft, video: Video): Promise<void> {
    if (video.status !== 'completed') {
      throw new AppError('conflict', video.status === 'processing' ? STILL_PROCESSING : FAILED);
    }
    const current = video.currentVersion;
    if (current?.sha256 === draft.sha256 && current.kind === 'original') return;
    await db.transaction(async (trx) => {
      const versionId = newId();
      await VideoVersion.query(trx).insert({
        id: versionId,
        videoId: video.id,
        kind: 'original',
        sha256: draft.sha256,
        sizeBytes: draft.sizeBytes,
        reportSha256: null,
        captionsSha256: null,
        posterSha256: current?.posterSha256 ?? null,
        createdAt: now(),
      });
      if (!(await state.switchVersion(trx, video.id, versionId, {}))) throw new AppError('conflict');
    });
    events.emit('video.changed', { userId: owner.id, videoId: video.id });
    events.emit('video.edited', { userId: owner.id, videoId: video.id });
  }

  return {
    owned,

    async list(owner) {
      const drafts = await Draft.query(db)
        .where({ userId: owner.id })
        .where('expiresAt', '>', now())
        .orderBy([{ column: 'lastModified', order: 'desc' }, { column: 'id' }])
        .withGraphFetched('object');
      return toDtos(owner, drafts);
    },

    async create(owner, videoId, fileName) {
      const video = await Video.query(db).findOne({ id: videoId, userId: owner.id });
      if (!video) throw notFound();
      const at = now();
      await Draft.query(db)
        .insert({
          id: newId(),
          userId: owner.id,
          videoId,
          fileName,
          sha256: video.originalSha256,
          sizeBytes: video.fileSize,
          lastModified: at,
          expiresAt: draftExpiry(owner.plan, at),
          expiryNoticedAt: null,
          createdAt: at,
        })
        .onConflict(['user_id', 'video_id', 'sha256'])
        .merge(['fileName', 'lastModified', 'expiresAt', 'expiryNoticedAt']);
      const draft = await Draft.query(db)
        .findOne({ userId: owner.id, videoId, sha256: video.originalSha256 })
        .withGraphFetched('object');
      if (!draft) throw notFound();
      events.emit('draft.changed', { userId: owner.id, draftId: draft.id });
      return toDraftDto(draft, true);
    },

    async restore(owner, draftId) {
      const draft = await owned(owner, draftId);
      const video = await Video.query(db)
        .findOne({ 'videos.id': draft.videoId, userId: owner.id })
        .withGraphFetched('currentVersion');
      if (video) await backToOriginal(owner, draft, video);
      else await bringBack(owner, draft);
      events.emit('draft.changed', { userId: owner.id, draftId });
      return { videoId: draft.videoId };
    },
  };
}

function toDraftDto(draft: Draft, videoExists: boolean): DraftDto {
  return {
    id: draft.id,
    videoId: draft.videoId,
    fileName: draft.fileName,
    lastModified: new Date(draft.lastModified).toISOString(),
    sizeBytes: draft.sizeBytes,
    sha256: draft.sha256,
    expiresAt: new Date(draft.expiresAt).toISOString(),
    integrity: draft.object?.damaged === true ? 'damaged' : 'ok',
    videoExists,
  };
}
