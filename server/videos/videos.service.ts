import type { Knex } from 'knex';
import type { z } from 'zod';
import type { sharedVideoDto, StatusDto, StatsDto, VideoDto, VideosQuery } from '#common/api/videos.ts';
import type { PlanSlug } from '#common/plans.ts';
import type { RepairReport } from '#common/report.ts';
import { User } from '#db/models/user.ts';
import { VideoCaptions } from '#db/models/video-captions.ts';
import { VideoVersion } from '#db/models/video-version.ts';
import { Video } from '#db/models/video.ts';
import { AppError, FILE_GONE, notFound } from '#server/errors.ts';
import type { EventBus } from '#server/events.ts';
import type { JobQueue } from '#server/jobs/job-queue.ts';
import type { LimitedExports } from '#server/pipeline/download/limited-export.service.ts';
import type { Quota } from '#server/plans/quota.ts';
import type { MediaStorage } from '#server/pipeline/storage/media-storage.ts';
import { readReport } from '#server/pipeline/storage/stored-report.ts';
import { enqueueProcessing, namesOf } from './create-video.ts';
import { deleteVideo } from './delete-video.ts';
import { listVideos } from './list-videos.ts';
import { readStats } from './read-stats.ts';
import type { VideoState } from './video-state.ts';
import { toStatusDto, toVideoDto } from './videos.presenter.ts';

interface Owner {
  readonly id: string;
}
/** An owner with the plan, which limits the size of downloads; every answer about a video states the limit. */
interface Subscriber extends Owner {
  readonly plan: PlanSlug;
}

/** The library of an account. A video of someone else gets the same answer as one that does not exist. */
export interface VideosService {
  /** Newest first unless the query says otherwise; all matching videos, or a page of them. */
  list(owner: Subscriber, query?: VideosQuery): Promise<VideoDto[]>;
  read(owner: Subscriber, videoId: string): Promise<VideoDto>;
  status(owner: Subscriber, videoId: string): Promise<StatusDto>;
  /** State and owner of any video, for the push; null when it is gone. */
  statusForPush(videoId: string): Promise<{ userId: string; status: StatusDto } | null>;
  rename(owner: Subscriber, videoId: string, fileName: string): Promise<VideoDto>;
  /** Deletes permanently and stops a running job; draft backups remain, with the saved captions. */
  remove(owner: Owner, videoId: string): Promise<void>;
  /** @throws AppError `conflict` unless the video failed, `quota_reached` */
  retry(owner: Subscriber, videoId: string): Promise<StatusDto>;
  /** @throws AppError `not_ready` before the first result */
  report(owner: Owner, videoId: string): Promise<RepairReport>;
  /**
   * Requests the smaller file that Download gives on a plan with a size limit.
   * @throws AppError `not_ready`
   */
  exportLimited(owner: Subscriber, videoId: string): Promise<StatusDto>;
  /**
   * Cancels the smaller copy that is waiting or being made.
   * @throws AppError `not_found`
   */
  cancelExport(owner: Subscriber, videoId: string): Promise<StatusDto>;
  share(owner: Owner, videoId: string, shared: boolean): Promise<{ shared: boolean }>;
  /** @throws AppError `not_found` unless the owner shares it and it is finished */
  sharedVideo(videoId: string): Promise<z.infer<typeof sharedVideoDto>>;
  stats(owner: Owner): Promise<StatsDto>;
  /**
   * The row with its current version.
   * @throws AppError `not_found`
   */
  owned(owner: Owner, videoId: string): Promise<Video>;
  /**
   * A version of a video that its owner may use: of a repair, with quick fixes, or made where somebody marked it.
   * @throws AppError `not_found`
   */
  versionOf(video: Pick<Video, 'id'>, versionId: string): Promise<VideoVersion>;
  /** Like `owned`, but for a shared video and any visitor. */
  shared(videoId: string): Promise<Video>;
}

export interface VideosServiceDeps {
  readonly db: Knex;
  readonly storage: MediaStorage;
  readonly queue: JobQueue;
  readonly state: VideoState;
  readonly quota: Quota;
  readonly events: EventBus;
  readonly now: () => number;
  readonly exports: Pick<LimitedExports, 'of' | 'ensure' | 'cancel'>;
  /** Removes those of the objects that nothing refers to any more. */
  readonly collect: (sha256s: readonly string[]) => Promise<void>;
}

const SHARE_WITHOUT_RESULT = 'Only a finished video can be shared.';

