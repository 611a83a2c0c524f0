import { toSeconds, type FfmpegPlan } from '#server/media/ffmpeg/ffmpeg-plan.ts';
import { uploadedPictureOptions } from '#server/media/ffmpeg/every-picture.ts';
import type { MediaInfo } from '#server/media/probe/probe.ts';
import { runFfmpeg } from '#server/media/ffmpeg/run-ffmpeg.ts';
import { MediaToolError, type ToolPaths } from '#server/media/ffmpeg/tools.ts';
import { stat } from 'node:fs/promises';

export interface PosterInput {
  readonly inputPath: string;
  readonly info: MediaInfo;
  /** Time of the picture on the clip's display axis, ms. */
  readonly atMs: number;
  readonly outputPath: string;
  readonly tools: ToolPaths;
  readonly signal?: AbortSignal;
}

/** Longest side of a poster, pixels: sharp on a phone card at two pixels a point, small to load. */
const POSTER_SIDE = 960;

/**
 * Writes one picture as JPEG, upright and with square pixels, at most 960 pixels long.
 * @returns false when the clip has no picture there; the caller goes on without a poster
 * @throws MediaToolError when cancelled or when ffmpeg is missing
 */
export async function makePoster(input: PosterInput): Promise<boolean> {
  try {
    await runFfmpeg(posterPlan(input), { tools: input.tools, signal: input.signal });
    return (await stat(input.outputPath)).size > 0;
  } catch (error) {
    if (error instanceof MediaToolError && error.code !== 'tool_failed') throw error;
    return false;
  }
}

function posterPlan(input: PosterInput): FfmpegPlan {
  const seekMs = Math.max(0, input.atMs - (input.info.startMs ?? 0));
  const fit = `scale='min(${POSTER_SIDE},iw*sar)':'min(${POSTER_SIDE},ih)':force_original_aspect_ratio=decrease`;
  return {
    label: 'make the poster',
    inputs: [
      {
        path: input.inputPath,
        format: input.info.format,
        options: [...uploadedPictureOptions(input.info), '-ss', toSeconds(seekMs)],
      },
    ],
    outputs: [
      {
        path: input.outputPath,
        options: [
          '-map',
          '0:v:0',
          '-frames:v',
          '1',
          '-vf',
          `${fit},setsar=1,format=yuvj420p`,
          '-q:v',
          '4',
          '-map_metadata',
          '-1',
          '-f',
          'mjpeg',
        ],
      },
    ],
    expectedDurationMs: null,
  };
}
