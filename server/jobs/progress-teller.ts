import type { RunnerLogger } from './job-runner.ts';

export interface ProgressTellerOptions {
  /** Least time between two writes; a second where left out, as pages that wait read no more often. */
  readonly intervalMs?: number;
  readonly now: () => number;
  /** Takes whole percent, 99 at the most: that it is done is said when it is. */
  readonly write: (percent: number) => PromiseLike<unknown>;
  readonly logger: RunnerLogger;
  /** What the log names where a write failed. */
  readonly about: Readonly<Record<string, string>>;
}

/**
 * Tells the share of a job that is done, 0 to 1, a few times a second at the most; a write that fails costs only a bar that stands
 * still.
 */
export function createProgressTeller(options: ProgressTellerOptions) {
  const { intervalMs = 1000, now, write, logger, about } = options;
  let writtenAt = 0;
  /** @param atOnce true for news that cannot wait */
  return (share: number, atOnce = false): void => {
    if (!atOnce && now() - writtenAt < intervalMs) return;
    writtenAt = now();
    Promise.resolve(write(Math.min(99, Math.floor(share * 100)))).catch((error: unknown) => {
      logger.warn({ ...about, error: String(error) }, 'progress could not be written');
    });
  };
}
