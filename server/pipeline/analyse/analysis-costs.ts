import type { AudioStreamInfo, VideoStreamInfo } from '#server/media/probe/probe.ts';
import { maySplit, splitsAt } from './decode/decode-halves.ts';

/**
 * Expected times of the parts of an analysis, ms on two idle cores; they are the weights of its progress. Measured on
 * 2026-11-26 in processor time, so that other work on the machine does not count: that of the job's busiest thread, or
 * half of all its threads if that is more.
 */
/** Reading the header, listing the packets, and starting the decoders. */
const OPEN_MS = 400;
/**
 * Work after the decode: the detectors, and the second check of some slices' ends, for which their groups are decoded
 * again.
 */
const JUDGE_MS = 120;
const JUDGE_MS_A_MEGAPIXEL = 350;
/** Decoding and measuring one picture with two decoders: a fixed part, and a part for each megapixel. */
const PICTURE_MS = 0.26;
const MEGAPIXEL_MS = 1.2;
/** How much longer one decoder takes than two. Two share the cores with the measuring and with the sound. */
const ALONE = 1.6;
/** One second of sound, which is decoded at the same time. */
const SOUND_MS_A_SECOND = 8;
/** How much longer the analysis of a damaged clip takes, because every picture is looked at twice: 1.7 to 2.4 times. */
export const DAMAGED_ANALYSIS = 2.2;

/** What the costs of a clip depend on. */
export interface ClipMeasures {
  readonly format: string;
  readonly durationMs: number | null;
  readonly video: readonly Pick<
    VideoStreamInfo,
    'width' | 'height' | 'frameRate' | 'frameCount' | 'durationMs' | 'codec'
  >[];
  readonly audio: readonly Pick<AudioStreamInfo, 'channels' | 'durationMs'>[];
}

/** @param keyframe whether a group begins at each picture; before that is known, one is assumed near the middle */
function decodeMs({ video, durationMs, audio, format }: ClipMeasures, keyframe?: readonly boolean[]): number {
  const stream = video[0];
  if (!stream) return 0;
  const seconds = (stream.durationMs ?? durationMs ?? 0) / 1000;
  const pictures = stream.frameCount ?? seconds * (stream.frameRate ?? 30);
  const megapixels = (stream.width * stream.height) / 1e6;
  const isSplit = maySplit(format, stream, pictures) && (keyframe === undefined || splitsAt(keyframe));
  const soundMs = audio.length > 0 ? seconds * SOUND_MS_A_SECOND : 0;
  return soundMs + pictures * (PICTURE_MS + MEGAPIXEL_MS * megapixels) * (isSplit ? 1 : ALONE);
}

function judgeMs({ video }: ClipMeasures): number {
  const stream = video[0];
  return stream ? JUDGE_MS + (JUDGE_MS_A_MEGAPIXEL * stream.width * stream.height) / 1e6 : JUDGE_MS;
}

/** Expected time of analysing an undamaged clip, ms. */
export function expectedAnalysisMs(info: ClipMeasures): number {
  return OPEN_MS + decodeMs(info) + judgeMs(info);
}

/**
 * Expected time of opening and decoding a clip, ms; damage does not change it.
 * @param keyframe whether a group begins at each picture
 */
export function expectedDecodedMs(info: ClipMeasures, keyframe: readonly boolean[]): number {
  return OPEN_MS + decodeMs(info, keyframe);
}

/** Share of the analysis that is done once the clip is open and its packets are listed, 0 to 1. */
export function openShare(info: ClipMeasures): number {
  return OPEN_MS / expectedAnalysisMs(info);
}

/** Share of the decode in the work that follows listing the packets, 0 to 1. */
export function decodeShare(info: ClipMeasures, isDamaged: boolean): number {
  const decode = decodeMs(info);
  const looks = isDamaged ? (DAMAGED_ANALYSIS - 1) * expectedAnalysisMs(info) : 0;
  return decode / (decode + judgeMs(info) + looks);
}
