import type { JobHandler } from '../jobs/job-runner.ts';
import { JOB_PAYLOADS } from '../jobs/job-types.ts';
import type { Logger } from '../logger.ts';
import type { Mailer } from './mailer.ts';

/** Sends one queued mail; when the mail server is away, the job is retried later. */
export function createSendMailJob({ mailer, logger }: { mailer: Mailer; logger: Logger }): JobHandler {
  return {
    async run(job) {
      await mailer.send(JOB_PAYLOADS['send-mail'].parse(job.payload));
      return { kind: 'done' };
    },
    async exhausted(job) {
      logger.error({ jobId: job.id, userId: job.userId }, 'a mail could not be delivered and is given up');
    },
  };
}
