import { createServer, type Server } from 'node:http';
import path from 'node:path';
import Koa from 'koa';
import type { Knex } from 'knex';
import { pino } from 'pino';
import { PLANS, type PlanSlug } from '#common/plans.ts';
import { newId } from '#db/base-model.ts';
import { connectDatabase, type DatabaseConfig } from '#db/connection.ts';
import { User } from '#db/models/user.ts';
import { createDraftsRoutes } from '#server/drafts/drafts.routes.ts';
import { createDraftsService } from '#server/drafts/drafts.service.ts';
import { createEventBus, type EventBus } from '#server/events.ts';
import type { AppState } from '#server/http/context.ts';
import { answerErrors } from '#server/http/error-middleware.ts';
import { createJobRunner, type JobRunner } from '#server/jobs/job-runner.ts';
import type { MediaPool } from '#server/jobs/media-pool.ts';
import { createTableQueue } from '#server/jobs/table-queue.ts';
import { createObjectGc } from '#server/maintenance/object-gc.ts';
import { createExportLimit } from '#server/plans/export-limit.ts';
import { createDraftExpiry } from '#server/plans/draft-retention.ts';
import { createQuota } from '#server/plans/quota.ts';
import { createDownloadRoutes } from '#server/pipeline/download/download.routes.ts';
import { createLimitedExports } from '#server/pipeline/download/limited-export.service.ts';
import { createProcessVideoJob } from '#server/pipeline/pipeline.jobs.ts';
import { createCertificateRoutes } from '#server/pipeline/publish/certificate.routes.ts';
import { createCertificateService } from '#server/pipeline/publish/certificate.service.ts';
import { createPublishService } from '#server/pipeline/publish/publish.service.ts';
import { openSigningKey } from '#server/pipeline/publish/signing-key.ts';
import { createDiskStorage } from '#server/pipeline/storage/disk-storage.ts';
import { createChecksumScope } from '#server/pipeline/upload/checksum.ts';
import { createCompleteUpload } from '#server/pipeline/upload/complete-upload.ts';
import { createRawPut } from '#server/pipeline/upload/raw-put.ts';
import { createTusServer } from '#server/pipeline/upload/tus-server.ts';
import { createUploadFiles } from '#server/pipeline/upload/upload-files.ts';
import { createUploadLocks } from '#server/pipeline/upload/upload-locks.ts';
import { createUploadRoutes } from '#server/pipeline/upload/upload.routes.ts';
import { createUploadService } from '#server/pipeline/upload/upload.service.ts';
import { UploadStore } from '#server/pipeline/upload/upload-store.ts';
import { createWorkFolders } from '#server/pipeline/work-folders.ts';
import { createVideoRestore } from '#server/videos/restore-video.ts';
import { createVideoState } from '#server/videos/video-state.ts';
import { createVideosRoutes } from '#server/videos/videos.routes.ts';
import { createVideosService } from '#server/videos/videos.service.ts';
import { createTestDatabase, type Engine } from './test-database.ts';

export interface ClipServerOptions {
  /** Replaces the media threads; without it jobs stay queued. */
  readonly process?: MediaPool['run'];
  /** Engine of a new database; SQLite by default. */
  readonly engine?: Engine;
  /** A database that already exists; it is not removed. */
  readonly database?: DatabaseConfig;
  /** Bytes to keep free on the disk; a huge value simulates a full one. */
  readonly reserveBytes?: number;
}

/** A signed-in user of a test. */
export interface TestUser {
  readonly id: string;
  readonly plan: PlanSlug;
  readonly headers: Readonly<Record<string, string>>;
}

export type ClipServer = Awaited<ReturnType<typeof startClipServer>>;

const SILENT = pino({ level: 'silent' });

/**
 * Starts the part of the server that handles clips (uploads, library, drafts, media) with the real routes on a real
 * port. A header names the signed-in user; sessions have their own tests.
 */
export async function startClipServer(options: ClipServerOptions = {}) {
  const fresh = await createTestDatabase(options.engine ?? 'sqlite');
  const { dataDir, databaseUrl } = fresh;
  const sqlitePath = path.join(dataDir, 'reelmend.sqlite');
  const db = connectDatabase(options.database ?? { databaseUrl, sqlitePath });
  const clock = { offsetMs: 0 };
  const now = () => Date.now() + clock.offsetMs;
  const events = createEventBus();
  const parts = assemble({ db, dataDir, events, now, reserveBytes: options.reserveBytes ?? 0 });
  const runner = options.process ? runnerFor({ db, events, ...parts }, options.process) : null;
  await runner?.start();
  const server = createServer(koaFor(db, parts.routers).callback());
  const url = await listen(server);
  return {
    url,
    dataDir,
    db,
    events,
    clock,
    now,
    ...parts,
    runner,
    async newUser(plan: PlanSlug = 'business'): Promise<TestUser> {
      const id = newId();
      const name = id.slice(0, 12);
      await User.query(db).insert({
        id,
        username: name,
        usernameLower: name.toLowerCase(),
        email: `${name}@clips.test`,
        emailLower: `${name}@clips.test`.toLowerCase(),
        passwordHash: '-',
        emailVerifiedAt: now(),
        plan,
        reputation: 0,
        createdAt: now(),
        updatedAt: now(),
      });
      return { id, plan: PLANS[plan].slug, headers: { 'x-test-user': id } };
    },
    async close(): Promise<void> {
      await runner?.drain(0);
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
      await db.destroy();
      await fresh.remove();
    },
  };
}

