import type { MediaInfo } from '#server/media/probe/probe.ts';
import { pictureOptions } from '../encode/coder-options.ts';
import type { CopyRecipe } from '../encode/copy-plans.ts';
import { limitedSize, shownSize } from '../encode/picture-size.ts';
import type { MediaLimits } from '../worker-protocol.ts';

export interface LimitedExportInput {
  readonly inputPath: string;
  readonly info: MediaInfo;
  readonly shortSide: number;
  readonly limits: MediaLimits;
}

/**
 * A smaller copy of a finished clip: each picture at its own time, sound copied where players can play it,
 * turned upright, high dynamic range kept.
 * @throws Error when the clip has no pictures
 */
export function limitedExport({ inputPath, info, shortSide, limits }: LimitedExportInput): CopyRecipe {
  const [stream] = info.video;
  if (!stream) throw new Error('The clip has no pictures.');
  const size = limitedSize(shownSize(stream), shortSide);
  const square = stream.sampleAspectRatio === null || stream.sampleAspectRatio === '1:1';
  return {
    what: 'the smaller copy',
    inputPath,
    info,
    stream,
    // Two decoder threads at 4K pass the 400 MB of a small machine; one thread and the encoder take 330 MB.
    // Measured by: /usr/bin/time -f %M prlimit --data=419430400 ffmpeg -threads N -i 4k.mp4 -vf scale=-2:1080 ...
    decoderThreads: stream.width * stream.height > limits.maxEncodePixels ? 1 : limits.threads,
    filters: `scale=${size.width}:${size.height}:flags=lanczos${square ? ',setsar=1' : ''}`,
    coding: pictureOptions(stream, limits),
  };
}
