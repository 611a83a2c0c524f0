import { z } from 'zod';

/** Every kind of queued work with the shape of its payload: ids only, checked again when claimed. */
export const JOB_PAYLOADS = {
  'process-video': z.object({ videoId: z.string() }),
  'send-mail': z.object({
    to: z.string(),
    subject: z.string(),
    text: z.string(),
    html: z.string(),
  }),
} as const;

export type JobType = keyof typeof JOB_PAYLOADS;
export type JobPayload<Type extends JobType> = z.infer<(typeof JOB_PAYLOADS)[Type]>;

export function isJobType(value: string): value is JobType {
  return value in JOB_PAYLOADS;
}
