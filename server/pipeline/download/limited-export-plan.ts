import { EACH_AT_ITS_TIME } from '#server/media/ffmpeg-names.ts';
import { AAC_BITS_PER_CHANNEL } from '#server/media/aac.ts';
import type { FfmpegPlan } from '#server/media/ffmpeg-plan.ts';
import { uploadedPictureOptions } from '#server/media/every-picture.ts';
import type { MediaInfo, VideoStreamInfo } from '#server/media/probe.ts';
import { playbackNeeds } from '../publish/playback.ts';
import { isFullRange, isHdr } from '../repair/full-encode/full-encode-pictures.ts';
import { LOW_MEMORY_PARAMS } from '../repair/smart-render/smart-render-encode.ts';
import type { MediaLimits } from '../worker-protocol.ts';

/** As fine as the full encode of a repair: a second generation must not be seen. */
const CRF = '18';
/** The same look in x265, whose scale is about four to six steps apart (x265 documentation, "crf"). */
const HDR_CRF = '20';

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** Size of the picture as players show it: turned, in stored pixels. */
export function shownSize({ width, height, rotation }: VideoStreamInfo): Size {
  return rotation % 180 === 90 ? { width: height, height: width } : { width, height };
}

/** The same in square samples, which may be no whole numbers. */
export function squareSize(stream: VideoStreamInfo): Size {
  const { width, height } = shownSize(stream);
  const [num = 1, den = 1] = (stream.sampleAspectRatio ?? '1:1').split(':').map(Number);
  const aspect = num > 0 && den > 0 ? num / den : 1;
  return stream.rotation % 180 === 90
    ? { width, height: height * aspect }
    : { width: width * aspect, height };
}

/**
 * Size of an export whose shorter side is at most `shortSide` pixels: same shape, even sides, never larger
 * than the picture itself.
 */
export function limitedSize({ width, height }: Size, shortSide: number): Size {
  const factor = Math.min(1, shortSide / Math.min(width, height));
  const even = (side: number) => Math.max(2, Math.round((side * factor) / 2) * 2);
  return { width: even(width), height: even(height) };
}

export interface LimitedExportInput {
  readonly inputPath: string;
  readonly info: MediaInfo;
  readonly shortSide: number;
  readonly limits: MediaLimits;
  readonly outputPath: string;
}

/**
 * A smaller copy of a finished clip: each picture at its own time, sound copied where players can play it,
 * turned upright, high dynamic range kept.
 * @throws Error when the clip has no pictures
 */
export function limitedExportPlan(input: LimitedExportInput): FfmpegPlan {
  const { info, limits } = input;
  const stream = info.video[0];
  if (!stream) throw new Error('The clip has no pictures.');
  const size = limitedSize(shownSize(stream), input.shortSide);
  const square = stream.sampleAspectRatio === null || stream.sampleAspectRatio === '1:1';
  const scale = `scale=${size.width}:${size.height}:flags=lanczos${square ? ',setsar=1' : ''}`;
  // Two decoder threads at 4K pass the 400 MB of a small machine; one thread and the encoder take 330 MB.
  // Measured by: /usr/bin/time -f %M prlimit --data=419430400 ffmpeg -threads N -i 4k.mp4 -vf scale=-2:1080 ...
  const decoders = stream.width * stream.height > limits.maxEncodePixels ? 1 : limits.threads;
  return {
    label: 'make the smaller copy',
    inputs: [
      {
        path: input.inputPath,
        format: info.format,
        options: [...uploadedPictureOptions(info), '-threads', String(decoders)],
      },
    ],
    outputs: [
      {
        path: input.outputPath,
        options: [
          ...'-map 0:v:0'.split(' '),
          ...EACH_AT_ITS_TIME,
          ...`-vf ${scale}`.split(' '),
          ...pictureOptions(stream, limits),
          ...(stream.timeBase.num === 1 ? ['-video_track_timescale', String(stream.timeBase.den)] : []),
          ...soundOptions(info),
          ...'-map_metadata 0 -map_chapters -1 -movflags +faststart -f mp4'.split(' '),
        ],
      },
    ],
    expectedDurationMs: info.durationMs,
  };
}

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

/** The sound as it is where browsers play it, else its first track as AAC. */
export function soundOptions(info: MediaInfo): string[] {
  const first = info.audio[0];
  if (!first) return [];
  if (playbackNeeds(info).audio === null) return ['-map', '0:a', '-c:a', 'copy'];
  return ['-map', '0:a:0', '-c:a', 'aac', '-b:a', String(AAC_BITS_PER_CHANNEL * first.channels)];
}
