import { z } from 'zod';
import {
  captionCue,
  defectCurve,
  defectKind,
  defectOutcome,
  lostEnds,
  mediaSummary,
  repairAction,
  resultCheck,
  streamTreatment,
} from '#common/report.ts';
import type { MediaInfo } from '#server/media/probe/probe.ts';
import type { Analysis, Finding, FindingDetail } from '../analyse/analysis.ts';
import type { Verdict } from '../repair/picture-task.ts';
import type { PictureRepair } from '../repair/repair-pictures.ts';
import type { AnalysedClip } from './analyse-step.ts';
import type { Captions } from './caption-step.ts';
import type { ExportOutcome } from './export-step.ts';
import type { SoundRepair } from './sound-step.ts';

/**
 * Shapes of what the steps leave on disk for the next attempt. A file that another version of the program wrote does
 * not fit, and its step runs again. Objects are loose, so that a field missing from the shape is not lost.
 */
const fraction = z.looseObject({ num: z.number(), den: z.number() });
const spanMs = z.looseObject({ startMs: z.number(), endMs: z.number() });
const text = z.string().nullable();
const figure = z.number().nullable();

const videoStream = z.looseObject({
  index: z.number(),
  codec: z.string(),
  codecTag: z.string(),
  profile: text,
  width: z.number(),
  height: z.number(),
  rotation: z.number(),
  pixelFormat: text,
  frameRate: figure,
  baseFrameRate: figure,
  timeBase: fraction,
  startMs: figure,
  durationMs: figure,
  frameCount: figure,
  bitRate: figure,
  reorderDepth: z.number(),
  fieldOrder: text,
  colorSpace: text,
  colorTransfer: text,
  colorPrimaries: text,
  colorRange: text,
  sampleAspectRatio: text,
});

const audioStream = z.looseObject({
  index: z.number(),
  codec: z.string(),
  profile: text,
  sampleRateHz: z.number(),
  channels: z.number(),
  channelLayout: text,
  timeBase: fraction,
  startMs: figure,
  durationMs: figure,
  bitRate: figure,
  timesSway: z.boolean().optional(),
});

const containerFormat = z.enum(['mov', 'avi', 'matroska', 'mpegts', 'mpeg']);

const mediaInfo: z.ZodType<MediaInfo> = z.looseObject({
  format: containerFormat,
  rewrapped: z.looseObject({ from: containerFormat, missingPictures: z.number() }).optional(),
  isCutOff: z.boolean().optional(),
  lostEnds: lostEnds.optional(),
  notes: z.array(z.string()).optional(),
  sizeBytes: z.number(),
  startMs: figure,
  durationMs: figure,
  video: z.array(videoStream),
  audio: z.array(audioStream),
  others: z.array(z.string()),
  tags: z.record(z.string(), z.string()),
});

const findingDetail: z.ZodType<FindingDetail> = z.discriminatedUnion('kind', [
  z.looseObject({
    kind: z.literal('stuttered_cut'),
    history: z.enum(['inserted', 'held']),
    startsAtCut: z.boolean(),
    endsAtCut: z.boolean(),
  }),
  z.looseObject({
    kind: z.literal('dropped_frames'),
    history: z.enum(['timestamp_gap', 'hidden']),
    acrossCut: z.boolean(),
    placement: z.enum(['between', 'instead']).optional(),
  }),
  z.looseObject({
    kind: z.literal('corrupted_section'),
    evidence: z.enum(['structure', 'decoder', 'picture']),
    undecodedFrames: z.number(),
    damagedDataFrames: z.array(z.number()).optional(),
    hiddenDataFrames: z.array(z.number()).optional(),
    besideOnly: z.boolean().optional(),
  }),
  z.looseObject({
    kind: z.literal('audio_sync'),
    evidence: z.enum(['container', 'content']),
    offsetMs: z.number(),
    driftPpm: z.number(),
    holes: z.array(z.looseObject({ startMs: z.number(), durationMs: z.number() })),
  }),
  z.looseObject({ kind: z.literal('wind_noise'), spans: z.array(spanMs.extend({ levelDb: z.number() })) }),
  z.looseObject({ kind: z.literal('shaky_footage') }),
  z.looseObject({ kind: z.literal('poor_lighting') }),
  z.looseObject({ kind: z.literal('blurry_section') }),
]);

