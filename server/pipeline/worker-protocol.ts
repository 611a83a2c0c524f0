import { z } from 'zod';
import { fixOutcome } from '#common/api/quick-fixes.ts';
import { changeId, fixId, type FixId } from '#common/fixes.ts';
import { liveFindings } from '#common/live-findings.ts';
import type { Noticed, NoticedPlace } from '#common/noticed.ts';
import { mediaSummary, repairReport, stepRecord } from '#common/report.ts';
import type { ToolPaths } from '#server/media/ffmpeg/tools.ts';
import { fixesApplied, processingStepId, videoIssues } from '#common/video.ts';

/**
 * Messages between the main thread and a media thread. A thread gets paths and limits, sends progress over a
 * MessagePort and returns a value. It never throws for an expected failure, because an error loses its class on the way
 * (only the message survives).
 */
export interface ProcessVideoTask {
  readonly kind: 'process-video';
  readonly videoId: string;
  /** The untouched original, opened read-only. */
  readonly inputPath: string;
  readonly inputSha256: string;
  /**
   * Private folder of this video's job. It survives a killed attempt: finished steps leave their output and its hash
   * there, and the next attempt continues after them.
   */
  readonly workDir: string;
  readonly tools: ToolPaths;
  readonly limits: MediaLimits;
  /** Version of this program, for the report. */
  readonly reelmendVersion: string;
  /** Healthy earlier originals of the same account: references for a lost index (N9). */
  readonly referencePaths: readonly string[];
  /** Marked places, at which slighter signs suffice; then nothing else is changed. Absent for a repair. */
  readonly places?: readonly NoticedPlace[];
}

export interface MediaLimits {
  /** Most threads of one ffmpeg child. */
  readonly threads: number;
  /** x264 preset for what must be encoded. */
  readonly preset: 'veryfast' | 'faster' | 'medium';
  /** Most pixels of a picture that may be encoded here (memory); copied streams are not limited. */
  readonly maxEncodePixels: number;
  readonly maxDurationMs: number;
  /** Most pictures of a clip that may be analysed here (memory). */
  readonly maxPictures: number;
}

/** Messages of the thread over the port. */
export const workerMessage = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('progress'),
    step: processingStepId,
    /** Share of the whole job that is done, 0 to 1, measured and monotone. */
    share: z.number().min(0).max(1),
    /** Seconds left by the measured rate; null while unknown. */
    remainingSeconds: z.number().nonnegative().nullable(),
  }),
  z.object({ type: z.literal('steps'), steps: z.array(stepRecord) }),
  z.object({ type: z.literal('issues'), issues: videoIssues }),
  z.object({ type: z.literal('findings'), findings: liveFindings }),
]);
export type WorkerMessage = z.infer<typeof workerMessage>;

/** Messages of the main thread over the port. */
export interface CancelMessage {
  readonly type: 'cancel';
}

const MEDIA_FAILURE_CODES = [
  'not_a_video',
  'empty_file',
  'no_video_track',
  'unsupported_codec',
  'too_long',
  'too_large',
  'damaged_beyond_repair',
  'storage_full',
  'stalled',
  'timed_out',
  'tool_missing',
  'cancelled',
  'internal',
] as const;
const mediaFailureCode = z.enum(MEDIA_FAILURE_CODES);
export type MediaFailureCode = z.infer<typeof mediaFailureCode>;

/** Why a task failed; the same for every kind of work. */
const mediaFailure = z.object({
  ok: z.literal(false),
  code: mediaFailureCode,
  /** One sentence for people: the cause and what they can do. */
  message: z.string(),
  /** For the log only. */
  detail: z.string(),
});
export type FailedTask = z.infer<typeof mediaFailure>;

export const processVideoResult = z.discriminatedUnion('ok', [
  z.object({
    ok: z.literal(true),
    /** Finished clip inside `workDir`; null when nothing was wrong and the original is the result (N15). */
    resultPath: z.string().nullable(),
    resultSha256: z.string(),
    resultSizeBytes: z.number(),
    posterPath: z.string().nullable(),
    /** WebVTT file of the caption cues; null when no speech was heard. */
    captionsPath: z.string().nullable(),
    issues: videoIssues,
    fixesApplied,
    report: repairReport,
  }),
  mediaFailure,
]);
export type ProcessVideoResult = z.infer<typeof processVideoResult>;

/** Quick fixes of a finished clip; see `ProcessVideoTask` for what the two sides promise each other. */
export interface ApplyFixesTask {
  readonly kind: 'apply-fixes';
  readonly videoId: string;
  /** The current version, opened read-only. */
  readonly inputPath: string;
  readonly inputSha256: string;
  /** Private folder of this job; it survives a killed attempt, and pieces of platform files in it are reused. */
  readonly workDir: string;
  readonly tools: ToolPaths;
  readonly limits: MediaLimits;
  /** What was chosen, each once. */
  readonly fixes: readonly FixId[];
  /** What somebody noticed, asked for instead of quick fixes; `fixes` is then empty. */
  readonly noticed?: Noticed;
  /** Version of this project, for the report. */
  readonly reelmendVersion: string;
}

export const fixesMessage = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('fixes'),
    /** Share of the whole request that is done, 0 to 1, measured and monotone. */
    share: z.number().min(0).max(1),
    fixes: z.array(fixOutcome),
  }),
  /** A part of the work lies finished in the job's folder. */
  z.object({ type: z.literal('headway') }),
  /** A change that the tools gave up on, while the request went on. For the log only. */
  z.object({ type: z.literal('refusal'), fixes: z.array(changeId), detail: z.string() }),
]);
export type FixesMessage = z.infer<typeof fixesMessage>;

const madeFile = z.object({ path: z.string(), sha256: z.string(), sizeBytes: z.number() });

export const applyFixesResult = z.discriminatedUnion('ok', [
  z.object({
    ok: z.literal(true),
    /** The new version; null when no fix had anything to do. */
    clip: madeFile
      .extend({
        media: mediaSummary,
        /** Null if the pictures are those of the previous version. */
        posterPath: z.string().nullable(),
        /** How far this request moved the sound by hand, ms; absent if it did not. */
        soundMovedMs: z.number().optional(),
        /** What was mended where somebody marked it; absent for quick fixes. */
        report: repairReport.optional(),
      })
      .nullable(),
    exports: z.array(madeFile.extend({ fix: fixId })),
    fixes: z.array(fixOutcome),
  }),
  mediaFailure,
]);
export type ApplyFixesResult = z.infer<typeof applyFixesResult>;
