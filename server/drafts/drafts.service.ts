import type { Knex } from 'knex';
import { raw } from 'objection';
import type { DraftDto } from '#common/api/drafts.ts';
import { readCursor, type PageQuery } from '#common/api/paging.ts';
import type { PlanSlug } from '#common/plans.ts';
import { newId } from '#db/base-model.ts';
import { Draft } from '#db/models/draft.ts';
import { User } from '#db/models/user.ts';
import { Video } from '#db/models/video.ts';
import { AppError, notFound } from '#server/errors.ts';
import type { EventBus } from '#server/events.ts';
import type { DraftExpiry } from '#server/plans/draft-retention.ts';

interface Owner {
  readonly id: string;
  readonly plan: PlanSlug;
}

const CHANGED_ON_DISK =
  'This original changed on the server’s disk, so the mended version stays the current one. What is left of it can be downloaded.';

const LATER_EXPIRY =
  'case when drafts.expires_at > excluded.expires_at then drafts.expires_at else excluded.expires_at end';

/** The same end needs no second notice; a later end is announced again in time. */
const NOTICE_OF_EXPIRY =
  'case when drafts.expires_at >= excluded.expires_at then drafts.expiry_noticed_at else null end';

/** Cloud backups: references to untouched originals, which survive their videos. */
export interface DraftsService {
  /** Newest first, without expired ones; all of them, or the page after a cursor. */
  list(owner: Owner, page?: PageQuery): Promise<DraftDto[]>;
  /**
   * Backs a video up. The same content only renews the draft, and never shortens its life.
   * @throws AppError `not_found`
   */
  create(owner: Owner, videoId: string, fileName: string): Promise<DraftDto>;
  /**
   * Makes the original the current version of its video, or restores a deleted video with its captions and repairs it
   * again. Restoring twice changes nothing more.
   * @throws AppError `not_found`, `conflict` while the video has no finished result or when the original was damaged on
   *   the disk, `quota_reached`
   */
  restore(owner: Owner, draftId: string): Promise<{ videoId: string }>;
  /**
   * Gives the drafts of an account the longer life of its current plan; a promised date never comes nearer.
   * @returns how many are kept longer now
   */
  extend(userId: string): Promise<number>;
  /**
   * Extends drafts whenever a plan changes.
   * @returns a function that stops it
   */
  listen(onError: (error: unknown) => void): () => void;
  /** @throws AppError `not_found` */
  owned(owner: { readonly id: string }, draftId: string): Promise<Draft>;
}

type Backup = Pick<Draft, 'videoId' | 'fileName' | 'sha256' | 'sizeBytes' | 'captions'>;

/** What the drafts need from the library. */
export interface RestoresVideos {
  /** Makes a backed-up original current again, or restores its deleted video. */
  restore(owner: Owner, backup: Backup): Promise<void>;
}

export interface DraftsServiceDeps {
  readonly db: Knex;
  readonly videos: RestoresVideos;
  readonly events: EventBus;
  readonly draftExpiry: DraftExpiry;
  readonly now: () => number;
}

/** See `DraftsService`. */
export function createDraftsService(deps: DraftsServiceDeps): DraftsService {
  const { db, videos, events, draftExpiry, now } = deps;

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
      .select('id', 'status', 'errorCode', 'errorMessage')
      .where({ userId: owner.id })
      .whereIn(
        'id',
        drafts.map((draft) => draft.videoId),
      );
    const videosById = new Map(existing.map((video) => [video.id, video]));
    return drafts.map((draft) => toDraftDto(draft, videosById.get(draft.videoId) ?? null));
  }

  async function extend(userId: string): Promise<number> {
    const owner = await User.query(db).findById(userId).select('plan');
    if (!owner) return 0;
    const keptMs = draftExpiry(owner.plan, 0);
    const rows = await Draft.query(db)
      // The notice of the earlier end is sent again before the later one.
      .patch({ expiresAt: raw('last_modified + ?', keptMs), expiryNoticedAt: null })
      .where({ userId })
      .where('expiresAt', '>', now())
      .whereRaw('expires_at < last_modified + ?', keptMs);
    if (rows > 0) events.emit('draft.changed', { userId, draftId: null });
    return rows;
  }

  return {
    owned,
    extend,
    listen: (onError) => events.on('user.changed', ({ userId }) => void extend(userId).catch(onError)),

    async list(owner, { limit, cursor } = {}) {
      const rows = Draft.query(db)
        .where({ userId: owner.id })
        .where('expiresAt', '>', now())
        .orderBy([{ column: 'lastModified', order: 'desc' }, { column: 'id' }])
        .withGraphFetched('object');
      if (limit !== undefined) rows.limit(limit);
      const after = readCursor(cursor);
      if (after !== null) {
        rows.where((later) => {
          later
            .where('lastModified', '<', after.atMs)
            .orWhere((same) => same.where('lastModified', after.atMs).where('id', '>', after.id));
        });
      }
      return toDtos(owner, await rows);
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
        .merge({
          fileName,
          lastModified: at,
          // The current plan may promise less than the draft was promised before.
          expiresAt: raw(LATER_EXPIRY),
          expiryNoticedAt: raw(NOTICE_OF_EXPIRY),
        });
      const draft = await Draft.query(db)
        .findOne({ userId: owner.id, videoId, sha256: video.originalSha256 })
        .withGraphFetched('object');
      if (!draft) throw notFound();
      events.emit('draft.changed', { userId: owner.id, draftId: draft.id });
      return toDraftDto(draft, video);
    },

    async restore(owner, draftId) {
      const draft = await owned(owner, draftId);
      // For a deleted video nothing better is left, so the damaged original is repaired.
      if (draft.object?.damaged === true && (await Video.query(db).findById(draft.videoId).select('id')))
        throw new AppError('conflict', CHANGED_ON_DISK);
      await videos.restore(owner, draft);
      events.emit('draft.changed', { userId: owner.id, draftId });
      return { videoId: draft.videoId };
    },
  };
}

type VideoEnd = Pick<Video, 'status' | 'errorCode' | 'errorMessage'>;

/** @param video null when it was deleted; the backup then says how it ended */
function toDraftDto(draft: Draft, video: VideoEnd | null): DraftDto {
  const failed = video && video.status !== 'failed' ? null : (video ?? draft);
  return {
    id: draft.id,
    videoId: draft.videoId,
    fileName: draft.fileName,
    lastModified: new Date(draft.lastModified).toISOString(),
    sizeBytes: draft.sizeBytes,
    sha256: draft.sha256,
    expiresAt: new Date(draft.expiresAt).toISOString(),
    integrity: draft.object?.damaged === true ? 'damaged' : 'ok',
    videoExists: video !== null,
    videoStatus: video?.status ?? null,
    errorCode: failed?.errorCode ?? null,
    errorMessage: failed?.errorMessage ?? null,
  };
}