const finding: z.ZodType<Finding> = z.looseObject({
  kind: defectKind,
  startMs: z.number(),
  endMs: z.number(),
  firstFrame: figure,
  lastFrame: figure,
  count: z.number(),
  confidence: z.number(),
  detector: z.string(),
  measure: z.looseObject({ name: z.string(), unit: z.string(), threshold: figure, value: z.number() }),
  curve: z
    .looseObject({
      ...defectCurve.pick({ quantity: true, unit: true, source: true }).shape,
      points: z.array(z.looseObject({ atMs: z.number(), value: z.number() })),
    })
    .optional(),
  detail: findingDetail,
});

const analysis: z.ZodType<Analysis> = z.looseObject({
  info: mediaInfo,
  pictures: z
    .looseObject({
      timeBase: fraction,
      ptsTicks: z.array(z.number()),
      keyframe: z.array(z.boolean()),
      medianIntervalTicks: z.number(),
      variableByNature: z.boolean(),
    })
    .nullable(),
  sceneCuts: z.array(z.number()),
  findings: z.array(finding),
  speech: z.array(spanMs),
  mended: z
    .array(
      z.looseObject({
        first: z.number(),
        last: z.number(),
        isMade: z.boolean(),
        damagedData: z.array(z.number()),
      }),
    )
    .optional(),
  posterFrame: figure,
  kept: z
    .looseObject({
      size: z.looseObject({ width: z.number(), height: z.number() }),
      runs: z.array(
        z.looseObject({ path: z.string(), at: z.number(), first: z.number(), count: z.number() }),
      ),
    })
    .optional(),
  notes: z.array(z.string()),
});

export const storedClip: z.ZodType<AnalysedClip> = z.looseObject({
  path: z.string(),
  rebuilt: z.looseObject({ notes: z.array(z.string()) }).nullable(),
  analysis,
  indexFindings: z.array(finding),
  putBack: z
    .looseObject({
      findings: z.array(finding),
      pictures: z.number(),
      tookMs: z.number(),
    })
    .optional(),
  decodedMs: z.number(),
  ffmpegVersion: z.string(),
});

const verdict: z.ZodType<Verdict> = z.looseObject({
  finding,
  outcome: defectOutcome,
  action: repairAction,
  after: figure,
  curveAfter: z.array(figure).optional(),
  explanation: z.string(),
});

const pixels = z.discriminatedUnion('kind', [
  z.looseObject({ kind: z.literal('original'), frame: z.number(), intact: z.boolean().optional() }),
  z.looseObject({ kind: z.literal('raw'), path: z.string(), index: z.number() }),
]);

export const storedPictures: z.ZodType<readonly PictureRepair[]> = z.array(
  z.looseObject({
    span: z.looseObject({
      firstFrame: z.number(),
      endFrame: z.number(),
      pictures: z.array(z.looseObject({ ptsTicks: z.number(), pixels })),
      shiftAfterTicks: z.number(),
    }),
    verdict,
  }),
);

export const storedSound: z.ZodType<SoundRepair> = z.looseObject({
  audio: z.discriminatedUnion('kind', [
    z.looseObject({ kind: z.literal('copy'), shiftMs: z.number() }),
    z.looseObject({
      kind: z.literal('file'),
      path: z.string(),
      codec: z.literal('aac'),
      startMs: z.number(),
      shiftMs: z.number(),
      timeStretch: z.number(),
      spliced: z.object({ startMs: z.number(), framesKept: z.number(), framesTotal: z.number() }).optional(),
    }),
  ]),
  verdicts: z.array(verdict),
});

export const storedCaptions: z.ZodType<Captions> = z.looseObject({
  cues: z.array(captionCue),
  path: text,
});

export const storedExport: z.ZodType<ExportOutcome> = z.looseObject({
  resultPath: text,
  sha256: z.string(),
  sizeBytes: z.number(),
  media: mediaSummary,
  posterPath: text,
  video: streamTreatment,
  audio: streamTreatment,
  verdicts: z.array(verdict),
  checks: z.array(resultCheck),
  notes: z.array(z.string()),
});
