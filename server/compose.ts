import type { Server as HttpServer } from 'node:http';
import { statfs } from 'node:fs/promises';
import os from 'node:os';
import type { Knex } from 'knex';
import type { Mailer } from './accounts/mailer.ts';
import { composeCaptions } from './captions/compose-captions.ts';
import { composeAccount } from './compose-account.ts';
import { composeAccounts } from './compose-accounts.ts';
import { composeBase, type ComposeBaseDeps, type ComposedBase } from './compose-base.ts';
import { composeHttp } from './compose-http.ts';
import { composeLibrary } from './compose-library.ts';
import { composeRepairs } from './compose-repairs.ts';
import { createOutboxWatch } from './event-outbox.ts';
import type { EventBus } from './events.ts';
import { createHealthRoutes } from './http/health.routes.ts';
import type { SessionStore } from './http/session-store.ts';
import { createIdeasRoutes } from './ideas/ideas.routes.ts';
import { createIdeasService } from './ideas/ideas.service.ts';
import type { JobQueue } from './jobs/job-queue.ts';
import { createJobRunner, type JobRunner, type JobRunnerDeps } from './jobs/job-runner.ts';
import { MEDIA_WORK } from './jobs/job-types.ts';
import { createHousekeeping, type Housekeeping } from './maintenance/housekeeping.ts';
import { createNotificationsRoutes } from './notifications/notifications.routes.ts';
import { createNotificationsService } from './notifications/notifications.service.ts';
import { composeDownloads } from './pipeline/download/compose-downloads.ts';
import { composePreviews } from './pipeline/preview/compose-previews.ts';
import type { MediaStorage } from './pipeline/storage/media-storage.ts';
import { composeQuickFixes } from './quick-fixes/compose-quick-fixes.ts';
import { forwardEvents } from './realtime/forward-events.ts';
import type { SocketServer } from './realtime/socket-server.ts';
import { composeStorylines } from './storyline/compose-storylines.ts';

export interface ComposeOptions extends ComposeBaseDeps {
  readonly version: string;
  /** Entry of the media threads: `worker.ts` in the sources, `worker.js` in the bundle. */
  readonly workerUrl: URL;
  /** Folder of the built pages; null when something else serves them. */
  readonly webDir: string | null;
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
  const { version, workerUrl, webDir } = options;
  const base = await composeBase(options);
  const { config, logger, now, db, events, queue, storage, sessions, rateLimits } = base;
  const notifications = createNotificationsService({ db, events, logger, now });
  const accounts = composeAccounts({
    ...base,
    limits: rateLimits,
    outboxDir: base.inDataDir('outbox'),
    mailer: options.mailer,
  });
  const library = composeLibrary(base);
  const { videos, state, drafts, uploads, exports, collect } = library;
  const repairs = composeRepairs({ ...base, state, videos, workerUrl, version });
  const previews = composePreviews({ ...base, videos });
  const storylines = composeStorylines({ ...base, videos });
  const captioning = composeCaptions({ ...base, videos, collect });
  const { pool, certificates } = repairs;
  const fixing = composeQuickFixes({
    ...base,
    version,
    videos,
    state,
    restoring: library.restore,
    pool,
    certificates,
    collect,
  });
  const runner = composeRunner(base, options.work ?? ['media', 'mail'], {
    'process-video': repairs.job,
    'make-preview': previews.job,
    'export-video': library.exportJob,
    'tell-storyline': storylines.job,
    'apply-fixes': fixing.job,
    'burn-captions': captioning.burnJob,
    'hear-words': captioning.hearJob,
    'send-mail': accounts.sendMail,
  });
  const { notify } = notifications;
  const housekeeping = createHousekeeping({
    db,
    events,
    storage,
    ...uploads.parts,
    gc: library.gc,
    work: repairs.workFolders,
    prepare: library.sampleClip.ready,
    notify,
    logger,
    now,
  });
  const account = composeAccount({
    ...base,
    version,
    notify,
    toSessionBody: accounts.presentUser,
    verifyPassword: accounts.passwords.verify,
    async stopWork(jobIds, videoIds) {
      runner.cancel(jobIds);
      for (const videoId of videoIds) await repairs.workFolders.remove(videoId);
    },
    async removeUploadFiles(uploadIds) {
      for (const id of uploadIds) await uploads.parts.files.remove(id);
    },
    collect,
  });

  let accepting = true;
  const isReady = async () => accepting && (await canServe(base));
  const { httpServer, sockets } = await composeHttp({
    ...base,
    routers: [
      createHealthRoutes({ losesFiles: config.losesFiles, isReady }),
      ...accounts.routers,
      uploads.router,
      library.videosRouter,
      captioning.router,
      ...composeDownloads({ ...base, videos, exports, captionFile: captioning.captionFile }),
      previews.router,
      repairs.router,
      fixing.router,
      storylines.router,
      library.draftsRouter,
      createNotificationsRoutes(notifications),
      createIdeasRoutes({ ideas: createIdeasService({ db, events, now }), limits: rateLimits }),
      ...account.routers,
    ],
    identifyToken: account.identifyToken,
    webDir,
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
  const { subscription } = account;
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

/** The part of `compose()` that works through the queue. Long repairs must not delay a mail, so each has its lane. */
function composeRunner(
  { config, logger, queue }: ComposedBase,
  work: NonNullable<ComposeOptions['work']>,
  handlers: JobRunnerDeps['handlers'],
): JobRunner {
  return createJobRunner({
    queue,
    handlers,
    lanes: [
      { types: MEDIA_WORK, concurrency: work.includes('media') ? config.jobConcurrency : 0 },
      { types: ['send-mail'], concurrency: work.includes('mail') ? 1 : 0 },
    ],
    owner: `${os.hostname()}-${process.pid}`.slice(0, 64),
    logger,
    staleMs: config.databaseUrl === null ? null : 30_000,
  });
}

/** Whether the database answers and the disk has room; throws when one of them cannot be asked. */
async function canServe({ db, config }: ComposedBase): Promise<boolean> {
  await db.raw('select 1');
  const { bavail, bsize } = await statfs(config.dataDir);
  return bavail * bsize > 0;
}
