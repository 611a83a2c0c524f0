import { EACH_AT_ITS_TIME } from '#server/media/ffmpeg-names.ts';
import type { FfmpegPlan } from '#server/media/ffmpeg-plan.ts';
import { uploadedPictureOptions } from '#server/media/every-picture.ts';
import type { MediaInfo } from '#server/media/probe.ts';
import { pictureOptions, soundOptions } from '../encode/coder-options.ts';
import { limitedSize, shownSize } from '../encode/picture-size.ts';
import type { MediaLimits } from '../worker-protocol.ts';

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
