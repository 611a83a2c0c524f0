import type { Knex } from 'knex';
import { NO_ISSUES } from '#common/video.ts';
import { newId } from '#db/base-model.ts';
import { VideoVersion } from '#db/models/video-version.ts';
import { Video } from '#db/models/video.ts';
import type { StoredFile } from '#server/pipeline/storage/media-storage.ts';
import { recordObject, waitingSteps } from '#server/videos/create-video.ts';

export interface FinishedVideo {
  readonly userId: string;
  /** Stored files: the original, the current version and its report. */
  readonly original: StoredFile;
  readonly result: StoredFile;
  readonly report: StoredFile;
  readonly at: number;
}

/** The rows of a video that has been repaired. */
export async function insertFinishedVideo(
  trx: Knex.Transaction,
  { userId, original, result, report, at }: FinishedVideo,
): Promise<{ videoId: string; versionId: string }> {
  const [videoId, versionId] = [newId(), newId()];
  for (const object of [original, result, report]) await recordObject(trx, object, at);
  await Video.query(trx).insert({
    id: videoId,
    userId,
    uploadId: null,
    originalFileName: 'clip.mp4',
    fileSize: original.sizeBytes,
    originalSha256: original.sha256,
    currentVersionId: versionId,
    status: 'completed',
    progress: 100,
    issues: NO_ISSUES,
    fixesApplied: {},
    steps: waitingSteps(),
    version: 1,
    attempt: 1,
    isSample: false,
    shared: false,
    createdAt: at,
    updatedAt: at,
  });
  await VideoVersion.query(trx).insert({
    id: versionId,
    videoId,
    kind: 'repair',
    sha256: result.sha256,
    sizeBytes: result.sizeBytes,
    reportSha256: report.sha256,
    createdAt: at,
  });
  return { videoId, versionId };
}
