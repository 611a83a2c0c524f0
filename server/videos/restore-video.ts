import type { Knex } from 'knex';
import { UniqueViolationError } from 'objection';
import type { PlanSlug } from '#common/plans.ts';
import { newId } from '#db/base-model.ts';
import type { KeptCaptions } from '#db/models/draft.ts';
import { Video } from '#db/models/video.ts';
import { VideoCaptions } from '#db/models/video-captions.ts';
import { VideoVersion } from '#db/models/video-version.ts';
import { AppError, FILE_GONE } from '#server/errors.ts';
import type { EventBus } from '#server/events.ts';
import type { JobQueue } from '#server/jobs/job-queue.ts';
import type { Quota } from '#server/plans/quota.ts';
import type { MediaStorage } from '#server/pipeline/storage/media-storage.ts';
import { enqueueProcessing, insertVideo } from './create-video.ts';
import type { VideoState } from './video-state.ts';

export interface Backup {
  readonly videoId: string;
  readonly fileName: string;
  readonly sha256: string;
  readonly sizeBytes: number;
  /** Saved captions of the deleted video; without any, absent or null. */
  readonly captions?: KeptCaptions | null;
}

interface Owner {
  readonly id: string;
  readonly plan: PlanSlug;
}

export interface VideoRestore {
  /**
   * Makes a backed-up original the current version of its video, or restores a deleted video under its old id, with
   * its captions, and repairs it again. Doing it twice changes nothing more.
   * @throws AppError `conflict` while the video has no finished result, `not_found` when the bytes are gone,
   *   `quota_reached` when the unit of a deleted video was given back and no other is left
   */
  restore(owner: Owner, backup: Backup): Promise<void>;
}

export interface VideoRestoreDeps {
  readonly db: Knex;
  readonly storage: MediaStorage;
  readonly queue: JobQueue;
  readonly state: VideoState;
  readonly quota: Pick<Quota, 'retake'>;
  readonly events: EventBus;
  readonly now: () => number;
}

const STILL_PROCESSING = 'This video is being processed. Restore it when it is finished.';
const FAILED =
  'This video could not be processed, so there is nothing to undo. Its original is untouched: try again or download it.';

/** See `VideoRestore`. */
export function createVideoRestore(deps: VideoRestoreDeps): VideoRestore {
  const { db, storage, queue, state, quota, events, now } = deps;

  async function bringBack(owner: Owner, backup: Backup): Promise<void> {
    const original = await storage.stat(backup.sha256);
    if (!original) throw new AppError('not_found', FILE_GONE);
    const { videoId, fileName, captions } = backup;
    try {
      await db.transaction(async (trx) => {
        const video = { id: videoId, user: owner, fileName, original, uploadId: null, isSample: false };
        // The unit of the upload still counts; if it was given back, it counts again from now on.
        await quota.retake(videoId, trx);
        await insertVideo(trx, video, now);
        if (captions) {
          await VideoCaptions.query(trx).insert({ videoId, ...captions });
          await Video.query(trx).patch({ captionCount: captions.cues.length }).where({ id: videoId });
        }
        await enqueueProcessing(trx, queue, { id: videoId, user: owner });
      });
    } catch (error) {
      // A parallel restore was faster, and the video is back.
      if (error instanceof UniqueViolationError) return;
      throw error;
    }
    events.emit('video.created', { userId: owner.id, videoId });
  }

  async function backToOriginal(owner: Owner, backup: Backup, video: Video): Promise<void> {
    if (video.status !== 'completed') {
      throw new AppError('conflict', video.status === 'processing' ? STILL_PROCESSING : FAILED);
    }
    if (!(await storage.stat(backup.sha256))) throw new AppError('not_found', FILE_GONE);
    const changed = await db.transaction(async (trx) => {
      // The lock makes check and switch one step: of parallel restores one makes a version.
      await Video.query(trx).findById(video.id).select('id').forUpdate();
      const locked = await Video.query(trx).findById(video.id).withGraphFetched('currentVersion');
      const current = locked?.currentVersion;
      if (current?.sha256 === backup.sha256 && current.kind === 'original') return false;
      const versionId = newId();
      if (!(await state.switchVersion(trx, video.id, versionId, {}))) throw new AppError('conflict');
      await VideoVersion.query(trx).insert({
        id: versionId,
        videoId: video.id,
        kind: 'original',
        sha256: backup.sha256,
        sizeBytes: backup.sizeBytes,
        reportSha256: null,
        captionsSha256: null,
        posterSha256: current?.posterSha256 ?? null,
        createdAt: now(),
      });
      return true;
    });
    if (!changed) return;
    events.emit('video.changed', { userId: owner.id, videoId: video.id });
    events.emit('video.edited', { userId: owner.id, videoId: video.id });
  }

  return {
    async restore(owner, backup) {
      const video = await Video.query(db)
        .findOne({ 'videos.id': backup.videoId, userId: owner.id })
        .withGraphFetched('currentVersion');
      if (video) await backToOriginal(owner, backup, video);
      else await bringBack(owner, backup);
    },
  };
}
