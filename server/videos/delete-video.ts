import type { Knex } from 'knex';
import { Draft, type KeptCaptions } from '#db/models/draft.ts';
import { VersionPreview } from '#db/models/version-preview.ts';
import { VideoCaptions } from '#db/models/video-captions.ts';
import { VideoVersion } from '#db/models/video-version.ts';
import { Video } from '#db/models/video.ts';
import { notFound } from '#server/errors.ts';
import type { JobQueue } from '#server/jobs/job-queue.ts';
import type { Quota } from '#server/plans/quota.ts';

export interface DeleteVideoDeps {
  readonly db: Knex;
  readonly queue: Pick<JobQueue, 'cancelForVideo'>;
  readonly quota: Pick<Quota, 'release'>;
}

/**
 * Deletes the row of a video with its versions, and cancels its jobs; its draft backup remains.
 * @returns the objects that it referred to; others may refer to them as well
 * @throws AppError `not_found`
 */
export async function deleteVideo(
  { db, queue, quota }: DeleteVideoDeps,
  ownerId: string,
  videoId: string,
): Promise<readonly string[]> {
  return db.transaction(async (trx) => {
    const video = await Video.query(trx).findOne({ id: videoId, userId: ownerId }).forUpdate();
    if (!video) throw notFound();
    const versions = await VideoVersion.query(trx).where({ videoId });
    const previews = await VersionPreview.query(trx)
      .select('sha256')
      .whereIn(
        'versionId',
        versions.map((version) => version.id),
      );
    await queue.cancelForVideo(videoId, trx);
    // Deleted before any work was done on it, so it does not count.
    if (video.status === 'processing' && video.attempt === 0) await quota.release(videoId, trx);
    await keepWithBackup(trx, video);
    await Video.query(trx).deleteById(videoId);
    const compared = previews.map(({ sha256 }) => sha256).filter((sha256) => sha256 !== null);
    return [...new Set([video.originalSha256, ...versions.flatMap(objectsOf), ...compared])];
  });
}

/**
 * What stays with the backup of a deleted video: captions, which are words that people wrote and come back with it, and
 * why it could not be processed.
 */
async function keepWithBackup(trx: Knex.Transaction, video: Video): Promise<void> {
  const { id: videoId, userId, status } = video;
  const saved = await VideoCaptions.query(trx).findById(videoId);
  const failed = status === 'failed' ? video : null;
  await Draft.query(trx)
    .patch({
      ...(saved ? { captions: captionsOf(saved) } : {}),
      errorCode: failed?.errorCode ?? null,
      errorMessage: failed?.errorMessage ?? null,
    })
    .where({ userId, videoId });
}

const captionsOf = ({ cues, axis, revision, createdAt, updatedAt }: VideoCaptions): KeptCaptions => ({
  cues,
  axis,
  revision,
  createdAt,
  updatedAt,
});

function objectsOf(version: VideoVersion): string[] {
  const { sha256, reportSha256, captionsSha256, posterSha256 } = version;
  return [sha256, reportSha256, captionsSha256, posterSha256].filter((key) => key !== null);
}
