import type { JobQueue } from './job-queue.ts';
import type { RunnerLogger } from './job-runner.ts';

export interface HeadwayDeps {
  readonly queue: Pick<JobQueue, 'madeHeadway'>;
  readonly logger: RunnerLogger;
}

/**
 * Records that a part of a job is finished for good (`JobQueue.madeHeadway`). If that cannot be written, the work goes
 * on.
 * @param about what the log names in that case
 */
export function noteHeadway(
  { queue, logger }: HeadwayDeps,
  jobId: string,
  about: Readonly<Record<string, string>>,
): void {
  queue.madeHeadway(jobId).catch((error: unknown) => {
    logger.warn({ ...about, error: String(error) }, 'headway was not noted');
  });
}
