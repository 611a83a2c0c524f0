import { EACH_AT_ITS_TIME } from '#server/media/ffmpeg-names.ts';
import { AAC_BITS_PER_CHANNEL } from '#server/media/aac.ts';
import { PLATFORM_LIMITS, type Platform } from '#common/platform-check.ts';
import type { FfmpegPlan } from '#server/media/ffmpeg-plan.ts';
import { uploadedPictureOptions } from '#server/media/every-picture.ts';
import type { MediaInfo, VideoStreamInfo } from '#server/media/probe.ts';
import { squareSize, type Size } from '../../download/limited-export-plan.ts';
import type { MediaLimits } from '../../worker-protocol.ts';
import { LEAN_GRAPH } from './encode-plans.ts';
import { coderOptions } from './picture-coder.ts';
import { colourOptions, isFullRange, isHdr } from '../full-encode/full-encode-pictures.ts';

/** Upright and full screen on all three platforms; larger is only scaled down there. */
const CANVAS_WIDTH = 1080;
const SHAPE = 16 / 9;
/** As in the platform check: so near to 9:16 neither bars nor crops are seen. */
const SHAPE_TOLERANCE = 0.02;
/** The background is blurred small and then enlarged: as soft, at a fraction of the work. */
const BLUR_SHRINK = 8;
const MOST_BIT_RATE = 16_000_000;
/** Share of a platform's size limit that may be planned for. */
const SIZE_SHARE = 0.9;

export interface PlatformShape {
  readonly canvas: Size;
  /** The whole picture, fitted into the canvas; nothing is cut away. */
  readonly picture: Size;
  /** Pictures a second where the clip's own rate is not taken; else null. */
  readonly fps: number | null;
}

/** Canvas of 9:16 that holds the whole picture, never enlarged beyond what the platform demands. */
export function platformShape(stream: VideoStreamInfo, platform: Platform): PlatformShape {
  const { leastSidePx, leastFps, mostFps } = PLATFORM_LIMITS[platform];
  const shown = squareSize(stream);
  const wanted = Math.max(shown.width, shown.height / SHAPE);
  const width = even(Math.min(CANVAS_WIDTH, Math.max(wanted, leastSidePx)));
  const canvas = { width, height: even(width * SHAPE) };
  const ratio = shown.height / shown.width;
  if (Math.abs(ratio / SHAPE - 1) <= SHAPE_TOLERANCE)
    return { canvas, picture: canvas, fps: rateFor(stream, leastFps, mostFps) };
  const factor = Math.min(canvas.width / shown.width, canvas.height / shown.height);
  const picture = { width: even(shown.width * factor), height: even(shown.height * factor) };
  return { canvas, picture, fps: rateFor(stream, leastFps, mostFps) };
}

function rateFor({ frameRate }: VideoStreamInfo, least: number, most: number): number | null {
  if (frameRate === null) return null;
  if (frameRate > most + 0.5) return most;
  return frameRate < least - 0.5 ? 30 : null;
}

const even = (side: number) => Math.max(2, Math.round(side / 2) * 2);

export interface PlatformPlanInput {
  readonly inputPath: string;
  readonly info: MediaInfo;
  readonly stream: VideoStreamInfo;
  readonly platform: Platform;
  readonly soundFilters: readonly string[];
  readonly limits: MediaLimits;
  readonly outputPath: string;
}

/** A file of its own for one platform: upright over its own blurred picture, loudness and size within the limits. */
export function platformPlan(given: PlatformPlanInput): FfmpegPlan {
  const { inputPath, info, stream, platform, limits, outputPath } = given;
  const shape = platformShape(stream, platform);
  const hdr = isHdr(stream);
  const rate = bitRateLimit(info.durationMs ?? 0, platform);
  return {
    label: `make the file for ${platform}`,
    inputs: [
      {
        path: inputPath,
        format: info.format,
        options: [...uploadedPictureOptions(info), '-threads', '1'],
      },
    ],
    globalOptions: LEAN_GRAPH,
    filterComplex: pictureGraph(shape, hdr),
    outputs: [
      {
        path: outputPath,
        options: [
          ...'-map [fitted]'.split(' '),
          ...EACH_AT_ITS_TIME,
          ...coderOptions(stream, limits),
          ...(hdr ? [] : ['-maxrate', String(rate), '-bufsize', String(2 * rate)]),
          ...colourOptions(stream, isFullRange(stream)),
          ...sound(given),
          ...'-map_metadata 0 -map_chapters -1 -movflags +faststart -f mp4'.split(' '),
        ],
      },
    ],
    expectedDurationMs: info.durationMs,
  };
}

function pictureGraph({ canvas, picture, fps }: PlatformShape, hdr: boolean): string {
  const rate = fps === null ? '' : `fps=${fps},`;
  const fit = `scale=${picture.width}:${picture.height}:flags=lanczos,setsar=1`;
  if (picture.width === canvas.width && picture.height === canvas.height)
    return `[0:v:0]${rate}${fit}[fitted]`;
  const small = { width: even(canvas.width / BLUR_SHRINK), height: even(canvas.height / BLUR_SHRINK) };
  const fill = `scale=${small.width}:${small.height}:force_original_aspect_ratio=increase:flags=area`;
  const cut = `crop=${small.width}:${small.height},gblur=sigma=6`;
  // Darker than the picture, so that the eye finds it; ten bits are left as they are.
  const dim = hdr ? '' : ',eq=brightness=-0.06:saturation=0.9';
  const back = `${fill},${cut}${dim},scale=${canvas.width}:${canvas.height}:flags=bicubic,setsar=1`;
  const format = hdr ? 'format=yuv420p10' : 'format=yuv420';
  return [
    `[0:v:0]${rate}split=2[behind][front]`,
    `[behind]${back}[blurred]`,
    `[front]${fit}[whole]`,
    `[blurred][whole]overlay=(W-w)/2:(H-h)/2:${format}[fitted]`,
  ].join(';');
}

/** Bits a second for the pictures that keep a clip of this length within the platform's size. */
export function bitRateLimit(durationMs: number, platform: Platform): number {
  const seconds = Math.max(1, durationMs / 1000);
  const allowed =
    (PLATFORM_LIMITS[platform].largestBytes * 8 * SIZE_SHARE) / seconds - 2 * AAC_BITS_PER_CHANNEL;
  return Math.round(Math.min(MOST_BIT_RATE, Math.max(300_000, allowed)));
}

function sound({ info, platform, soundFilters }: PlatformPlanInput): string[] {
  const stream = info.audio[0];
  if (!stream) return [];
  const { mostSampleRateHz, mostChannels } = PLATFORM_LIMITS[platform];
  const channels = Math.min(2, mostChannels, stream.channels);
  const rate = Math.min(48_000, mostSampleRateHz, stream.sampleRateHz);
  return [
    ...`-map 0:${stream.index} -c:a aac -b:a ${AAC_BITS_PER_CHANNEL * channels} -ar ${rate} -ac ${channels}`.split(
      ' ',
    ),
    ...(soundFilters.length > 0 ? ['-af', soundFilters.join(',')] : []),
  ];
}
