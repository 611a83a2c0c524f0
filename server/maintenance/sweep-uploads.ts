import { DAY_MS } from '#common/limits.ts';
import type { Knex } from 'knex';
import { Upload } from '#db/models/upload.ts';
import { User } from '#db/models/user.ts';
import { AppError } from '#server/errors.ts';
import type { EventBus } from '#server/events.ts';
import type { CompleteUpload } from '#server/pipeline/upload/complete-upload.ts';
import type { UploadFiles } from '#server/pipeline/upload/upload-files.ts';
import type { UploadLocks } from '#server/pipeline/upload/upload-locks.ts';

/** All bytes have arrived, but the upload was not completed for this long: the page was closed in the last moment. */
const UNCLAIMED_MS = 10 * 60_000;
/** A file changed more recently than this may belong to an upload that is just getting its row. */
const STRAY_FILE_MS = 3600_000;
/** How long rows of discarded uploads are kept. */
const KEEP_ROWS_MS = 30 * DAY_MS;
/** Title of a video whose upload came without a file name. */
const UNNAMED = 'Untitled video';

export interface SweepUploadsDeps {
  readonly db: Knex;
  readonly files: UploadFiles;
  readonly locks: UploadLocks;
  readonly complete: CompleteUpload;
  readonly events: EventBus;
  readonly now: () => number;
  readonly logger: { warn(fields: Record<string, unknown>, message: string): void };
}

export interface UploadSweep {
  readonly expired: number;
  readonly registered: number;
  readonly strayFiles: number;
}

/** One round over all uploads: finished ones become videos, expired ones and stray files are removed. */
export async function sweepUploads(deps: SweepUploadsDeps): Promise<UploadSweep> {
  const registered = await registerUnclaimed(deps);
  const expired = await removeExpired(deps);
  const strayFiles = await removeStrayFiles(deps);
  await Upload.query(deps.db)
    .delete()
    .where('state', 'discarded')
    .where('updatedAt', '<', deps.now() - KEEP_ROWS_MS);
  return { expired, registered, strayFiles };
}

/** An upload whose last answer was lost is whole but has no video; this creates it, as the client intended. */
async function registerUnclaimed({ db, complete, now, logger }: SweepUploadsDeps): Promise<number> {
  const waiting = await Upload.query(db)
    .whereIn('state', ['open', 'received'])
    .whereColumn('sizeBytes', '=', 'offsetBytes')
    .where('updatedAt', '<', now() - UNCLAIMED_MS)
    .where('expiresAt', '>', now());
  let made = 0;
  for (const upload of waiting) {
    const owner = await User.query(db).findById(upload.userId);
    if (!owner || upload.sizeBytes === null) continue;
    try {
      await complete(owner, {
        uploadId: upload.id,
        fileName: upload.fileName ?? UNNAMED,
        fileSizeBytes: upload.sizeBytes,
      });
      made += 1;
    } catch (error) {
      // The allowance is used up, or a file is gone; the upload waits until it expires.
      if (!(error instanceof AppError)) throw error;
      logger.warn(
        { uploadId: upload.id.slice(0, 8), code: error.code },
        'a finished upload could not become a video',
      );
    }
  }
  return made;
}

async function removeExpired({ db, files, locks, events, now }: SweepUploadsDeps): Promise<number> {
  const expired = await Upload.query(db)
    .whereIn('state', ['open', 'received'])
    .where('expiresAt', '<=', now());
  for (const upload of expired) {
    await locks.hold(upload.id, async () => {
      const rows = await Upload.query(db)
        .patch({ state: 'discarded', updatedAt: now() })
        .where({ id: upload.id })
        .whereIn('state', ['open', 'received']);
      if (rows > 0) await files.remove(upload.id);
    });
    events.emit('upload.changed', { userId: upload.userId });
  }
  return expired.length;
}

/** Files without an unfinished upload, left by a crash between two steps. */
async function removeStrayFiles({ db, files, now }: SweepUploadsDeps): Promise<number> {
  let removed = 0;
  for (const file of await files.list()) {
    if (file.changedAtMs > now() - STRAY_FILE_MS) continue;
    const upload = await Upload.query(db).findById(file.id);
    if (upload && (upload.state === 'open' || upload.state === 'received')) continue;
    await files.remove(file.id);
    removed += 1;
  }
  return removed;
}
