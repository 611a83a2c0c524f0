import path from 'node:path';
import { EACH_AT_ITS_TIME } from '#server/media/ffmpeg-names.ts';
import type { FfmpegPlan } from '#server/media/ffmpeg-plan.ts';
import { uploadedPictureOptions } from '#server/media/every-picture.ts';
import type { MediaInfo, VideoStreamInfo } from '#server/media/probe.ts';
import { soundOptions } from '#server/pipeline/encode/coder-options.ts';
import { shownSize, squareSize, type Size } from '#server/pipeline/encode/picture-size.ts';
import {
  colourOptions,
  isFullRange,
  isHdr,
} from '#server/pipeline/repair/full-encode/full-encode-pictures.ts';
import { filterValue, LEAN_GRAPH } from '#server/pipeline/repair/quick-fixes/encode-plans.ts';
import { coderOptions } from '#server/pipeline/repair/quick-fixes/picture-coder.ts';
import type { MediaLimits } from '#server/pipeline/worker-protocol.ts';
import type { TextWhite } from './ass-file.ts';

export interface BurnInput {
  readonly inputPath: string;
  readonly info: MediaInfo;
  readonly stream: VideoStreamInfo;
  readonly assPath: string;
  readonly fontPath: string;
  readonly limits: MediaLimits;
  readonly outputPath: string;
}

/** The filter that draws a script with the fonts beside ours, and with no others of the machine. */
export function drawFilter(assPath: string, fontPath: string): string {
  return `subtitles=filename=${filterValue(assPath)}:fontsdir=${filterValue(path.dirname(fontPath))}`;
}

/** Size of the file with captions: the picture as it is shown, with even sides and square samples, so that letters keep their shape. */
export function burnedSize(stream: VideoStreamInfo): Size {
  const { width, height } = squareSize(stream);
  const even = (side: number) => Math.max(2, 2 * Math.floor(Math.round(side) / 2));
  return { width: even(width), height: even(height) };
}

/** How bright white is in this stream. */
export function whiteOf({ colorTransfer }: VideoStreamInfo): TextWhite {
  if (colorTransfer === 'smpte2084') return 'pq';
  return colorTransfer === 'arib-std-b67' ? 'hlg' : 'sdr';
}

/** A copy of the clip with captions drawn into every picture, each at its own time; the sound is carried over. */
export function burnPlan({
  inputPath,
  info,
  stream,
  assPath,
  fontPath,
  limits,
  outputPath,
}: BurnInput): FfmpegPlan {
  const size = burnedSize(stream);
  const shown = shownSize(stream);
  const same = size.width === shown.width && size.height === shown.height;
  const scale = same ? '' : `scale=${size.width}:${size.height}:flags=lanczos,setsar=1,`;
  // High dynamic range takes twice the memory: no room for a second decoder.
  const decoders = isHdr(stream) ? 1 : limits.threads;
  return {
    label: 'draw the captions',
    globalOptions: [...LEAN_GRAPH],
    inputs: [
      {
        path: inputPath,
        format: info.format,
        options: [...uploadedPictureOptions(info), '-threads', String(decoders)],
      },
    ],
    outputs: [
      {
        path: outputPath,
        options: [
          ...'-map 0:v:0'.split(' '),
          ...EACH_AT_ITS_TIME,
          '-vf',
          `${scale}${drawFilter(assPath, fontPath)}`,
          ...coderOptions(stream, limits),
          ...colourOptions(stream, isFullRange(stream)),
          ...(stream.timeBase.num === 1 ? ['-video_track_timescale', String(stream.timeBase.den)] : []),
          ...soundOptions(info),
          ...'-map_metadata 0 -map_chapters -1 -movflags +faststart -f mp4'.split(' '),
        ],
      },
    ],
    expectedDurationMs: info.durationMs,
  };
}
