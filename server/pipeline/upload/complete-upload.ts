import type { Knex } from 'knex';
import { EMPTY_FILE } from '#common/api/uploads.ts';
import { MAX_UPLOAD_BYTES, MIN_UPLOAD_BYTES } from '#common/limits.ts';
import { Upload } from '#db/models/upload.ts';
import { Video } from '#db/models/video.ts';
import { AppError, notFound } from '#server/errors.ts';
import type { EventBus } from '#server/events.ts';
import type { JobQueue } from '#server/jobs/job-queue.ts';
import type { DraftExpiry } from '#server/plans/draft-retention.ts';
import type { Quota } from '#server/plans/quota.ts';
import type { MediaStorage, StoredFile } from '#server/pipeline/storage/media-storage.ts';
import { createVideo } from '#server/videos/create-video.ts';
import type { UploadFiles } from './upload-files.ts';
import type { UploadLocks } from './upload-locks.ts';
import type { UploadOwner, UploadService } from './upload.service.ts';

export interface CompleteUploadInput {
  readonly uploadId: string;
  readonly fileName: string;
  readonly fileSizeBytes: number;
}

export interface CompleteUploadDeps {
  readonly db: Knex;
  readonly uploads: Pick<UploadService, 'owned'>;
  readonly files: UploadFiles;
  readonly locks: UploadLocks;
  readonly storage: MediaStorage;
  readonly queue: JobQueue;
  readonly quota: Quota;
  readonly draftExpiry: DraftExpiry;
  readonly events: EventBus;
  readonly now: () => number;
}

/**
 * Turns a finished upload into a video. The same answer however often it is called, at once or later.
 * @throws AppError `not_found`, `gone`, `upload_incomplete` (bytes are missing), `size_mismatch`,
 *   `too_large`, `invalid_input` (empty file), `quota_reached`, `storage_full`
 */
export type CompleteUpload = (owner: UploadOwner, input: CompleteUploadInput) => Promise<{ videoId: string }>;

/** See `CompleteUpload`. */
export function createCompleteUpload(deps: CompleteUploadDeps): CompleteUpload {
  const { db, uploads, files, locks, storage, queue, quota, events, now } = deps;

  async function answerClaimed(upload: Upload, fileSizeBytes: number): Promise<{ videoId: string }> {
    if (upload.sizeBytes !== fileSizeBytes) throw new AppError('size_mismatch');
    const video = upload.videoId === null ? undefined : await Video.query(db).findById(upload.videoId);
    if (!video) throw notFound();
    return { videoId: video.id };
  }

  /** Moves the bytes into the storage; safe to repeat after a kill at any point. */
  async function settle(upload: Upload, fileSizeBytes: number): Promise<StoredFile> {
    if (upload.state === 'received' && upload.sha256 !== null) {
      const stored = await storage.stat(upload.sha256);
      if (stored?.sizeBytes === upload.sizeBytes && (await files.sizeOf(upload.id)) === null) return stored;
    }
    const arrived = await files.sizeOf(upload.id);
    if (arrived === null) throw new AppError('gone');
    checkSize(upload, arrived, fileSizeBytes);
    const sha256 = await files.sha256Of(upload.id, arrived);
    await Upload.query(db)
      .findById(upload.id)
      .patch({ state: 'received', sha256, sizeBytes: arrived, offsetBytes: arrived, updatedAt: now() });
    const stored = await storage.put(files.path(upload.id), sha256);
    await files.remove(upload.id);
    return stored;
  }

  async function claim(owner: UploadOwner, upload: Upload, fileName: string, original: StoredFile) {
    return db
      .transaction(async (trx) => {
        const videoId = await createVideo(
          trx,
          { user: owner, fileName, original, uploadId: upload.id, isSample: false },
          { queue, quota, draftExpiry: deps.draftExpiry, now },
        );
        const rows = await Upload.query(trx)
          .patch({ state: 'claimed', videoId, fileName, updatedAt: now() })
          .where({ id: upload.id, state: 'received' });
        // Another process was faster: its video stays, and this transaction leaves nothing.
        if (rows === 0) throw new ClaimLost();
        return videoId;
      })
      .catch((error: unknown) => {
        if (error instanceof ClaimLost) return null;
        throw error;
      });
  }

  return async (owner, { uploadId, fileName, fileSizeBytes }) => {
    if (fileSizeBytes > MAX_UPLOAD_BYTES) throw new AppError('too_large');
    const known = await uploads.owned(owner, uploadId);
    if (known.state === 'claimed') return answerClaimed(known, fileSizeBytes);
    const made = await locks.hold(uploadId, async () => {
      const upload = await uploads.owned(owner, uploadId);
      if (upload.state === 'claimed') return { videoId: null };
      if (upload.state === 'discarded' || upload.expiresAt < now()) throw new AppError('gone');
      const original = await settle(upload, fileSizeBytes);
      if (original.sizeBytes !== fileSizeBytes) throw new AppError('size_mismatch');
      return { videoId: await claim(owner, upload, fileName, original) };
    });
    if (made.videoId === null) return answerClaimed(await uploads.owned(owner, uploadId), fileSizeBytes);
    events.emit('video.created', { userId: owner.id, videoId: made.videoId });
    events.emit('draft.changed', { userId: owner.id, draftId: null });
    events.emit('upload.changed', { userId: owner.id });
    return { videoId: made.videoId };
  };
}

class ClaimLost extends Error {}

function checkSize(upload: Upload, arrivedBytes: number, claimedBytes: number): void {
  if (upload.sizeBytes !== null && upload.sizeBytes !== claimedBytes) throw new AppError('size_mismatch');
  if (claimedBytes < MIN_UPLOAD_BYTES) throw new AppError('invalid_input', EMPTY_FILE);
  if (arrivedBytes < claimedBytes) throw new AppError('upload_incomplete');
  if (arrivedBytes > claimedBytes) throw new AppError('size_mismatch');
}
