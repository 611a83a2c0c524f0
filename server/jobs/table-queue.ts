import type { Knex } from 'knex';
import type { Transaction } from 'objection';
import { newId } from '#db/base-model.ts';
import { Job } from '#db/models/job.ts';
import { claimJob, positionOfVideo } from './claim-job.ts';
import { finishJob, recoverJobs } from './end-job.ts';
import type { EnqueueOptions, JobQueue } from './job-queue.ts';
import type { JobPayload, JobType } from './job-types.ts';

export interface TableQueueDeps {
  readonly db: Knex;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/**
 * The queue as rows of `jobs`, on SQLite and on Postgres. A job is visible with the commit of the
 * transaction that made it, and a claim is one UPDATE, so two runners never get the same job.
 */
export function createTableQueue({ db, now }: TableQueueDeps): JobQueue {
  const listeners = new Set<() => void>();
  const announce = () => {
    for (const listener of listeners) listener();
  };
  let newest = Number.NEGATIVE_INFINITY;
  // Two jobs of the same millisecond also keep their order; ids do not show it.
  const nextCreatedAt = (at: number): number => {
    newest = Math.max(at, newest + 1);
    return newest;
  };

  async function enqueue<Type extends JobType>(
    type: Type,
    payload: JobPayload<Type>,
    options: EnqueueOptions = {},
  ): Promise<string> {
    const id = newId();
    const at = now();
    await Job.query(options.trx ?? db).insert({
      id,
      type,
      payload,
      state: 'queued',
      priority: options.priority ?? 0,
      attempts: 0,
      interruptions: 0,
      runAfter: options.runAfter ?? at,
      userId: options.userId ?? null,
      videoId: options.videoId ?? null,
      createdAt: nextCreatedAt(at),
    });
    if (options.trx) options.trx.executionPromise.then(announce, () => undefined);
    else announce();
    return id;
  }

  /** Cancels those of some jobs that have not ended. */
  async function takeOut(jobIds: readonly string[], trx?: Transaction): Promise<void> {
    await Job.query(trx ?? db)
      .patch({ state: 'cancelled', owner: null, finishedAt: now() })
      .whereIn('id', [...jobIds])
      .whereIn('state', ['queued', 'running']);
  }

  return {
    enqueue,
    claim: (owner, types) => claimJob(db, owner, types, now()),
    finish: (jobId, owner, outcome, lastWord) => finishJob({ db, now }, jobId, owner, outcome, lastWord),
    recover: (staleMs, lastWord) => recoverJobs({ db, now }, staleMs, lastWord, announce),
    positionOfVideo: (videoId) => positionOfVideo(db, videoId),

    async heartbeat(jobId, owner) {
      const rows = await Job.query(db)
        .patch({ heartbeatAt: now() })
        .where({ id: jobId, owner, state: 'running' });
      return rows > 0;
    },

    async madeHeadway(jobId) {
      await Job.query(db).patch({ attempts: 1 }).where({ id: jobId, state: 'running' });
    },

    async cancel(jobId, trx) {
      await takeOut([jobId], trx);
    },

    async cancelForVideo(videoId, trx) {
      const open = await Job.query(trx ?? db)
        .where('videoId', videoId)
        .whereIn('state', ['queued', 'running']);
      await takeOut(
        open.map((job) => job.id),
        trx,
      );
      return open.filter((job) => job.state === 'running').map((job) => job.id);
    },

    onEnqueued(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