interface Assembly {
  readonly db: Knex;
  readonly dataDir: string;
  readonly events: EventBus;
  readonly now: () => number;
  readonly reserveBytes: number;
}

function assemble({ db, dataDir, events, now, reserveBytes }: Assembly) {
  const uploadFolder = path.join(dataDir, 'uploads');
  const storage = createDiskStorage(path.join(dataDir, 'objects'));
  const files = createUploadFiles(uploadFolder);
  const locks = createUploadLocks();
  const checksums = createChecksumScope();
  const queue = createTableQueue({ db, now });
  const quota = createQuota({ db, now, enforcePlans: true });
  const draftExpiry = createDraftExpiry(null);
  const state = createVideoState({ db, events, quota, now });
  const gc = createObjectGc({ db, storage, now });
  const signer = openSigningKey(dataDir);
  const certificates = createCertificateService({ db, storage, signer, issuer: 'http://clips.test', now });
  const publisher = createPublishService({ db, storage, state, certificates, now });
  const work = createWorkFolders(path.join(dataDir, 'work'));
  const store = new UploadStore({ db, folder: uploadFolder, files, checksums, now });
  const tus = createTusServer({ store, locks, logger: SILENT });
  const uploads = createUploadService({ db, files, locks, quota, events, now, reserveBytes });
  const complete = createCompleteUpload({
    db,
    uploads,
    files,
    locks,
    storage,
    queue,
    quota,
    draftExpiry,
    events,
    now,
  });
  const rawPut = createRawPut({ db, files, locks, now, reserveBytes });
  const limitOf = createExportLimit(true);
  const exports = createLimitedExports({ db, queue, events, limitOf, logger: SILENT, now });
  const { collect } = gc;
  const videos = createVideosService({ db, storage, queue, state, quota, exports, events, now, collect });
  const restore = createVideoRestore({ db, storage, queue, state, quota, events, now });
  const drafts = createDraftsService({ db, videos: restore, events, draftExpiry, now });
  const routers = [
    createUploadRoutes({ uploads, complete, tus, rawPut, checksums, publicUrl: null }),
    createVideosRoutes({ videos, makeSample: () => Promise.reject(new Error('no tools in this server')) }),
    createDownloadRoutes({ videos, exports, storage, demoMode: false, captionFile: async () => null }),
    createCertificateRoutes({ videos, certificates }),
    createDraftsRoutes({ drafts, storage }),
  ];
  return {
    publisher,
    work,
    storage,
    files,
    locks,
    queue,
    quota,
    state,
    gc,
    uploads,
    complete,
    videos,
    drafts,
    routers,
  };
}

type Parts = ReturnType<typeof assemble> & Pick<Assembly, 'db' | 'events'>;

function runnerFor(parts: Parts, run: MediaPool['run']): JobRunner {
  const { db, events, storage, state, publisher, work, queue } = parts;
  const job = createProcessVideoJob({
    db,
    queue,
    storage,
    state,
    publisher,
    work,
    events,
    pool: { run },
    logger: SILENT,
    tools: { ffmpeg: 'ffmpeg', ffprobe: 'ffprobe' },
    limits: { threads: 1, preset: 'veryfast', maxEncodePixels: 1, maxDurationMs: 1, maxPictures: 1 },
    version: 'test',
    roomWaitMs: 50,
  });
  return createJobRunner({
    queue,
    handlers: {
      'process-video': job,
      'make-preview': job,
      'export-video': job,
      'tell-storyline': job,
      'apply-fixes': job,
      'burn-captions': job,
      'hear-words': job,
      'send-mail': { run: async () => ({ kind: 'done' }), exhausted: async () => undefined },
    },
    lanes: [{ types: ['process-video'], concurrency: 1 }],
    owner: 'test',
    logger: SILENT,
    heartbeatMs: 50,
    idleMs: 20,
    staleMs: null,
  });
}

function koaFor(db: Knex, routers: ReturnType<typeof assemble>['routers']) {
  const app = new Koa<AppState, Record<never, never>>();
  app.on('error', () => undefined);
  app.use(async (ctx, next) => {
    ctx.state.requestId = 'test';
    ctx.state.logger = SILENT;
    ctx.state.identify = async () => {
      const user = await User.query(db).findById(ctx.get('x-test-user'));
      return user ? { user, sessionHash: null, scopes: null } : null;
    };
    await next();
  });
  app.use(answerErrors());
  for (const router of routers) app.use(router.routes());
  return app;
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return `http://127.0.0.1:${address.port}`;
}
