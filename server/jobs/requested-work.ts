import type { Knex } from 'knex';
import type { ModelClass, RawBuilder } from 'objection';
import { AT_WORK, isAtWork } from '#common/is-at-work.ts';
import type { RequestRow } from '#db/models/request-row.ts';
import { AppError } from '#server/errors.ts';
import type { EventBus } from '#server/events.ts';
import type { JobQueue } from './job-queue.ts';
import type { JobType } from './job-types.ts';

/** Work that people ask for of a finished video, of which a video has one request at a time. */
type RequestedJob = Extract<JobType, 'apply-fixes' | 'burn-captions' | 'hear-words' | 'export-video'>;

export interface RequestRowsDeps<Row extends RequestRow> {
  readonly db: Knex;
  readonly model: ModelClass<Row> & { readonly tableName: string };
  readonly now: () => number;
  /** Set with every change, for rows that count theirs. */
  readonly rise?: () => { readonly revision: RawBuilder };
  /** Lets pages know of a change. */
  readonly announce?: (videoId: string) => Promise<void> | void;
}

/** The rows as the job sees them that works on one. */
export interface RequestRows<Row extends RequestRow> {
  /** Changes the row of one request; a later one and one that has ended or was cancelled stay as they are. */
  tell(row: Pick<Row, 'videoId' | 'jobId'>, change: Partial<Row>): Promise<void>;
}

export interface RequestedWorkDeps<Row extends RequestRow> extends RequestRowsDeps<Row> {
  readonly type: RequestedJob;
  readonly queue: Pick<JobQueue, 'enqueue' | 'cancel'>;
  readonly events: EventBus;
}

export interface Wish<Row extends RequestRow> {
  readonly video: { readonly id: string; readonly userId: string };
  /** Columns of the first row of a video that must not be empty, as the table calls them. */
  readonly blank: Readonly<Record<string, string | number>>;
  /** What the row says of it. */
  readonly change: Partial<Row>;
  /** Whether a request that is at work is this very one. */
  readonly isSame: (row: Row) => boolean;
  /** Why another one cannot be taken while one is at work; null lets the new one take its place. */
  readonly busy: string | null;
  /** Of the job; default 0. */
  readonly priority?: number;
}

/** The rows as the feature sees them that takes requests. */
export interface RequestedWork<Row extends RequestRow> {
  /**
   * Queues one job; the same request again while it is at work is the same job.
   * @returns the job, and whether it was queued now
   * @throws AppError `conflict` while another request is at work
   */
  ask(wish: Wish<Row>): Promise<{ jobId: string; begun: boolean }>;
  /**
   * Stops the request that waits or is at work, whose media tool ends at once; one that has ended stays as it is.
   * @param change what else the row forgets
   * @returns whether there was one
   */
  cancel(videoId: string, change?: Partial<Row>): Promise<boolean>;
}

/** See `RequestRows`. */
export function createRequestRows<Row extends RequestRow>(deps: RequestRowsDeps<Row>): RequestRows<Row> {
  const model: ModelClass<RequestRow> = deps.model;
  return {
    async tell({ videoId, jobId }, change) {
      const rows = await model
        .query(deps.db)
        .patch({ ...change, ...deps.rise?.(), updatedAt: deps.now() })
        .where({ videoId, jobId })
        .whereIn('state', [...AT_WORK]);
      if (rows > 0) await deps.announce?.(videoId);
    },
  };
}

/** See `RequestedWork`. */
export function createRequestedWork<Row extends RequestRow>(
  deps: RequestedWorkDeps<Row>,
): RequestedWork<Row> {
  const { db, queue, events, now, type } = deps;
  const model = deps.model;

  return {
    async ask({ video, blank, change, isSame, busy, priority = 0 }) {
      const videoId = video.id;
      const asked = await db.transaction(async (trx) => {
        const at = now();
        // The row is the lock: of parallel calls one makes or finds it, the others wait for that one.
        await trx(model.tableName)
          .insert({ video_id: videoId, job_id: '', state: 'failed', updated_at: at, ...blank })
          .onConflict('video_id')
          .ignore();
        const row = await model.query(trx).findById(videoId).forUpdate();
        const replaced = row && isAtWork(row) ? row.jobId : null;
        if (replaced !== null) {
          if (row instanceof model && isSame(row)) return { jobId: replaced, begun: false, replaced: null };
          if (busy !== null) throw new AppError('conflict', busy);
          await queue.cancel(replaced, trx);
        }
        const about = { trx, userId: video.userId, videoId, priority };
        const jobId = await queue.enqueue(type, { videoId }, about);
        await model
          .query(trx)
          .patch({
            ...change,
            jobId,
            state: 'waiting',
            progress: 0,
            message: null,
            ...deps.rise?.(),
            updatedAt: at,
          })
          .where({ videoId });
        return { jobId, begun: true, replaced };
      });
      if (asked.replaced !== null) events.emit('job.cancelled', { jobId: asked.replaced });
      return { jobId: asked.jobId, begun: asked.begun };
    },

    async cancel(videoId, change) {
      const jobId = await db.transaction(async (trx) => {
        const row = await model.query(trx).findById(videoId).forUpdate();
        if (!row || !isAtWork(row)) return null;
        await queue.cancel(row.jobId, trx);
        await model
          .query(trx)
          .patch({ ...change, state: 'cancelled', message: null, ...deps.rise?.(), updatedAt: now() })
          .where({ videoId });
        return row.jobId;
      });
      if (jobId === null) return false;
      events.emit('job.cancelled', { jobId });
      await deps.announce?.(videoId);
      return true;
    },
  };
}
