import { AAC_BITS_PER_CHANNEL } from '#server/media/aac/aac-coding.ts';
import { EACH_AT_ITS_TIME, EACH_PICTURE } from '#server/media/ffmpeg/ffmpeg-names.ts';
import type { MediaInfo, VideoStreamInfo } from '#server/media/probe/probe.ts';
import { playbackNeeds } from '../publish/playback.ts';
import { isFullRange, isHdr } from '../repair/full-encode/full-encode-pictures.ts';
import { LOW_MEMORY_PARAMS } from '../repair/smart-render/smart-render-encode.ts';
import type { MediaLimits } from '../worker-protocol.ts';

/** As fine as the full encode of a repair, because a second generation must not be visible. */
const CRF = '18';
/** The same quality in x265, whose scale differs by about four to six steps (x265 documentation, "crf"). */
const HDR_CRF = '20';

/** Encoder of the pictures: x264, or x265 in ten bits for high dynamic range; both with short queues. */
export function pictureOptions(stream: VideoStreamInfo, { threads, preset }: MediaLimits): string[] {
  const common = ['-preset', preset, '-threads', String(threads)];
  if (isHdr(stream)) {
    const params = `log-level=none:pools=${threads}:frame-threads=1:rc-lookahead=10`;
    const format = ['-pix_fmt', 'yuv420p10le', '-tag:v', 'hvc1'];
    return ['-c:v', 'libx265', ...common, '-crf', HDR_CRF, ...format, '-x265-params', params];
  }
  const format = ['-pix_fmt', isFullRange(stream) ? 'yuvj420p' : 'yuv420p', '-profile:v', 'high'];
  return ['-c:v', 'libx264', ...common, '-crf', CRF, ...format, '-x264-params', LOW_MEMORY_PARAMS.join(':')];
}

/**
 * The sound unchanged if browsers can play it, else its first track as AAC.
 * @param from number of the input that has it
 */
export function soundOptions(info: MediaInfo, from = 0): string[] {
  const first = info.audio[0];
  if (!first) return [];
  if (playbackNeeds(info).audio === null) return ['-map', `${from}:a`, '-c:a', 'copy'];
  return ['-map', `${from}:a:0`, '-c:a', 'aac', '-b:a', String(AAC_BITS_PER_CHANNEL * first.channels)];
}

/**
 * Up to this many ticks a second, in the file or in what an encoder writes into pictures, ffmpeg takes for a rate of
 * pictures when it copies those with B pictures (5.1): in a clip by QuickTime's clock of 600 the last one would be shown
 * for 1.7 ms.
 */
const MOST_LIKE_A_RATE = 1000;
const FINER = 10;

/** How many times finer than the clip's own a clock must be that nobody takes for a rate of pictures. */
export const finerBy = (ticksPerSecond: number): number => (ticksPerSecond <= MOST_LIKE_A_RATE ? FINER : 1);

/** Each picture once and at its own time. */
export function timingOptions({ timeBase: { num, den } }: VideoStreamInfo): readonly string[] {
  if (num !== 1 || finerBy(den) === 1) return EACH_AT_ITS_TIME;
  return [...EACH_PICTURE, '-enc_time_base', `1:${finerBy(den) * den}`];
}

/** A time scale for pictures in an MP4 that is as fine as the clip's. */
export function timescaleOptions({ timeBase: { num, den } }: VideoStreamInfo): string[] {
  return num === 1 ? ['-video_track_timescale', String(den)] : [];
}

/**
 * How a copy is written: an MP4 with its index at the front and the clip's metadata.
 * @param from number of the input that is the clip
 */
export function writingOptions(from = 0): string[] {
  return `-map_metadata ${from} -map_chapters -1 -movflags +faststart -f mp4`.split(' ');
}
