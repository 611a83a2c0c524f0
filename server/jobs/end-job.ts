import type { Knex } from 'knex';
import { raw } from 'objection';
import { Job } from '#db/models/job.ts';
import { toClaimed } from './claim-job.ts';
import type { ClaimedJob, JobOutcome, LastWord } from './job-queue.ts';
import { isJobType, JOB_OPTIONS } from './job-types.ts';

const ERROR_MAX_CHARS = 500;

export interface EndJobDeps {
  readonly db: Knex;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/**
 * Records how a job of `owner` ended: it is done, queued again, or given up.
 * @returns what became of the job; null when it was no longer this owner's
 * @throws what `lastWord` throws; the job then stays as it is
 */
export async function finishJob(
  deps: EndJobDeps,
  jobId: string,
  owner: string,
  outcome: JobOutcome,
  lastWord?: LastWord,
): Promise<'done' | 'requeued' | 'exhausted' | null> {
  const { db, now } = deps;
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
  return outcome.retryable ? putBack(deps, job, error, true, lastWord) : giveUp(deps, job, error, lastWord);
}

/**
 * Takes back running jobs whose owner has gone; see `JobQueue.recover`.
 * @param staleMs least age of the last heartbeat; 0 takes back all
 * @param onRequeued called once if any job was queued again
 * @throws the first error of `lastWord`, after all other jobs were handled
 */
export async function recoverJobs(
  deps: EndJobDeps,
  staleMs: number,
  lastWord: LastWord | undefined,
  onRequeued: () => void,
): Promise<{ requeued: string[]; exhausted: ClaimedJob[] }> {
  const requeued: string[] = [];
  const exhausted: ClaimedJob[] = [];
  const stuck: unknown[] = [];
  const stale = Job.query(deps.db).where('state', 'running');
  if (staleMs > 0) stale.where('heartbeatAt', '<=', deps.now() - staleMs);
  for (const job of await stale) {
    try {
      const became = await putBack(deps, job, 'The process that did this work ended.', false, lastWord);
      const claimed = toClaimed(job);
      if (became === 'requeued') requeued.push(job.id);
      else if (became === 'exhausted' && claimed) exhausted.push(claimed);
    } catch (error) {
      stuck.push(error);
    }
  }
  if (requeued.length > 0) onRequeued();
  if (stuck.length > 0) throw stuck[0];
  return { requeued, exhausted };
}

/** Puts a running job back, or ends it after its last attempt; null when it has changed since it was read. */
async function putBack(
  deps: EndJobDeps,
  job: Job,
  error: string | null,
  backOff: boolean,
  lastWord: LastWord | undefined,
): Promise<'requeued' | 'exhausted' | null> {
  const { maxAttempts, backoffMs } = optionsOf(job);
  if (job.attempts >= maxAttempts) return giveUp(deps, job, error, lastWord);
  const wait = backOff ? (backoffMs[job.attempts - 1] ?? backoffMs.at(-1) ?? 0) : 0;
  const rows = await asRead(deps.db, job).patch({
    state: 'queued',
    owner: null,
    lastError: error,
    runAfter: deps.now() + wait,
  });
  return rows === 0 ? null : 'requeued';
}

async function giveUp(
  { db, now }: EndJobDeps,
  job: Job,
  error: string | null,
  lastWord: LastWord | undefined,
): Promise<'exhausted' | null> {
  const claimed = toClaimed(job);
  if (claimed) await lastWord?.(claimed);
  const rows = await asRead(db, job).patch({
    state: 'failed',
    owner: null,
    lastError: error,
    finishedAt: now(),
  });
  return rows === 0 ? null : 'exhausted';
}

/** The job, as long as no other owner has it; its count of attempts may have been reset meanwhile (`madeHeadway`). */
const asRead = (db: Knex, { id, owner }: Job) => Job.query(db).where({ id, state: 'running', owner });

function optionsOf(job: Job) {
  return isJobType(job.type) ? JOB_OPTIONS[job.type] : { maxAttempts: 1, backoffMs: [] };
}
