import type { Server as HttpServer } from 'node:http';
import { statfs } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { Knex } from 'knex';
import { connectDatabase } from '#db/connection.ts';
import { createAccountRoutes } from './account/account.routes.ts';
import { createAccountService } from './account/account.service.ts';
import type { Mailer } from './accounts/mailer.ts';
import { createAnalyticsRoutes } from './analytics/analytics.routes.ts';
import { createAnalyticsService } from './analytics/analytics.service.ts';
import { createApiAccessRoutes } from './api-access/api-access.routes.ts';
import { createTokensService } from './api-access/tokens.service.ts';
import { createApp } from './app.ts';
import { composeCaptions } from './captions/compose-captions.ts';
import { composeAccounts } from './compose-accounts.ts';
import { composeUploads } from './compose-uploads.ts';
import type { Config } from './config.ts';
import { createDraftsRoutes } from './drafts/drafts.routes.ts';
import { createDraftsService } from './drafts/drafts.service.ts';
import { createOutboxWatch } from './event-outbox.ts';
import { createEventBus, type EventBus } from './events.ts';
import { createHttpServer } from './http/create-http-server.ts';
import { createHealthRoutes } from './http/health.routes.ts';
import { createRateLimits } from './http/rate-limit.ts';
import { closeSession, identifyBySession } from './http/session.ts';
import { createSessionStore, type SessionStore } from './http/session-store.ts';
import { serveWebFiles } from './http/web-files.ts';
import { createIdeasRoutes } from './ideas/ideas.routes.ts';
import { createIdeasService } from './ideas/ideas.service.ts';
import type { JobQueue } from './jobs/job-queue.ts';
import { createJobRunner, type JobRunner } from './jobs/job-runner.ts';
import { MEDIA_WORK } from './jobs/job-types.ts';
import { createMediaPool } from './jobs/media-pool.ts';
import { createTableQueue } from './jobs/table-queue.ts';
import type { Logger } from './logger.ts';
import { createHousekeeping, type Housekeeping } from './maintenance/housekeeping.ts';
import { createObjectGc } from './maintenance/object-gc.ts';
import type { ToolPaths } from './media/ffmpeg/tools.ts';
import { createNotificationsRoutes } from './notifications/notifications.routes.ts';
import { createNotificationsService } from './notifications/notifications.service.ts';
import { composeExports } from './pipeline/download/compose-exports.ts';
import { composeDownloads } from './pipeline/download/compose-downloads.ts';
import { createProcessVideoJob } from './pipeline/pipeline.jobs.ts';
import { composePreviews } from './pipeline/preview/compose-previews.ts';
import { createCertificateRoutes } from './pipeline/publish/certificate.routes.ts';
import { createCertificateService } from './pipeline/publish/certificate.service.ts';
import { createPublishService } from './pipeline/publish/publish.service.ts';
import { openSigningKey } from './pipeline/publish/signing-key.ts';
import { createMakeSample, createSampleClip } from './pipeline/sample/sample.service.ts';
import { createDiskStorage } from './pipeline/storage/disk-storage.ts';
import type { MediaStorage } from './pipeline/storage/media-storage.ts';
import { createWorkFolders } from './pipeline/work-folders.ts';
import { createDraftExpiry } from './plans/draft-retention.ts';
import { createQuota } from './plans/quota.ts';
import { composeQuickFixes } from './quick-fixes/compose-quick-fixes.ts';
import { forwardEvents } from './realtime/forward-events.ts';
import { createSocketServer, type SocketServer } from './realtime/socket-server.ts';
import { composeStorylines } from './storyline/compose-storylines.ts';
import { createSubscriptionRoutes } from './subscription/subscription.routes.ts';
import { createSubscriptionService } from './subscription/subscription.service.ts';
import { createVideoRestore } from './videos/restore-video.ts';
import { createVideoState } from './videos/video-state.ts';
import { createVideosRoutes } from './videos/videos.routes.ts';
import { createVideosService } from './videos/videos.service.ts';

export interface ComposeOptions {
  readonly config: Config;
  readonly logger: Logger;
  readonly version: string;
  /** Entry of the media threads: `worker.ts` in the sources, `worker.js` in the bundle. */
  readonly workerUrl: URL;
  /** Sandboxed ffmpeg and ffprobe. */
  readonly tools: ToolPaths;
  /** Folder of the built pages; null when something else serves them. */
  readonly webDir: string | null;
  /** Epoch milliseconds; tests set it. */
  readonly now?: () => number;
  /** Replaces the mail server and the outbox. */
  readonly mailer?: Mailer;
  /** Kinds of jobs that this process takes from the queue; all by default. */
  readonly work?: readonly ('media' | 'mail')[];
}

