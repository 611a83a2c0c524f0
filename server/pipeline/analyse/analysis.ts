import type { TimeBase } from '#server/media/time-base.ts';
import type { MediaInfo } from '#server/media/probe/probe.ts';
import type { DefectCurve, DefectKind } from '#common/report.ts';
import type { MendedSpan } from '../mended-pictures.ts';
import type { KeptPictures } from './decode/kept-pictures.ts';

/** A value with the limit it is held against, before any repair. */
export interface MeasuredValue {
  readonly name: string;
  readonly unit: string;
  readonly threshold: number | null;
  readonly value: number;
}

/**
 * The displayed pictures of a clip in display order, from the packets and (for AVI and other containers
 * without display times) from the decoder. Ticks are of the video stream's time base.
 */
export interface PictureTimes {
  readonly timeBase: TimeBase;
  /** Presentation time of each picture, display order, after edit lists; same origin as ffprobe prints. */
  readonly ptsTicks: readonly number[];
  /** True where a decoder may start (sync sample). */
  readonly keyframe: readonly boolean[];
  /** Usual distance of two pictures: the median interval in ticks. */
  readonly medianIntervalTicks: number;
  /** True when the intervals take two or more values all through: variable by nature, not by loss. */
  readonly variableByNature: boolean;
}

/** Kind-specific facts that a repair needs beside the span. */
export type FindingDetail =
  | {
      readonly kind: 'stuttered_cut';
      /** `inserted`: total time grew, remove the repeats. `held`: pictures were lost under the hold, rebuild. */
      readonly history: 'inserted' | 'held';
      readonly startsAtCut: boolean;
      readonly endsAtCut: boolean;
    }
  | {
      readonly kind: 'dropped_frames';
      /** `timestamp_gap`: a hole in the times. `hidden`: constant rate, but the motion jumps. */
      readonly history: 'timestamp_gap' | 'hidden';
      /** True when a scene cut lies inside the hole: never interpolate across it. */
      readonly acrossCut: boolean;
      /**
       * `between` (also when absent): `firstFrame` is the last picture before the hole, `lastFrame` the first
       * behind it. `instead`: pictures `firstFrame` to `lastFrame` are repeats that stand where the lost ones
       * were; rebuild them in place.
       */
      readonly placement?: 'between' | 'instead';
    }
  | {
      readonly kind: 'corrupted_section';
      /** Who saw it first. */
      readonly evidence: 'structure' | 'decoder' | 'picture';
      /** Pictures that never came out of the decoder; those inside the span but not listed are only damaged. */
      readonly undecodedFrames: number;
      /**
       * Pictures whose own coded data are damaged, rising; the others of the span may only refer to them. Absent
       * where that is not known.
       */
      readonly damagedDataFrames?: readonly number[];
      /**
       * Pictures that an edit list hides before the first shown one, whose own coded data are damaged, in the group of the span:
       * numbers below 0, -1 for the last of them.
       */
      readonly hiddenDataFrames?: readonly number[];
      /** True where only what stands beside the pictures is damaged, so that they look as they should. */
      readonly besideOnly?: boolean;
    }
  | {
      readonly kind: 'audio_sync';
      readonly evidence: 'container' | 'content';
      /** Sound minus picture at the start, ms; positive: sound is late. */
      readonly offsetMs: number;
      /** (sound clock / picture clock - 1) x 1e6; positive: sound lasts too long. */
      readonly driftPpm: number;
      /** Who shows the drift; `timestamps` when absent. */
      readonly driftSource?: 'timestamps' | 'content';
      /** Missing stretches of sound, ms on the output time axis. */
      readonly holes: readonly { readonly startMs: number; readonly durationMs: number }[];
    }
  | {
      readonly kind: 'wind_noise';
      readonly spans: readonly {
        readonly startMs: number;
        readonly endMs: number;
        readonly levelDb: number;
      }[];
    }
  | { readonly kind: 'shaky_footage' }
  | { readonly kind: 'poor_lighting' }
  | { readonly kind: 'blurry_section' };

/** A figure over the time of the clip, before any repair; at most `MAX_CURVE_POINTS` points. */
export interface MeasuredCurve extends Pick<DefectCurve, 'quantity' | 'unit' | 'source'> {
  readonly points: readonly { readonly atMs: number; readonly value: number }[];
}

/** One defect as a detector saw it. Frame numbers are display order in the original, both ends included. */
export interface Finding {
  readonly kind: DefectKind;
  readonly startMs: number;
  readonly endMs: number;
  readonly firstFrame: number | null;
  readonly lastFrame: number | null;
  /** Repeated, missing or damaged pictures; 1 for sound and flags. */
  readonly count: number;
  /** 0 to 1; repairs act only at or above `ACT_CONFIDENCE`. */
  readonly confidence: number;
  readonly detector: string;
  /** `result`: it showed only in a first result, once the defects beside it were mended; absent for all others. */
  readonly foundIn?: 'result';
  readonly measure: MeasuredValue;
  readonly curve?: MeasuredCurve;
  readonly detail: FindingDetail;
}

/** Confidence from which a repair acts; below it the report names the finding and leaves it alone. */
export const ACT_CONFIDENCE = 0.6;

/** Stretch in which somebody speaks, for caption timing. */
export interface SpeechSpan {
  readonly startMs: number;
  readonly endMs: number;
}

/** Everything known about a clip before anything is changed. */
export interface Analysis {
  readonly info: MediaInfo;
  readonly pictures: PictureTimes | null;
  /** First picture of each new shot, display order. */
  readonly sceneCuts: readonly number[];
  readonly findings: readonly Finding[];
  readonly speech: readonly SpeechSpan[];
  /** Where the last coded frame of the sound ends; absent where that is not known. */
  readonly soundEndMs?: number;
  /** Pictures that the file says an earlier repair has made or kept with their damage concealed; absent where it says nothing. */
  readonly mended?: readonly MendedSpan[];
  /** Display-order number of a picture fit for a poster: not black, not damaged. */
  readonly posterFrame: number | null;
  /** The small pictures that were measured, for a later look at the same ones; absent when they were not kept. */
  readonly kept?: KeptPictures;
  /** Remarks for the report, e.g. "natural variable frame rate: intervals of 67 and 100 ms". */
  readonly notes: readonly string[];
}