/** See `VideosService`. */
export function createVideosService(deps: VideosServiceDeps): VideosService {
  const { db, storage, queue, state, quota, exports, events, now } = deps;

  async function owned(owner: Owner, videoId: string): Promise<Video> {
    const video = await Video.query(db)
      .findOne({ 'videos.id': videoId, userId: owner.id })
      .withGraphFetched('currentVersion');
    if (!video) throw notFound();
    return video;
  }

  async function shared(videoId: string): Promise<Video> {
    const video = await Video.query(db)
      .findOne({ 'videos.id': videoId, shared: true, status: 'completed' })
      .withGraphFetched('currentVersion');
    if (!video) throw notFound();
    return video;
  }

  async function versionOf({ id: videoId }: Pick<Video, 'id'>, versionId: string): Promise<VideoVersion> {
    const version = await VideoVersion.query(db)
      .findOne({ id: versionId, videoId })
      .whereIn('kind', ['repair', 'fixes']);
    if (!version) throw notFound();
    return version;
  }

  const position = async (video: Video) =>
    video.status === 'processing' ? queue.positionOfVideo(video.id) : null;
  const limitedOf = async (owner: Subscriber, video: Video) =>
    (await exports.of(owner, [video])).get(video.id) ?? null;
  const statusOf = async (owner: Subscriber, video: Video) =>
    toStatusDto(video, await position(video), await limitedOf(owner, video));
  const dtoOf = async (owner: Subscriber, video: Video) =>
    toVideoDto(video, await position(video), await limitedOf(owner, video));

  return {
    owned,
    versionOf,
    shared,

    async list(owner, query = {}) {
      const videos = await listVideos(db, owner.id, query);
      const limited = await exports.of(owner, videos);
      return Promise.all(
        videos.map(async (video) => toVideoDto(video, await position(video), limited.get(video.id) ?? null)),
      );
    },

    async read(owner, videoId) {
      return dtoOf(owner, await owned(owner, videoId));
    },

    async status(owner, videoId) {
      return statusOf(owner, await owned(owner, videoId));
    },

    async statusForPush(videoId) {
      const video = await Video.query(db).findById(videoId).withGraphFetched('currentVersion');
      const owner = video && (await User.query(db).findById(video.userId).select('id', 'plan'));
      return owner ? { userId: owner.id, status: await statusOf(owner, video) } : null;
    },

    async rename(owner, videoId, fileName) {
      await owned(owner, videoId);
      await Video.query(db)
        .patch({ ...namesOf(fileName), version: db.raw('version + 1'), updatedAt: now() })
        .where({ id: videoId, userId: owner.id });
      events.emit('video.edited', { userId: owner.id, videoId });
      return dtoOf(owner, await owned(owner, videoId));
    },

    async remove(owner, videoId) {
      const objects = await deleteVideo(deps, owner.id, videoId);
      events.emit('video.deleted', { userId: owner.id, videoId });
      await deps.collect(objects);
    },

    async retry(owner, videoId) {
      const video = await owned(owner, videoId);
      if (video.status !== 'failed') throw new AppError('conflict');
      if (!(await storage.stat(video.originalSha256))) throw new AppError('not_ready', FILE_GONE);
      await db.transaction(async (trx) => {
        await quota.retake(videoId, trx);
        if (!(await state.restart(trx, videoId))) throw new AppError('conflict');
        await enqueueProcessing(trx, queue, { id: videoId, user: owner });
      });
      events.emit('video.changed', { userId: owner.id, videoId });
      return statusOf(owner, await owned(owner, videoId));
    },

    async exportLimited(owner, videoId) {
      const video = await owned(owner, videoId);
      if (video.status !== 'completed') throw new AppError('not_ready');
      await exports.ensure(owner, video);
      return statusOf(owner, await owned(owner, videoId));
    },

    async cancelExport(owner, videoId) {
      await exports.cancel(await owned(owner, videoId));
      return statusOf(owner, await owned(owner, videoId));
    },

    async report(owner, videoId) {
      const video = await owned(owner, videoId);
      const report = await readReport(storage, video.currentVersion?.reportSha256 ?? null);
      if (!report) throw new AppError('not_ready', 'There is no report for this video yet.');
      return report;
    },

    async share(owner, videoId, on) {
      const video = await owned(owner, videoId);
      if (on && video.status !== 'completed') throw new AppError('not_ready', SHARE_WITHOUT_RESULT);
      await Video.query(db)
        .patch({ shared: on, version: db.raw('version + 1'), updatedAt: now() })
        .where({ id: videoId, userId: owner.id });
      events.emit('video.edited', { userId: owner.id, videoId });
      return { shared: on };
    },

    async sharedVideo(videoId) {
      const video = await shared(videoId);
      const captions = await VideoCaptions.query(db).findById(videoId).select('cues');
      return {
        id: video.id,
        title: video.originalFileName,
        durationMs: video.durationMs,
        width: video.width,
        height: video.height,
        hasCaptions: captions?.cues.some(({ text }) => text !== null) ?? false,
      };
    },

    async stats(owner) {
      return readStats(deps, owner.id);
    },
  };
}
