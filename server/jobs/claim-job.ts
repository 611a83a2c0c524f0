import type { Knex } from 'knex';
import { raw } from 'objection';
import { Job } from '#db/models/job.ts';
import type { ClaimedJob } from './job-queue.ts';
import { isJobType, type JobType } from './job-types.ts';

/**
 * Gives the next due job of some kinds to `owner`, in one UPDATE, so that two runners never get the same job. Higher
 * priority comes first, then the older job.
 * @param at epoch milliseconds
 * @returns null when none is due
 */
export async function claimJob(
  db: Knex,
  owner: string,
  types: readonly JobType[],
  at: number,
): Promise<ClaimedJob | null> {
  const next = Job.query(db)
    .select('id')
    .where('state', 'queued')
    .where('runAfter', '<=', at)
    .whereIn('type', types)
    .orderBy([{ column: 'priority', order: 'desc' }, { column: 'createdAt' }, { column: 'id' }])
    .limit(1);
  const isPostgres = String(db.client.config.client) === 'pg';
  if (isPostgres) next.forUpdate().skipLocked();
  const rows = await Job.query(db)
    .patch({ state: 'running', owner, heartbeatAt: at, startedAt: at, attempts: raw('attempts + 1') })
    .where('id', next)
    .where('state', 'queued')
    .returning('*');
  const job = rows[0];
  return job ? toClaimed(job) : null;
}

/** The row as its handler sees it; null for a kind of job that this version does not know. */
export function toClaimed(job: Job): ClaimedJob | null {
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

/**
 * Number of queued jobs of the same kind that `claimJob` takes before this video's.
 * @returns null when the video has no queued job
 */
export async function positionOfVideo(db: Knex, videoId: string): Promise<number | null> {
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
}
