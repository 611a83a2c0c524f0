import type { AudioStreamInfo, VideoStreamInfo } from '#server/media/probe/probe.ts';
import { maySplit, splitsAt } from './decode/decode-halves.ts';

/**
 * Expected milliseconds of an analysis on two idle cores, the weights of its progress. Measured on a clock that goes on by what the busiest
 * thread of a job did, and by half of what all of them did at least, so that other work on the machine counts for nothing (2026-11-26).
 */
/** Reading the header, listing the packets, and starting the decoders. */
const OPEN_MS = 400;
/** What a clip takes behind its decode: the detectors, and the second look at the ends of some slices, whose groups are decoded for it. */
const JUDGE_MS = 120;
const JUDGE_MS_A_MEGAPIXEL = 350;
/** Decoding and measuring a picture, by two decoders: whatever its size, and a megapixel of it. */
const PICTURE_MS = 0.26;
const MEGAPIXEL_MS = 1.2;
/** The same by one decoder against two, which share the cores with the measures and the sound. */
const ALONE = 1.6;
/** A second of sound, which is heard beside the pictures. */
const SOUND_MS_A_SECOND = 8;
/** Analysing a clip with damage, of which every picture is looked at twice, against the same clip without: 1.7 to 2.4. */
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

/** @param keyframe of each picture, whether a group begins there, once that is known; else one is thought to lie near the middle */
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

/** Analysing a clip whose pictures are whole. */
export function expectedAnalysisMs(info: ClipMeasures): number {
  return OPEN_MS + decodeMs(info) + judgeMs(info);
}

/**
 * Opening a clip and decoding it, which takes as long with damage as without.
 * @param keyframe of each picture, whether a group begins there
 */
export function expectedDecodedMs(info: ClipMeasures, keyframe: readonly boolean[]): number {
  return OPEN_MS + decodeMs(info, keyframe);
}

/** Share of the analysis that is over when the clip is open and its packets are listed, 0 to 1. */
export function openShare(info: ClipMeasures): number {
  return OPEN_MS / expectedAnalysisMs(info);
}

/** Share of the decode in what an analysis does once the packets are listed, 0 to 1. */
export function decodeShare(info: ClipMeasures, isDamaged: boolean): number {
  const decode = decodeMs(info);
  const looks = isDamaged ? (DAMAGED_ANALYSIS - 1) * expectedAnalysisMs(info) : 0;
  return decode / (decode + judgeMs(info) + looks);
}
