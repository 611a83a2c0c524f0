import type { TimeBase } from '#server/media/time-base.ts';
import type { MediaInfo } from '#server/media/probe/probe.ts';
import type { DefectCurve, DefectKind } from '#common/report.ts';
import type { MendedSpan } from '../mended-pictures.ts';
import type { KeptPictures } from './decode/kept-pictures.ts';

/** A measured value and the threshold it is compared with, before any repair. */
export interface MeasuredValue {
  readonly name: string;
  readonly unit: string;
  readonly threshold: number | null;
  readonly value: number;
}

/**
 * The displayed pictures of a clip in display order. They come from the packets, and from the decoder where the
 * container stores no display times (AVI). Ticks are of the video stream's time base.
 */
export interface PictureTimes {
  readonly timeBase: TimeBase;
  /** Presentation time of each picture, in display order and after edit lists; same origin as in ffprobe's output. */
  readonly ptsTicks: readonly number[];
  /** Whether a decoder may start at each picture (sync sample). */
  readonly keyframe: readonly boolean[];
  /** Usual distance between two pictures: the median interval, ticks. */
  readonly medianIntervalTicks: number;
  /** True when the intervals take two or more values throughout: the rate is variable by nature, nothing was lost. */
  readonly variableByNature: boolean;
}

/** Facts that a repair needs beside the span; they differ by kind. */
export type FindingDetail =
  | {
      readonly kind: 'stuttered_cut';
      /**
       * `inserted`: the clip grew longer, remove the repeats. `held`: pictures were lost under the hold, rebuild them.
       */
      readonly history: 'inserted' | 'held';
      readonly startsAtCut: boolean;
      readonly endsAtCut: boolean;
    }
  | {
      readonly kind: 'dropped_frames';
      /** `timestamp_gap`: a gap in the times. `hidden`: the times are regular, but the motion jumps. */
      readonly history: 'timestamp_gap' | 'hidden';
      /** True when a scene cut lies inside the gap: never interpolate across it. */
      readonly acrossCut: boolean;
      /**
       * `between` (the default): `firstFrame` is the last picture before the gap, `lastFrame` the first after it.
       * `instead`: pictures `firstFrame` to `lastFrame` are repeats in the places of the lost ones; rebuild them there.
       */
      readonly placement?: 'between' | 'instead';
    }
  | {
      readonly kind: 'corrupted_section';
      /** Which check saw it first. */
      readonly evidence: 'structure' | 'decoder' | 'picture';
      /** Number of pictures that never came out of the decoder. Other pictures of the span are only damaged. */
      readonly undecodedFrames: number;
      /**
       * Display numbers of pictures whose own coded data are damaged, ascending; the other pictures of the span may
       * only refer to them. Absent when unknown.
       */
      readonly damagedDataFrames?: readonly number[];
      /**
       * Damaged pictures of the same group that an edit list hides before the first shown one. Their numbers are below
       * 0; the last of them is -1.
       */
      readonly hiddenDataFrames?: readonly number[];
      /** True when only data beside the pictures are damaged, so that the pictures look right. */
      readonly besideOnly?: boolean;
    }
  | {
      readonly kind: 'audio_sync';
      readonly evidence: 'container' | 'content';
      /** Sound minus picture at the start, ms; positive: sound is late. */
      readonly offsetMs: number;
      /** (sound clock / picture clock - 1) x 1e6; positive: sound lasts too long. */
      readonly driftPpm: number;
      /** What the drift was measured by; `timestamps` when absent. */
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
      /** True when the signs suffice only because somebody heard the wind. */
      readonly isHeard?: boolean;
    }
  | { readonly kind: 'shaky_footage' }
  | { readonly kind: 'poor_lighting' }
  | { readonly kind: 'blurry_section' };

/** A value measured over the time of the clip, before any repair; at most `MAX_CURVE_POINTS` points. */
export interface MeasuredCurve extends Pick<DefectCurve, 'quantity' | 'unit' | 'source'> {
  readonly points: readonly { readonly atMs: number; readonly value: number }[];
}

/** One defect as a detector saw it. Frame numbers are in display order of the original, both ends included. */
export interface Finding {
  readonly kind: DefectKind;
  readonly startMs: number;
  readonly endMs: number;
  readonly firstFrame: number | null;
  readonly lastFrame: number | null;
  /** Number of repeated, missing or damaged pictures; 1 for sound and flags. */
  readonly count: number;
  /** 0 to 1; repairs act only at or above `ACT_CONFIDENCE`. */
  readonly confidence: number;
  readonly detector: string;
  /** `result`: it only showed in a first result, once other defects near it were repaired. Absent for all others. */
  readonly foundIn?: 'result';
  readonly measure: MeasuredValue;
  readonly curve?: MeasuredCurve;
  readonly detail: FindingDetail;
}

/** Confidence from which a repair acts. Below it, the report names the finding and nothing is changed. */
export const ACT_CONFIDENCE = 0.6;

/** A stretch in which somebody speaks, for caption timing. */
export interface SpeechSpan {
  readonly startMs: number;
  readonly endMs: number;
}

/** Everything known about a clip before anything is changed. */
export interface Analysis {
  readonly info: MediaInfo;
  readonly pictures: PictureTimes | null;
  /** Display numbers of the first picture of each new shot. */
  readonly sceneCuts: readonly number[];
  readonly findings: readonly Finding[];
  readonly speech: readonly SpeechSpan[];
  /** End of the last coded frame of the sound, ms; absent when unknown. */
  readonly soundEndMs?: number;
  /**
   * Pictures that an earlier repair rebuilt, or kept with their damage concealed, by the file's own record; absent when
   * it has none.
   */
  readonly mended?: readonly MendedSpan[];
  /** How far somebody moved the sound by hand, by the file's own record, ms; absent if nobody did. */
  readonly soundMovedMs?: number;
  /** Display number of a picture fit for a poster: not black, not damaged. */
  readonly posterFrame: number | null;
  /** The measured small pictures, so that they can be looked at again; absent when they were not kept. */
  readonly kept?: KeptPictures;
  /** Remarks for the report, e.g. "natural variable frame rate: intervals of 67 and 100 ms". */
  readonly notes: readonly string[];
}