/** The parts of a composed server that `main.ts` and the tests use. */
export interface Services {
  readonly httpServer: HttpServer;
  readonly db: Knex;
  readonly events: EventBus;
  readonly storage: MediaStorage;
  readonly queue: JobQueue;
  readonly runner: JobRunner;
  readonly sessions: SessionStore;
  readonly sockets: SocketServer;
  readonly housekeeping: Housekeeping;
  /** Deletes expired rows; `main.ts` runs it at intervals. */
  readonly sweep: () => Promise<void>;
  /** Makes `/readyz` answer no from then on, so that a load balancer sends no more requests here. */
  readonly stopAccepting: () => void;
  /** Ends media threads, listeners and the database, after the runner has drained. */
  readonly close: () => Promise<void>;
}

/**
 * Creates all parts and connects them; the only place that knows them all. The database must be migrated before the
 * server listens, and no job runs before `runner.start()`.
 */
export async function compose(options: ComposeOptions): Promise<Services> {
  const { config, logger, tools } = options;
  const now = options.now ?? Date.now;
  const inDataDir = (name: string) => path.join(config.dataDir, name);
  const work = options.work ?? ['media', 'mail'];

  const db = connectDatabase(config);
  const events = createEventBus();
  const limits = createRateLimits(config.rateLimits);
  const queue = createTableQueue({ db, now });
  // Loaded only here, because its libraries take 24 MB that other servers do not need.
  const bucket =
    config.s3 && (await (await import('./compose-bucket.ts')).composeBucket(config.s3, inDataDir));
  const storage = bucket?.storage ?? createDiskStorage(inDataDir('objects'));
  const sessions = createSessionStore({ db, events, now });
  const notifications = createNotificationsService({ db, events, logger, now });

  const accounts = composeAccounts({
    db,
    events,
    queue,
    sessions,
    limits,
    config,
    logger,
    now,
    outboxDir: inDataDir('outbox'),
    mailer: options.mailer,
  });

  const quota = createQuota({ db, now, enforcePlans: config.enforcePlans });
  const draftExpiry = createDraftExpiry(config.draftDaysBusiness);
  const state = createVideoState({ db, events, quota, now });
  const gc = createObjectGc({ db, storage, now });
  const collect = (sha256s: readonly string[]) => gc.collect(sha256s);
  const exporting = composeExports({ db, storage, queue, events, config, tools, collect, logger, now });
  const { exports } = exporting;
  const videos = createVideosService({ db, storage, queue, state, quota, exports, events, now, collect });
  const restore = createVideoRestore({ db, storage, queue, state, quota, events, now });
  const drafts = createDraftsService({ db, videos: restore, events, draftExpiry, now });

  const uploads = composeUploads({
    db,
    storage,
    queue,
    quota,
    draftExpiry,
    events,
    logger,
    now,
    folder: inDataDir('uploads'),
    elsewhere: bucket?.uploadParts ?? null,
    publicUrl: config.publicUrl,
  });
  const clip = createSampleClip(tools, inDataDir('sample'));
  const makeSample = createMakeSample({ db, storage, queue, quota, draftExpiry, events, now, clip });

  const workFolders = createWorkFolders(inDataDir('work'));
  const signer = openSigningKey(config.dataDir, config.certificateKey);
  const certificates = createCertificateService({ db, storage, signer, issuer: config.publicUrl, now });
  const { jobConcurrency: threads, threadHeapMb: heapMb } = config;
  const pool = createMediaPool({ workerUrl: options.workerUrl, threads, heapMb, logger });
  const processVideo = createProcessVideoJob({
    db,
    queue,
    storage,
    state,
    publisher: createPublishService({ db, storage, state, certificates, now }),
    pool,
    work: workFolders,
    events,
    logger,
    tools,
    limits: config.mediaLimits,
    version: options.version,
  });
  const common = { db, storage, queue, videos, config, tools, logger, now };
  const previews = composePreviews(common);
  const storylines = composeStorylines(common);
  const captioning = composeCaptions({ ...common, events, collect });
  const fixing = composeQuickFixes({ ...common, state, events, restoring: restore, pool, collect });
  const runner = createJobRunner({
    queue,
    handlers: {
      'process-video': processVideo,
      'make-preview': previews.job,
      'export-video': exporting.job,
      'tell-storyline': storylines.job,
      'apply-fixes': fixing.job,
      'burn-captions': captioning.burnJob,
      'hear-words': captioning.hearJob,
      'send-mail': accounts.sendMail,
    },
    lanes: [
      { types: MEDIA_WORK, concurrency: work.includes('media') ? config.jobConcurrency : 0 },
      { types: ['send-mail'], concurrency: work.includes('mail') ? 1 : 0 },
    ],
    owner: `${os.hostname()}-${process.pid}`.slice(0, 64),
    logger,
    staleMs: config.databaseUrl === null ? null : 30_000,
  });
  const { notify } = notifications;
  const housekeeping = createHousekeeping({
    db,
    events,
    storage,
    ...uploads.parts,
    gc,
    work: workFolders,
    prepare: clip.ready,
    notify,
    logger,
    now,
  });

  const subscription = createSubscriptionService({ db, events, now, billing: config.billing, notify });
  const apiTokens = createTokensService({ db, enforcePlans: config.enforcePlans, now });
  const passwordGuesses = limits({ points: 5, durationS: 60 });
  const account = createAccountService({
    db,
    storage,
    events,
    now,
    verifyPassword: accounts.passwords.verify,
    async stopWork(jobIds, videoIds) {
      runner.cancel(jobIds);
      for (const videoId of videoIds) await workFolders.remove(videoId);
    },
    async removeUploadFiles(uploadIds) {
      for (const id of uploadIds) await uploads.parts.files.remove(id);
    },
    collect,
  });

  let accepting = true;
  const routers = [
    createHealthRoutes({
      losesFiles: config.losesFiles,
      isReady: async () => {
        if (!accepting) return false;
        await db.raw('select 1');
        const { bavail, bsize } = await statfs(config.dataDir);
        return bavail * bsize > 0;
      },
    }),
    ...accounts.routers,
    uploads.router,
    createVideosRoutes({ videos, makeSample }),
    captioning.router,
    ...composeDownloads({ ...common, exports, captionFile: captioning.captionFile }),
    previews.router,
    createCertificateRoutes({ videos, certificates }),
    fixing.router,
    storylines.router,
    createDraftsRoutes({ drafts, storage }),
    createNotificationsRoutes(notifications),
    createIdeasRoutes({ ideas: createIdeasService({ db, events, now }), limits }),
    createSubscriptionRoutes({ subscription, toSessionBody: accounts.presentUser, now }),
    createAccountRoutes({
      account,
      limitPassword: (userId) => passwordGuesses.consume(userId),
      endSession: async (ctx) => closeSession(ctx),
    }),
    createApiAccessRoutes({ tokens: apiTokens, publicUrl: config.publicUrl, version: options.version }),
    createAnalyticsRoutes({
      analytics: createAnalyticsService({ db, enforcePlans: config.enforcePlans, now }),
    }),
  ];

  const { app, sessionMiddleware } = createApp({
    config,
    logger,
    db,
    sessions,
    limits,
    routers,
    async identifyToken(token) {
      const bearer = await apiTokens.authenticate(token);
      return bearer && { user: bearer.user, sessionHash: null, scopes: bearer.scopes };
    },
    ...(options.webDir === null ? {} : { webFiles: await serveWebFiles(options.webDir, config.publicUrl) }),
  });
  const httpServer = createHttpServer(app);
  const sockets = createSocketServer({
    httpServer,
    app,
    sessionMiddleware,
    identify: (ctx) => identifyBySession(ctx, db),
    sessions,
    events,
    logger,
    publicUrl: config.publicUrl,
  });
  const stops = [
    forwardEvents({
      events,
      push: sockets,
      statusOf: (videoId) => videos.statusForPush(videoId),
      fixesOf: (videoId) => fixing.fixes.runOf(videoId),
      logger,
    }),
    notifications.listen(),
    exports.listen(),
    events.on('job.cancelled', ({ jobId }) => runner.cancel([jobId])),
    captioning.listen(),
    drafts.listen((error) => logger.error({ err: error }, 'drafts were not extended')),
  ];
  const outbox = createOutboxWatch({ db, events, logger });
  // Not earlier, because the migrations create their tables, and no page can connect before.
  httpServer.once('listening', () => {
    outbox.start();
    stops.push(subscription.listen((error) => logger.error({ err: error }, 'trials were not ended')));
  });

  return {
    httpServer,
    db,
    events,
    storage,
    queue,
    runner,
    sessions,
    sockets,
    housekeeping,
    async sweep() {
      await sessions.purge();
      await accounts.purgeTokens();
      await notifications.purge();
      await subscription.sweepTrials();
      await outbox.purge(now());
    },
    stopAccepting() {
      accepting = false;
    },
    async close() {
      for (const stop of stops) stop();
      outbox.stop();
      await Promise.all([pool.close(), uploads.settled()]);
      await db.destroy();
    },
  };
}
