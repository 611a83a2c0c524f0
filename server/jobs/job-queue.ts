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

/** Why a claimed job ended. `interrupted` and `waiting` put it back without using up an attempt; the latter for later. */
export type JobOutcome =
  | { readonly kind: 'done' }
  | { readonly kind: 'interrupted' }
  | { readonly kind: 'waiting'; readonly reason: string; readonly forMs: number }
  | { readonly kind: 'failed'; readonly error: string; readonly retryable: boolean };

/**
 * Says that a job is given up, before it leaves the queue: after a kill in between it is said again, so that nothing waits for ever for
 * work that nobody does any more. While it throws, the job stays.
 */
export type LastWord = (job: ClaimedJob) => Promise<void>;

/** Port of the queue; every adapter passes the same contract test. */
export interface JobQueue {
  enqueue<Type extends JobType>(
    type: Type,
    payload: JobPayload<Type>,
    options?: EnqueueOptions,
  ): Promise<string>;
  /** Takes the next due job for `owner`, or null. Counts the attempt at the start. */
  claim(owner: string, types: readonly JobType[]): Promise<ClaimedJob | null>;
  /** Says that the job is alive. @returns false when the job is no longer this owner's (cancelled, taken back) */
  heartbeat(jobId: string, owner: string): Promise<boolean>;
  /**
   * Says that a running job finished a part of its work for good, so that its earlier interruptions no
   * longer count: only a job that is stuck at one place is given up.
   */
  madeHeadway(jobId: string): Promise<void>;
  /** @returns what became of the job: `requeued`, `done`, or `exhausted` after the last attempt; null when it was not this owner's any more */
  finish(
    jobId: string,
    owner: string,
    outcome: JobOutcome,
    lastWord?: LastWord,
  ): Promise<'done' | 'requeued' | 'exhausted' | null>;
  /** Takes one queued or running job out of the queue; one that has ended stays as it is. */
  cancel(jobId: string, trx?: Transaction): Promise<void>;
  /** Takes queued or running jobs of a video out of the queue. @returns ids that were running */
  cancelForVideo(videoId: string, trx?: Transaction): Promise<string[]>;
  /**
   * Puts running jobs whose heartbeat is older than `staleMs` back, or ends them after the last attempt; 0, at the start of a single
   * process, means all, also where the clock was set back meanwhile.
   * @throws what `lastWord` threw first, after all other jobs were looked at
   */
  recover(staleMs: number, lastWord?: LastWord): Promise<{ requeued: string[]; exhausted: ClaimedJob[] }>;
  /** Queued jobs that run before this video's, or null when it is not waiting. */
  positionOfVideo(videoId: string): Promise<number | null>;
  /** Called when a job may have become due, so that the runner need not wait for its next look. */
  onEnqueued(listener: () => void): () => void;
}
