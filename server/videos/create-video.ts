import type { Transaction } from 'objection';
import { planAllows, type PlanSlug } from '#common/plans.ts';
import { PROCESSING_STEPS } from '#common/video.ts';
import { newId } from '#db/base-model.ts';
import { nameKeyOf, nameLowerOf } from '#db/video-columns.ts';
import { Draft } from '#db/models/draft.ts';
import { StoredObject } from '#db/models/stored-object.ts';
import { Video } from '#db/models/video.ts';
import type { JobQueue } from '#server/jobs/job-queue.ts';
import type { DraftExpiry } from '#server/plans/draft-retention.ts';
import type { Quota } from '#server/plans/quota.ts';
import type { StoredFile } from '#server/pipeline/storage/media-storage.ts';

/** Queue priority of plans with priority processing. */
export const PRIORITY = { normal: 0, paid: 10 } as const;

export interface NewVideo {
  readonly user: { readonly id: string; readonly plan: PlanSlug };
  readonly fileName: string;
  /** The original, which is already in the storage. */
  readonly original: StoredFile;
  /** Null for a clip that the server made itself. */
  readonly uploadId: string | null;
  readonly isSample: boolean;
}

export interface CreateVideoDeps {
  readonly queue: JobQueue;
  readonly quota: Quota;
  readonly draftExpiry: DraftExpiry;
  readonly now: () => number;
}

/**
 * Creates everything that a new video consists of, in one transaction: object row, video, draft backup, counted unit
 * and job. A sample is neither counted nor backed up. The caller emits the events after the commit.
 * @returns the video's id
 * @throws AppError `quota_reached`
 */
export async function createVideo(
  trx: Transaction,
  input: NewVideo,
  { queue, quota, draftExpiry, now }: CreateVideoDeps,
): Promise<string> {
  const at = now();
  const id = newId();
  const { user, original } = input;
  if (!input.isSample) await quota.take(user.id, id, trx);
  await insertVideo(trx, { ...input, id }, now);
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

/** Inserts the rows of a video before its first attempt: its object and the video itself. */
export async function insertVideo(
  trx: Transaction,
  video: NewVideo & { readonly id: string },
  now: () => number,
): Promise<void> {
  const at = now();
  await recordObject(trx, video.original, at);
  await Video.query(trx).insert({
    id: video.id,
    userId: video.user.id,
    uploadId: video.uploadId,
    ...namesOf(video.fileName),
    fileSize: video.original.sizeBytes,
    originalSha256: video.original.sha256,
    status: 'processing',
    progress: 0,
    fixesApplied: {},
    steps: waitingSteps(),
    version: 1,
    attempt: 0,
    isSample: video.isSample,
    shared: false,
    createdAt: at,
    updatedAt: at,
  });
}

/** Queues the processing job of a video, with priority for plans that include it. */
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

/** Records a stored object; storing it again clears its damaged mark. */
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

/** All columns that contain a video's name. */
export function namesOf(fileName: string) {
  return { originalFileName: fileName, nameLower: nameLowerOf(fileName), nameKey: nameKeyOf(fileName) };
}

/** The step list of a video before processing starts. */
export function waitingSteps(): Video['steps'] {
  return PROCESSING_STEPS.map((step) => ({ step: step.id, state: 'waiting', tookMs: null, note: '' }));
}
