import type { Transaction } from 'objection';
import { PLANS, planAllows, type PlanSlug } from '#common/plans.ts';
import { PROCESSING_STEPS } from '#common/video.ts';
import { newId } from '#db/base-model.ts';
import { Draft } from '#db/models/draft.ts';
import { StoredObject } from '#db/models/stored-object.ts';
import { Video } from '#db/models/video.ts';
import type { JobQueue } from '#server/jobs/job-queue.ts';
import type { Quota } from '#server/plans/quota.ts';
import type { StoredFile } from '#server/pipeline/storage/media-storage.ts';

const DAY_MS = 24 * 3600_000;
/** Queue priority of plans with priority processing. */
export const PRIORITY = { normal: 0, paid: 10 } as const;

export interface NewVideo {
  readonly user: { readonly id: string; readonly plan: PlanSlug };
  readonly fileName: string;
  /** The original, already in the storage. */
  readonly original: StoredFile;
  /** Null for a clip that the server made itself. */
  readonly uploadId: string | null;
  readonly isSample: boolean;
}

export interface CreateVideoDeps {
  readonly queue: JobQueue;
  readonly quota: Quota;
  readonly now: () => number;
}

/**
 * Everything that a new video consists of, in one transaction: object row, video, draft backup, counted
 * unit and job. A sample is neither counted nor backed up. Events are the caller's, after the commit.
 * @returns the video's id
 * @throws AppError `quota_reached`
 */
export async function createVideo(
  trx: Transaction,
  input: NewVideo,
  { queue, quota, now }: CreateVideoDeps,
): Promise<string> {
  const at = now();
  const id = newId();
  const { user, original } = input;
  if (!input.isSample) await quota.take(user.id, id, trx);
  await recordObject(trx, original, at);
  await Video.query(trx).insert({
    id,
    userId: user.id,
    uploadId: input.uploadId,
    originalFileName: input.fileName,
    fileSize: original.sizeBytes,
    originalSha256: original.sha256,
    status: 'processing',
    progress: 0,
    fixesApplied: {},
    steps: waitingSteps(),
    version: 1,
    attempt: 0,
    isSample: input.isSample,
    shared: false,
    createdAt: at,
    updatedAt: at,
  });
  if (!input.isSample) {
    await Draft.query(trx).insert({
      id: newId(),
      userId: user.id,
      videoId: id,
      fileName: input.fileName,
      sha256: original.sha256,
      sizeBytes: original.sizeBytes,
      lastModified: at,
      expiresAt: draftExpiry(user.plan, at),
      createdAt: at,
    });
  }
  await enqueueProcessing(trx, queue, { id, user });
  return id;
}

/** Puts the processing job of a video into the queue, in front for plans that include it. */
export async function enqueueProcessing(
  trx: Transaction,
  queue: JobQueue,
  video: { readonly id: string; readonly user: { readonly id: string; readonly plan: PlanSlug } },
): Promise<void> {
  await queue.enqueue(
    'process-video',
    { videoId: video.id },
    {
      trx,
      userId: video.user.id,
      videoId: video.id,
      priority: planAllows(video.user.plan, 'priority') ? PRIORITY.paid : PRIORITY.normal,
    },
  );
}

/** Notes a stored object; one that was put again is whole again. */
export async function recordObject(trx: Transaction, object: StoredFile, at: number): Promise<void> {
  await StoredObject.query(trx)
    .insert({
      sha256: object.sha256,
      sizeBytes: object.sizeBytes,
      createdAt: at,
      checkedAt: at,
      damaged: false,
    })
    .onConflict('sha256')
    .merge(['checkedAt', 'damaged']);
}

/** The step list of a video that has not begun. */
export function waitingSteps(): Video['steps'] {
  return PROCESSING_STEPS.map((step) => ({ step: step.id, state: 'waiting', tookMs: null, note: '' }));
}

/** End of a draft's life by plan (D-39), epoch ms. */
export function draftExpiry(plan: PlanSlug, fromMs: number): number {
  return fromMs + PLANS[plan].draftDays * DAY_MS;
}
