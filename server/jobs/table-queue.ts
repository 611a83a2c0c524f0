import type { Knex } from 'knex';
import { raw, type Transaction } from 'objection';
import { newId } from '#db/base-model.ts';
import { Job } from '#db/models/job.ts';
import type { ClaimedJob, EnqueueOptions, JobOutcome, JobQueue, LastWord } from './job-queue.ts';
import { isJobType, JOB_OPTIONS, type JobPayload, type JobType } from './job-types.ts';

const ERROR_MAX_CHARS = 500;

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
  const isPostgres = String(db.client.config.client) === 'pg';
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

  async function claim(owner: string, types: readonly JobType[]): Promise<ClaimedJob | null> {
    const at = now();
    const next = Job.query(db)
      .select('id')
      .where('state', 'queued')
      .where('runAfter', '<=', at)
      .whereIn('type', types)
      .orderBy([{ column: 'priority', order: 'desc' }, { column: 'createdAt' }, { column: 'id' }])
      .limit(1);
    if (isPostgres) next.forUpdate().skipLocked();
    const rows = await Job.query(db)
      .patch({ state: 'running', owner, heartbeatAt: at, startedAt: at, attempts: raw('attempts + 1') })
      .where('id', next)
      .where('state', 'queued')
      .returning('*');
    const job = rows[0];
    return job ? toClaimed(job) : null;
  }

  /** Puts a running job back, or ends it after its last attempt; null when it has changed since it was read. */
  async function putBack(
    job: Job,
    error: string | null,
    backOff: boolean,
    lastWord: LastWord | undefined,
  ): Promise<'requeued' | 'exhausted' | null> {
    const { maxAttempts, backoffMs } = optionsOf(job);
    if (job.attempts >= maxAttempts) return giveUp(job, error, lastWord);
    const wait = backOff ? (backoffMs[job.attempts - 1] ?? backoffMs.at(-1) ?? 0) : 0;
    const rows = await asRead(job).patch({
      state: 'queued',
      owner: null,
      lastError: error,
      runAfter: now() + wait,
    });
    return rows === 0 ? null : 'requeued';
  }

  async function giveUp(
    job: Job,
    error: string | null,
    lastWord: LastWord | undefined,
  ): Promise<'exhausted' | null> {
    const claimed = toClaimed(job);
    if (claimed) await lastWord?.(claimed);
    const rows = await asRead(job).patch({
      state: 'failed',
      owner: null,
      lastError: error,
      finishedAt: now(),
    });
    return rows === 0 ? null : 'exhausted';
  }

  /** The job, as long as no other owner has it; its count of attempts may have been reset meanwhile (`madeHeadway`). */
  const asRead = ({ id, owner }: Job) => Job.query(db).where({ id, state: 'running', owner });

  async function finish(jobId: string, owner: string, outcome: JobOutcome, lastWord?: LastWord) {
    const mine = () => Job.query(db).where({ id: jobId, owner, state: 'running' });
    if (outcome.kind === 'done') {
      const rows = await mine().patch({ state: 'done', owner: null, finishedAt: now() });
      return rows === 0 ? null : 'done';
    }
    if (outcome.kind === 'interrupted') {
      const rows = await mine().patch({
        state: 'queued',
        owner: null,
        runAfter: now(),
        attempts: raw('attempts - 1'),
        interruptions: raw('interruptions + 1'),
      });
      return rows === 0 ? null : 'requeued';
    }
    if (outcome.kind === 'waiting') {
      const rows = await mine().patch({
        state: 'queued',
        owner: null,
        lastError: outcome.reason.slice(0, ERROR_MAX_CHARS),
        runAfter: now() + outcome.forMs,
        attempts: raw('attempts - 1'),
      });
      return rows === 0 ? null : 'requeued';
    }
    const error = outcome.error.slice(0, ERROR_MAX_CHARS);
    const job = await mine().first();
    if (!job) return null;
    return outcome.retryable ? putBack(job, error, true, lastWord) : giveUp(job, error, lastWord);
  }

  return {
    enqueue,
    claim,
    finish,

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

    async recover(staleMs, lastWord) {
      const requeued: string[] = [];
      const exhausted: ClaimedJob[] = [];
      const stuck: unknown[] = [];
      const stale = Job.query(db).where('state', 'running');
      if (staleMs > 0) stale.where('heartbeatAt', '<=', now() - staleMs);
      for (const job of await stale) {
        try {
          const became = await putBack(job, 'The process that did this work ended.', false, lastWord);
          const claimed = toClaimed(job);
          if (became === 'requeued') requeued.push(job.id);
          else if (became === 'exhausted' && claimed) exhausted.push(claimed);
        } catch (error) {
          stuck.push(error);
        }
      }
      if (requeued.length > 0) announce();
      if (stuck.length > 0) throw stuck[0];
      return { requeued, exhausted };
    },

    async positionOfVideo(videoId) {
      const job = await Job.query(db).findOne({ videoId, state: 'queued' });
      if (!job) return null;
      return Job.query(db)
        .where('state', 'queued')
        .where('type', job.type)
        .where((before) => {
          before
            .where('priority', '>', job.priority)
            .orWhere((same) => {
              same.where('priority', job.priority).where('createdAt', '<', job.createdAt);
            })
            .orWhere((same) => {
              same.where({ priority: job.priority, createdAt: job.createdAt }).where('id', '<', job.id);
            });
        })
        .resultSize();
    },

    onEnqueued(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

function optionsOf(job: Job) {
  return isJobType(job.type) ? JOB_OPTIONS[job.type] : { maxAttempts: 1, backoffMs: [] };
}

function toClaimed(job: Job): ClaimedJob | null {
  if (!isJobType(job.type)) return null;
  return {
    id: job.id,
    type: job.type,
    payload: job.payload,
    attempt: job.attempts,
    userId: job.userId,
    videoId: job.videoId,
  };
}
