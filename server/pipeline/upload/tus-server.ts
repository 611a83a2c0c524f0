import { Server } from '@tus/server';
import { MAX_UPLOAD_BYTES } from '#common/limits.ts';
import { AppError } from '#server/errors.ts';
import type { UploadLocks } from './upload-locks.ts';
import type { UploadStore } from './upload-store.ts';

const LOCK_DRAIN_MS = 300;

export interface TusServerDeps {
  readonly store: UploadStore;
  readonly locks: UploadLocks;
  readonly logger: { error(fields: Record<string, unknown>, message: string): void };
}

/**
 * The tus 1.0 verbs on `/uploads/:token`. It does not check who sends a request; the owner is checked before, for every
 * verb.
 */
export function createTusServer({ store, locks, logger }: TusServerDeps): Server {
  return new Server({
    path: '/uploads',
    datastore: store,
    locker: locks,
    lockDrainTimeout: LOCK_DRAIN_MS,
    maxSize: MAX_UPLOAD_BYTES,
    relativeLocation: true,
    allowedOrigins: [],
    disableTerminationForFinishedUploads: true,
    onResponseError: (_request, error) => {
      if (error instanceof AppError) return { status_code: error.status, body: `${error.message}\n` };
      // Both are malformed requests; 403 would look like missing rights.
      if ('status_code' in error && error.status_code === 403) {
        return { status_code: 400, body: error.body };
      }
      if ('status_code' in error && error.status_code !== 500) return undefined;
      logger.error({ error: error instanceof Error ? error.stack : error.body }, 'upload request failed');
      return { status_code: 500, body: 'Something went wrong.\n' };
    },
  });
}
