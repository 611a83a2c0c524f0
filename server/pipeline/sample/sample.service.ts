import { access, copyFile, mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { randomBytes } from 'node:crypto';
import type { Knex } from 'knex';
import type { PlanSlug } from '#common/plans.ts';
import { Video } from '#db/models/video.ts';
import type { EventBus } from '#server/events.ts';
import type { JobQueue } from '#server/jobs/job-queue.ts';
import { AppError } from '#server/errors.ts';
import type { ToolPaths } from '#server/media/ffmpeg/tools.ts';
import type { DraftExpiry } from '#server/plans/draft-retention.ts';
import type { Quota } from '#server/plans/quota.ts';
import { within } from '#server/within.ts';
import { createVideo } from '#server/videos/create-video.ts';
import { createKeyedLock } from '../storage/keyed-lock.ts';
import type { MediaStorage } from '../storage/media-storage.ts';
import { makeSampleClip, SAMPLE_RECIPE } from './make-sample-clip.ts';

/** A sample younger than this is shown again instead of making another. */
const AGAIN_MS = 10 * 60_000;
const NAME = 'Sample clip.mp4';
/**
 * A request waits this long for the first clip: hosts' routers give up after 30 s, and a small machine needs longer to
 * make it.
 */
const WAIT_MS = 20_000;
const NOT_READY = 'The sample clip is still being made. Please try again in a moment.';

export interface SampleServiceDeps {
  readonly db: Knex;
  readonly storage: MediaStorage;
  readonly queue: JobQueue;
  readonly quota: Quota;
  readonly draftExpiry: DraftExpiry;
  readonly events: EventBus;
  readonly now: () => number;
  readonly clip: SampleClip;
  /** Maximum time that a request waits for the clip, ms. */
  readonly waitMs?: number;
}

/** The single sample clip, shared by all accounts. */
export interface SampleClip {
  /**
   * Makes the clip unless it exists; the signal aborts that.
   * @returns its path
   */
  ready(signal?: AbortSignal): Promise<string>;
  /** Path for a new copy, in the same folder. */
  copyPath(): string;
}

/** Keeps the clip in `folder` between starts of the server. */
export function createSampleClip(tools: ToolPaths, folder: string): SampleClip {
  const lock = createKeyedLock();
  return {
    ready: (signal) =>
      lock('clip', async () => {
        const file = path.join(folder, `sample-${SAMPLE_RECIPE}.mp4`);
        await mkdir(folder, { recursive: true });
        await access(file).catch(() => makeSampleClip({ tools, outputPath: file, signal }));
        return file;
      }),
    copyPath: () => path.join(folder, `${randomBytes(8).toString('hex')}.copy`),
  };
}

/**
 * Adds a sample clip with planted defects to the library of an account and queues its repair, as for any upload; it
 * does not count against the allowance. At most one is made in ten minutes: until then the same video is returned.
 * @throws MediaToolError when the clip cannot be made; AppError `unavailable` while it is still being made
 */
export type MakeSample = (user: {
  readonly id: string;
  readonly plan: PlanSlug;
}) => Promise<{ videoId: string }>;

/** See `MakeSample`. */
export function createMakeSample(deps: SampleServiceDeps): MakeSample {
  const { db, storage, queue, quota, draftExpiry, events, now, clip, waitMs = WAIT_MS } = deps;
  const lock = createKeyedLock();

  const notReady = () => new AppError('unavailable', NOT_READY, { retryAfterSeconds: 3 });

  async function store() {
    const copy = clip.copyPath();
    try {
      await copyFile(await within(clip.ready(), waitMs, notReady), copy);
      return await storage.put(copy);
    } finally {
      // The storage moves the file away; on a full disk the copy must not be left behind.
      await rm(copy, { force: true });
    }
  }

  return (user) =>
    lock(user.id, async () => {
      const recent = await Video.query(db)
        .where({ userId: user.id, isSample: true })
        .where('createdAt', '>', now() - AGAIN_MS)
        .orderBy('createdAt', 'desc')
        .first();
      if (recent) return { videoId: recent.id };
      const original = await store();
      const videoId = await db.transaction((trx) =>
        createVideo(
          trx,
          { user, fileName: NAME, original, uploadId: null, isSample: true },
          { queue, quota, draftExpiry, now },
        ),
      );
      events.emit('video.created', { userId: user.id, videoId });
      return { videoId };
    });
}
