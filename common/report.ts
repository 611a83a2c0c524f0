import { z } from 'zod';
import { noticedMarks } from './noticed.ts';
import { processingStepId, stepState } from './video.ts';

/**
 * The repair report of one video: what was wrong, where, how it was measured, what was done and how the result was
 * checked. With original, result and report anybody can confirm each line with ffmpeg alone. All times are milliseconds
 * on the presentation time axis of the file named beside them; frame numbers count displayed pictures from 0.
 */
export const DEFECT_KINDS = [
  'stuttered_cut',
  'dropped_frames',
  'corrupted_section',
  'audio_sync',
  'wind_noise',
  'shaky_footage',
  'poor_lighting',
  'blurry_section',
] as const;
export const defectKind = z.enum(DEFECT_KINDS);
export type DefectKind = z.infer<typeof defectKind>;

/** Name of the figure of a loss that no single step shows: how all parts of the picture move tells. */
export const ODDS_OF_A_LOSS = 'odds that frames are missing, by how far all parts move';

/** One measured figure, with the limit that it is compared with. */
export const measure = z.object({
  /** Name of the figure in plain words, e.g. "repeated frames", "offset". */
  name: z.string(),
  /** Unit of all three values: frames, ms, dB, ratio, ppm, samples... */
  unit: z.string(),
  /** Limit from which the figure counts as a defect. */
  threshold: z.number().nullable(),
  before: z.number().nullable(),
  /** The same figure measured again on the result; null when nothing was changed. */
  after: z.number().nullable(),
});
export type Measure = z.infer<typeof measure>;

/** Maximum number of points of a curve: enough to draw it, small in every report. */
export const MAX_CURVE_POINTS = 60;

/**
 * A defect's figure over the time of the clip, measured on the original and again on the result. Optional: clips that
 * are too short or give no evidence have none.
 */
export const defectCurve = z.object({
  /**
   * `sync_offset`: sound minus picture in ms, positive when the sound is late. `low_band_level`: background level from
   * 60 to 500 Hz in dBFS, one point per second or longer.
   */
  quantity: z.enum(['sync_offset', 'low_band_level']),
  unit: z.enum(['ms', 'dBFS']),
  /** What was measured: timestamps of the container, events both seen and heard, or the samples of the sound. */
  source: z.enum(['container', 'content', 'samples']),
  points: z
    .array(
      z.object({
        /** Time on the axis of the original, ascending. */
        atMs: z.number(),
        before: z.number(),
        /** The figure on the result; null when nothing was changed or there was too little to measure. */
        after: z.number().nullable(),
      }),
    )
    .max(MAX_CURVE_POINTS),
});
export type DefectCurve = z.infer<typeof defectCurve>;

export const repairAction = z.enum([
  'none',
  'removed_repeats',
  'rebuilt_frames',
  'retimed_frames',
  'held_frames',
  'concealed_frames',
  'shifted_audio',
  'resampled_audio',
  'filled_audio',
  'suppressed_wind',
  'rebuilt_index',
  // The same where the end of the clip is missing for good.
  'rebuilt_rest',
  'restored_bytes',
  'remuxed',
]);
export type RepairAction = z.infer<typeof repairAction>;

/** Whether a new index was written, for all of the clip or for what is left of it. */
export const isRebuiltIndex = (action: RepairAction): boolean =>
  action === 'rebuilt_index' || action === 'rebuilt_rest';

/** Whether a repair makes a clip playable that is not as it was recorded. */
export const makesPlayable = (action: RepairAction): boolean =>
  action === 'concealed_frames' || action === 'rebuilt_rest';

export const defectOutcome = z.enum(['repaired', 'left_alone', 'flagged']);

export const defect = z.object({
  /** Stable within one report: kind and running number, e.g. "stuttered_cut-1". */
  id: z.string(),
  kind: defectKind,
  startMs: z.number(),
  endMs: z.number(),
  /** First and last damaged picture of the original in display order; null for sound. */
  firstFrame: z.number().int().nullable(),
  lastFrame: z.number().int().nullable(),
  /** Number of defects in this entry: repeated, missing or damaged frames; 1 for a span. */
  count: z.number().int().nonnegative(),
  /** 0 to 1. */
  confidence: z.number().min(0).max(1),
  /** Name of the detector, so that it can be run again. */
  detector: z.string(),
  /**
   * `result`: found only in a first result, after the defects beside it were repaired. Absent for defects that the
   * original shows.
   */
  foundIn: z.literal('result').optional(),
  measure,
  /** The figure over time, for sync and wind. */
  curve: defectCurve.optional(),
  action: repairAction,
  outcome: defectOutcome,
  /** One sentence for people: what was done, or why it was left unchanged. */
  explanation: z.string(),
});
export type Defect = z.infer<typeof defect>;

