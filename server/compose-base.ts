import path from 'node:path';
import type { Knex } from 'knex';
import { connectDatabase } from '#db/connection.ts';
import type { Config } from './config.ts';
import { createEventBus, type EventBus } from './events.ts';
import { createRateLimits, type RateLimits } from './http/rate-limit.ts';
import { createSessionStore, type SessionStore } from './http/session-store.ts';
import type { JobQueue } from './jobs/job-queue.ts';
import { createTableQueue } from './jobs/table-queue.ts';
import type { Logger } from './logger.ts';
import type { ToolPaths } from './media/ffmpeg/tools.ts';
import { createDiskStorage } from './pipeline/storage/disk-storage.ts';
import type { MediaStorage } from './pipeline/storage/media-storage.ts';
import type { UploadParts } from './pipeline/upload/upload-parts.ts';

export interface ComposeBaseDeps {
  readonly config: Config;
  readonly logger: Logger;
  /** Sandboxed ffmpeg and ffprobe. */
  readonly tools: ToolPaths;
  /** Epoch milliseconds; tests set it. */
  readonly now?: () => number;
}

/** What all other parts of a server stand on. */
export interface ComposedBase extends ComposeBaseDeps {
  readonly now: () => number;
  readonly db: Knex;
  readonly events: EventBus;
  readonly queue: JobQueue;
  readonly storage: MediaStorage;
  /** A second storage for unfinished uploads, so that they survive the loss of the local disk; null without a bucket. */
  readonly uploadParts: UploadParts | null;
  readonly sessions: SessionStore;
  readonly rateLimits: RateLimits;
  /** Path of a file or folder in `DATA_DIR`. */
  readonly inDataDir: (name: string) => string;
}

/**
 * The part of `compose()` that holds state: database, queue, storage, sessions.
 * @throws ConfigError when the bucket cannot be used, with a sentence that says why
 */
export async function composeBase({
  config,
  logger,
  tools,
  ...rest
}: ComposeBaseDeps): Promise<ComposedBase> {
  const now = rest.now ?? Date.now;
  const inDataDir = (name: string) => path.join(config.dataDir, name);
  const db = connectDatabase(config);
  const events = createEventBus();
  const rateLimits = createRateLimits(config.rateLimits);
  const queue = createTableQueue({ db, now });
  // Loaded only here, because its libraries take 24 MB that other servers do not need.
  const bucket =
    config.s3 && (await (await import('./compose-bucket.ts')).composeBucket(config.s3, inDataDir));
  return {
    config,
    logger,
    tools,
    now,
    db,
    events,
    queue,
    storage: bucket?.storage ?? createDiskStorage(inDataDir('objects')),
    uploadParts: bucket?.uploadParts ?? null,
    sessions: createSessionStore({ db, events, now }),
    rateLimits,
    inDataDir,
  };
}
