import type { RunnerLogger } from './job-runner.ts';

export interface ProgressTellerOptions {
  /** Least time between two writes; a second where left out, because waiting pages read no more often. */
  readonly intervalMs?: number;
  readonly now: () => number;
  /** Takes whole percent, 99 at most; completion is recorded separately. */
  readonly write: (percent: number) => PromiseLike<unknown>;
  readonly logger: RunnerLogger;
  /** What the log names when a write failed. */
  readonly about: Readonly<Record<string, string>>;
}

/**
 * Records the finished share of a job, 0 to 1, a few times a second at most. After a failed write, only the progress
 * bar stands still.
 */
export function createProgressTeller(options: ProgressTellerOptions) {
  const { intervalMs = 1000, now, write, logger, about } = options;
  let writtenAt = 0;
  /** @param atOnce true for changes that cannot wait */
  return (share: number, atOnce = false): void => {
    if (!atOnce && now() - writtenAt < intervalMs) return;
    writtenAt = now();
    Promise.resolve(write(Math.min(99, Math.floor(share * 100)))).catch((error: unknown) => {
      logger.warn({ ...about, error: String(error) }, 'progress could not be written');
    });
  };
}
