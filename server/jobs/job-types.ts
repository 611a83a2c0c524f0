import { z } from 'zod';

/** Every kind of queued work with the shape of its payload: ids only, checked again when claimed. */
export const JOB_PAYLOADS = {
  'process-video': z.object({ videoId: z.string() }),
  'make-preview': z.object({ versionId: z.string() }),
  'export-video': z.object({ videoId: z.string() }),
  'tell-storyline': z.object({ versionId: z.string() }),
  'apply-fixes': z.object({ videoId: z.string() }),
  'burn-captions': z.object({ videoId: z.string() }),
  'hear-words': z.object({ videoId: z.string() }),
  'send-mail': z.object({
    to: z.string(),
    subject: z.string(),
    text: z.string(),
    html: z.string(),
  }),
} as const;

export type JobType = keyof typeof JOB_PAYLOADS;
export type JobPayload<Type extends JobType> = z.infer<(typeof JOB_PAYLOADS)[Type]>;

export interface JobOptions {
  /** Number of starts after which the job is given up. */
  readonly maxAttempts: number;
  /** Waits before the second, third... start in milliseconds; the last one repeats. */
  readonly backoffMs: readonly number[];
}

/** How often and how soon each kind of work is tried again. */
export const JOB_OPTIONS: Readonly<Record<JobType, JobOptions>> = {
  'process-video': { maxAttempts: 3, backoffMs: [2000, 10_000] },
  'make-preview': { maxAttempts: 3, backoffMs: [2000, 10_000] },
  'export-video': { maxAttempts: 3, backoffMs: [2000, 10_000] },
  'tell-storyline': { maxAttempts: 3, backoffMs: [2000, 10_000] },
  'apply-fixes': { maxAttempts: 3, backoffMs: [2000, 10_000] },
  'burn-captions': { maxAttempts: 3, backoffMs: [2000, 10_000] },
  'hear-words': { maxAttempts: 3, backoffMs: [2000, 10_000] },
  // A mail server may be down for hours; a registration must outlast that.
  'send-mail': { maxAttempts: 20, backoffMs: [5000, 30_000, 60_000, 300_000] },
};

/** Whether a job that fails now is given up. */
export function isLastTry({ type, attempt }: { readonly type: JobType; readonly attempt: number }): boolean {
  return attempt >= JOB_OPTIONS[type].maxAttempts;
}

/** Work that reads or writes clips with ffmpeg; it shares the slots for that. */
export const MEDIA_WORK: readonly JobType[] = [
  'process-video',
  'export-video',
  'make-preview',
  'tell-storyline',
  'apply-fixes',
  'burn-captions',
  'hear-words',
];

export function isJobType(value: string): value is JobType {
  return value in JOB_PAYLOADS;
}
