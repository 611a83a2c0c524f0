import type { ClaimedJob, JobOutcome, JobQueue } from './job-queue.ts';
import type { JobType } from './job-types.ts';
import { detailOf } from '#server/error-detail.ts';

/** Main-thread side of one kind of work; given by `compose.ts`. */
export interface JobHandler {
  /**
   * Does the work. The signal aborts when the job was cancelled or the process stops; the handler then ends its
   * children and returns. A thrown error counts as a failure that is tried again.
   */
  run(job: ClaimedJob, signal: AbortSignal): Promise<JobOutcome>;
  /**
   * Called when the job is given up for good, before it leaves the queue; called again after a kill or a failure in
   * between.
   */
  exhausted(job: ClaimedJob): Promise<void>;
}

/** Kinds of work that share a number of slots, so that long repairs do not delay a mail. */
export interface Lane {
  readonly types: readonly JobType[];
  readonly concurrency: number;
}

export interface JobRunnerDeps {
  readonly queue: JobQueue;
  readonly handlers: Readonly<Record<JobType, JobHandler>>;
  readonly lanes: readonly Lane[];
  /** Names this process in the queue. */
  readonly owner: string;
  readonly logger: RunnerLogger;
  readonly heartbeatMs?: number;
  /** Time between looks for due work when nothing announces it. */
  readonly idleMs?: number;
  /** Age of a heartbeat after which another process takes the job back; null when there is no other process. */
  readonly staleMs: number | null;
}

export interface RunnerLogger {
  info(fields: Record<string, unknown>, message: string): void;
  warn(fields: Record<string, unknown>, message: string): void;
  error(fields: Record<string, unknown>, message: string): void;
}

export interface JobRunner {
  /** Takes back what an earlier process left behind, then begins work. */
  start(): Promise<void>;
  /** Stops a running job at once, after it was removed from the queue. */
  cancel(jobIds: readonly string[]): void;
  /**
   * Takes no more work, lets running jobs finish for `graceMs`, then stops them and puts them back without using up an
   * attempt.
   */
  drain(graceMs: number): Promise<void>;
  /** Number of running jobs. */
  running(): number;
}

const HEARTBEAT_MS = 2000;
const IDLE_MS = 2000;
/** Waits between attempts to record the end of a job; together longer than a database takes to restart. */
const END_WAITS_MS = [100, 1000, 5000, 20_000, 60_000];

interface Running {
  readonly job: ClaimedJob;
  readonly abort: AbortController;
  readonly ended: Promise<void>;
}

/** The loop between queue and handlers; see `JobRunner`. */
export function createJobRunner(deps: JobRunnerDeps): JobRunner {
  const { queue, handlers, logger, owner } = deps;
  const running = new Map<string, Running>();
  let stopping = false;
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let stopListening: () => void = () => undefined;
  let looking: Promise<void> = Promise.resolve();
  let halt: () => void = () => undefined;
  const halted = new Promise<void>((resolve) => {
    halt = resolve;
  });

  function look(): Promise<void> {
    looking = looking.then(fillLanes).catch((error: unknown) => {
      logger.error({ error: detailOf(error) }, 'looking for work failed');
    });
    return looking;
  }

  async function fillLanes(): Promise<void> {
    for (const lane of deps.lanes) {
      while (!stopping && countIn(lane) < lane.concurrency) {
        const job = await queue.claim(owner, lane.types);
        if (!job) break;
        begin(job);
      }
    }
  }

  function countIn(lane: Lane): number {
    return [...running.values()].filter((entry) => lane.types.includes(entry.job.type)).length;
  }

  function begin(job: ClaimedJob): void {
    const abort = new AbortController();
    const ended = work(job, abort).finally(() => {
      running.delete(job.id);
      if (!stopping) void look();
    });
    running.set(job.id, { job, abort, ended });
  }

  async function work(job: ClaimedJob, abort: AbortController): Promise<void> {
    const heart = setInterval(() => {
      queue.heartbeat(job.id, owner).then(
        (mine) => {
          if (!mine) abort.abort();
        },
        (error: unknown) => logger.warn({ jobId: job.id, error: detailOf(error) }, 'heartbeat failed'),
      );
    }, deps.heartbeatMs ?? HEARTBEAT_MS);
    try {
      logger.info({ jobId: job.id, type: job.type, attempt: job.attempt }, 'job started');
      await recordEnd(job, await runHandler(job, abort.signal));
    } catch (error) {
      // The row stays "running": it is taken back when its heartbeat is stale or at the next start.
      logger.error({ jobId: job.id, error: detailOf(error) }, 'the end of a job could not be recorded');
    } finally {
      clearInterval(heart);
    }
  }

  /** A short outage of the database must not leave a clip in processing until the next start. */
  async function recordEnd(job: ClaimedJob, outcome: JobOutcome): Promise<void> {
    for (let tries = 0; ; tries += 1) {
      try {
        const became = await queue.finish(job.id, owner, outcome, giveUp);
        logger.info({ jobId: job.id, type: job.type, outcome: outcome.kind, became }, 'job ended');
        return;
      } catch (error) {
        const waitMs = END_WAITS_MS[tries];
        if (waitMs === undefined || stopping) throw error;
        logger.warn({ jobId: job.id, error: detailOf(error) }, 'the end of a job is recorded later');
        await Promise.race([wait(waitMs), halted]);
      }
    }
  }

  async function runHandler(job: ClaimedJob, signal: AbortSignal): Promise<JobOutcome> {
    let outcome: JobOutcome;
    try {
      outcome = await handlers[job.type].run(job, signal);
    } catch (error) {
      logger.warn({ jobId: job.id, type: job.type, error: detailOf(error) }, 'job failed');
      outcome = { kind: 'failed', error: detailOf(error), retryable: true };
    }
    // The end of the process is not the job's failure, even where the platform signals the media tools directly.
    const worthAgain = signal.aborted || (outcome.kind === 'failed' && outcome.retryable);
    return stopping && worthAgain && outcome.kind !== 'done' ? { kind: 'interrupted' } : outcome;
  }

  const giveUp = (job: ClaimedJob) => handlers[job.type].exhausted(job);

  /** What cannot be taken back now is tried again: at the next look, or, with a single process, at its next start. */
  async function takeBack(staleMs: number): Promise<void> {
    try {
      const { requeued } = await queue.recover(staleMs, giveUp);
      if (requeued.length > 0) logger.warn({ jobs: requeued }, 'interrupted jobs were put back');
    } catch (error) {
      logger.error({ error: detailOf(error) }, 'taking jobs back failed');
    }
  }

  function schedule(): void {
    timer = setTimeout(() => {
      const before = deps.staleMs === null ? Promise.resolve() : takeBack(deps.staleMs);
      void before.then(look).then(() => {
        if (!stopped) schedule();
      });
    }, deps.idleMs ?? IDLE_MS);
    timer.unref();
  }

  return {
    async start() {
      await takeBack(deps.staleMs ?? 0);
      stopListening = queue.onEnqueued(() => void look());
      schedule();
      await look();
    },
    cancel(jobIds) {
      for (const id of jobIds) running.get(id)?.abort.abort();
    },
    async drain(graceMs) {
      stopping = true;
      stopped = true;
      halt();
      clearTimeout(timer);
      stopListening();
      await looking;
      const all = Promise.all([...running.values()].map((entry) => entry.ended));
      await Promise.race([all, wait(graceMs)]);
      for (const entry of running.values()) entry.abort.abort();
      await all;
    },
    running: () => running.size,
  };
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}