export const mediaSummary = z.object({
  container: z.string(),
  durationMs: z.number(),
  videoCodec: z.string().nullable(),
  width: z.number().int().nullable(),
  height: z.number().int().nullable(),
  rotation: z.number().int().nullable(),
  frameCount: z.number().int().nullable(),
  /** Average pictures per second. */
  frameRate: z.number().nullable(),
  variableFrameRate: z.boolean().nullable(),
  audioCodec: z.string().nullable(),
  sampleRateHz: z.number().int().nullable(),
  channels: z.number().int().nullable(),
});
export type MediaSummary = z.infer<typeof mediaSummary>;

/** How one stream of the result was produced. */
export const streamTreatment = z.object({
  treatment: z.enum(['absent', 'untouched', 'copied', 'smart_render', 'full_encode']),
  /** Why no gentler treatment was possible; null when nothing gentler exists. */
  reason: z.string().nullable(),
  /** Coded frames (video) or packets (audio) carried over byte for byte, and the total in the original. */
  unitsKept: z.number().int().nullable(),
  unitsTotal: z.number().int().nullable(),
});
export type StreamTreatment = z.infer<typeof streamTreatment>;

/** One check made on the result before it was published. */
export const resultCheck = z.object({
  name: z.string(),
  passed: z.boolean(),
  detail: z.string(),
});
export type ResultCheck = z.infer<typeof resultCheck>;

/** How much is missing at the end of a clip that was cut off, according to its index. */
export const lostEnds = z.object({
  pictureMs: z.number().nonnegative(),
  soundMs: z.number().nonnegative(),
});
export type LostEnds = z.infer<typeof lostEnds>;

/**
 * How the sound moved: what is heard at `t` ms of the original is heard at `startMs + (t + shiftMs - startMs) *
 * stretch` of the result.
 */
export const soundMove = z.object({
  shiftMs: z.number(),
  startMs: z.number(),
  stretch: z.number().positive(),
});
export type SoundMove = z.infer<typeof soundMove>;

export const stepRecord = z.object({
  step: processingStepId,
  state: stepState,
  /** Wall time in milliseconds; null when the step did not run. */
  tookMs: z.number().nullable(),
  note: z.string(),
});
export type StepRecord = z.infer<typeof stepRecord>;

/** Timed caption cue; `text` is null when no speech engine is configured: text is never invented. */
export const captionCue = z.object({
  startMs: z.number(),
  endMs: z.number(),
  text: z.string().nullable(),
  source: z.enum(['timing_only', 'engine', 'imported']),
  confidence: z.number().min(0).max(1).nullable(),
});
export type CaptionCue = z.infer<typeof captionCue>;

export const REPORT_SCHEMA = 'reelmend.report/1';

export const repairReport = z.object({
  schema: z.literal(REPORT_SCHEMA),
  createdAt: z.string(),
  /** `unchanged`: nothing was wrong, the result is the original byte for byte (N15). */
  outcome: z.enum(['unchanged', 'repaired']),
  original: z.object({ sha256: z.string(), sizeBytes: z.number(), media: mediaSummary }),
  result: z.object({ sha256: z.string(), sizeBytes: z.number(), media: mediaSummary }),
  tools: z.object({ reelmend: z.string(), ffmpeg: z.string() }),
  video: streamTreatment,
  audio: streamTreatment,
  /**
   * What somebody marked in a finished clip, which is then the original of this report. At marks, slighter signs
   * suffice. Omitted for the repair of an upload.
   */
  marked: noticedMarks.optional(),
  /** Omitted when the sound keeps its times. */
  soundMove: soundMove.optional(),
  /** Omitted when the upload was not cut off. */
  lostEnds: lostEnds.optional(),
  steps: z.array(stepRecord),
  defects: z.array(defect),
  checks: z.array(resultCheck),
  captions: z.array(captionCue),
  /** Remarks about the whole file, e.g. "the index was lost and has been rebuilt". */
  notes: z.array(z.string()),
});
export type RepairReport = z.infer<typeof repairReport>;
