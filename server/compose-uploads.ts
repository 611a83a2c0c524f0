import type { Knex } from 'knex';
import type { EventBus } from './events.ts';
import type { AppRouter } from './http/context.ts';
import type { JobQueue } from './jobs/job-queue.ts';
import type { Logger } from './logger.ts';
import type { MediaStorage } from './pipeline/storage/media-storage.ts';
import { createChecksumScope } from './pipeline/upload/checksum.ts';
import { createCompleteUpload, type CompleteUpload } from './pipeline/upload/complete-upload.ts';
import { createRawPut } from './pipeline/upload/raw-put.ts';
import { createTusServer } from './pipeline/upload/tus-server.ts';
import { keepUploads } from './pipeline/upload/keep-uploads.ts';
import { createUploadFiles, type UploadFiles } from './pipeline/upload/upload-files.ts';
import { createUploadLocks, type UploadLocks } from './pipeline/upload/upload-locks.ts';
import { createUploadRoutes } from './pipeline/upload/upload.routes.ts';
import type { UploadParts } from './pipeline/upload/upload-parts.ts';
import { createUploadService } from './pipeline/upload/upload.service.ts';
import { UploadStore } from './pipeline/upload/upload-store.ts';
import type { DraftExpiry } from './plans/draft-retention.ts';
import type { Quota } from './plans/quota.ts';

export interface ComposeUploadsDeps {
  readonly db: Knex;
  readonly storage: MediaStorage;
  readonly queue: JobQueue;
  readonly quota: Quota;
  readonly draftExpiry: DraftExpiry;
  readonly events: EventBus;
  readonly logger: Logger;
  readonly now: () => number;
  /** Folder for the bytes of unfinished uploads. */
  readonly folder: string;
  /** A second storage for them, so that they survive the loss of the local disk; null when that is not needed. */
  readonly elsewhere: UploadParts | null;
  readonly publicUrl: string;
}

export interface ComposedUploads {
  readonly router: AppRouter;
  /** Also used by the sweeps. */
  readonly parts: {
    readonly files: UploadFiles;
    readonly locks: UploadLocks;
    readonly complete: CompleteUpload;
  };
  /** Waits until bytes being copied to the second storage have arrived. */
  readonly settled: () => Promise<void>;
}

/** Bytes that always stay free on the disk. */
const RESERVE_BYTES = 1024 ** 3;

/** The part of `compose()` that receives files. */
export function composeUploads(deps: ComposeUploadsDeps): ComposedUploads {
  const { db, folder, logger, now } = deps;
  const here = createUploadFiles(folder);
  const kept = deps.elsewhere && keepUploads({ files: here, parts: deps.elsewhere, logger });
  const files = kept?.files ?? here;
  const locks = createUploadLocks();
  const checksums = createChecksumScope();
  const uploads = createUploadService({ ...deps, files, locks, reserveBytes: RESERVE_BYTES });
  const complete = createCompleteUpload({ ...deps, uploads, files, locks });
  const store = new UploadStore({ db, folder, files, checksums, now });
  const tus = createTusServer({ store, locks, logger });
  const rawPut = createRawPut({ db, files, locks, now, reserveBytes: RESERVE_BYTES });
  return {
    router: createUploadRoutes({ uploads, complete, tus, rawPut, checksums, publicUrl: deps.publicUrl }),
    parts: { files, locks, complete },
    settled: async () => kept?.settled(),
  };
}
