import type { Transaction } from 'objection';
import type { JobPayload, JobType } from './job-types.ts';

export interface EnqueueOptions {
  /** The job becomes visible with this transaction's commit. */
  readonly trx?: Transaction;
  /** Higher runs first; default 0. */
  readonly priority?: number;
  readonly userId?: string;
  readonly videoId?: string;
  /** Epoch ms before which the job does not run. */
  readonly runAfter?: number;
}

export interface ClaimedJob {
  readonly id: string;
  readonly type: JobType;
  readonly payload: unknown;
  /** 1 for the first run. */
  readonly attempt: number;
  readonly userId: string | null;
  readonly videoId: string | null;
}

/**
 * Why a claimed job ended. `interrupted` and `waiting` put it back without using up an attempt; `waiting` for a later
 * time.
 */
export type JobOutcome =
  | { readonly kind: 'done' }
  | { readonly kind: 'interrupted' }
  | { readonly kind: 'waiting'; readonly reason: string; readonly forMs: number }
  | { readonly kind: 'failed'; readonly error: string; readonly retryable: boolean };

/**
 * Tells that a job is given up, before it leaves the queue. After a kill in between it is told again, so that nothing
 * waits for ever for work that no one does any more. While it throws, the job stays.
 */
export type LastWord = (job: ClaimedJob) => Promise<void>;

/** Port of the queue; every adapter passes the same contract test. */
export interface JobQueue {
  enqueue<Type extends JobType>(
    type: Type,
    payload: JobPayload<Type>,
    options?: EnqueueOptions,
  ): Promise<string>;
  /** Takes the next due job for `owner`, or null. The attempt is counted at its start. */
  claim(owner: string, types: readonly JobType[]): Promise<ClaimedJob | null>;
  /**
   * Tells that the job is alive.
   * @returns false when the job is no longer this owner's (cancelled, taken back)
   */
  heartbeat(jobId: string, owner: string): Promise<boolean>;
  /**
   * Tells that a running job finished a part of its work for good, so that its earlier interruptions no longer count.
   * Only a job that is stuck at one place is given up.
   */
  madeHeadway(jobId: string): Promise<void>;
  /**
   * @returns what became of the job: `requeued`, `done`, or `exhausted` after the last attempt; null when it was no
   * longer this owner's
   */
  finish(
    jobId: string,
    owner: string,
    outcome: JobOutcome,
    lastWord?: LastWord,
  ): Promise<'done' | 'requeued' | 'exhausted' | null>;
  /** Takes one queued or running job out of the queue; one that has ended stays as it is. */
  cancel(jobId: string, trx?: Transaction): Promise<void>;
  /**
   * Takes queued or running jobs of a video out of the queue.
   * @returns ids that were running
   */
  cancelForVideo(videoId: string, trx?: Transaction): Promise<string[]>;
  /**
   * Puts running jobs back whose heartbeat is older than `staleMs`, or ends them after the last attempt. 0, for the
   * start of a single process, means all jobs, even if the clock was set back meanwhile.
   * @throws the first error of `lastWord`, after all other jobs were handled
   */
  recover(staleMs: number, lastWord?: LastWord): Promise<{ requeued: string[]; exhausted: ClaimedJob[] }>;
  /** Queued jobs that run before this video's, or null when it is not waiting. */
  positionOfVideo(videoId: string): Promise<number | null>;
  /** Called when a job may have become due, so that the runner need not wait for its next look. */
  onEnqueued(listener: () => void): () => void;
}
