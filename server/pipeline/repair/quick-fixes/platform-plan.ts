import { AAC_BITS_PER_CHANNEL, aacRateHz } from '#server/media/aac/aac-coding.ts';
import { type FixId, isPlatformFix } from '#common/fixes.ts';
import {
  SHAPE_TOLERANCE,
  checkPlatforms,
  PLATFORM_LIMITS,
  PLATFORMS,
  type Platform,
} from '#common/platform-check.ts';
import type { FfmpegPlan } from '#server/media/ffmpeg/ffmpeg-plan.ts';
import { uploadedPictureOptions } from '#server/media/ffmpeg/every-picture.ts';
import { wholeSoundFilters, wholeSoundOptions } from '#server/media/ffmpeg/whole-sound.ts';
import type { AudioStreamInfo, MediaInfo, VideoStreamInfo } from '#server/media/probe/probe.ts';
import { timescaleOptions, timingOptions, writingOptions } from '../../encode/coder-options.ts';
import type { PieceCut } from '../../encode/code-in-pieces.ts';
import { squareSize, type Size } from '../../encode/picture-size.ts';
import { summarise } from '../../publish/build-report.ts';
import type { MediaLimits } from '../../worker-protocol.ts';
import { LEAN_GRAPH } from './encode-plans.ts';
import { coderOptions } from './picture-coder.ts';
import { colourOptions, isFullRange, isHdr } from '../full-encode/full-encode-pictures.ts';

/** Upright and full screen on all three platforms; larger sizes are only scaled down there. */
const CANVAS_WIDTH = 1080;
const SHAPE = 16 / 9;
/** The background is blurred small and then enlarged: just as soft, at a fraction of the work. */
const BLUR_SHRINK = 8;
const MOST_BIT_RATE = 16_000_000;
/**
 * Quality of x264 with its preset "veryfast": as close to the clip as 18 with "faster" (SSIM of five clips), with two
 * thirds of the processor time and files a tenth to a quarter larger. The platform encodes the file again in any case.
 */
const CRF = '17';
/** Highest rate that Instagram's publishing interface takes, bits a second; the others state none. */
const MOST_COPIED_RATE = 25_000_000;
const COPIED_CODECS = new Set(['h264', 'hevc']);
const COPIED_FORMATS = new Set(['yuv420p', 'yuvj420p', 'yuv420p10le']);
/** Share of a platform's size limit that is planned for. */
const SIZE_SHARE = 0.9;

/**
 * A picture with the time of the one before, as joined clips have it, comes one tick later: both stay, and a platform
 * gets times that rise.
 */
const RISING = "setpts='if(isnan(PREV_OUTPTS),PTS,max(PTS,PREV_OUTPTS+1))'";

export interface PlatformShape {
  readonly canvas: Size;
  /** The whole picture, fitted into the canvas; nothing is cut away. */
  readonly picture: Size;
  /** Pictures a second if the clip's own rate is not accepted; else null. */
  readonly fps: number | null;
}

/** A 9:16 canvas that holds the whole picture, enlarged no further than the platform demands. */
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

/** Plan for a platform's file: upright over its own blurred picture, with loudness and size within the limits. */
export function platformPlan(given: PlatformPlanInput): FfmpegPlan {
  const { inputPath, info, outputPath } = given;
  return {
    label: `make the file for ${given.platform}`,
    inputs: [clipInput(inputPath, info)],
    globalOptions: LEAN_GRAPH,
    filterComplex: pictureGraph(given, `${RISING},`),
    outputs: [{ path: outputPath, options: [...coding(given), ...sound(given, 0), ...writingOptions()] }],
    expectedDurationMs: info.durationMs,
  };
}

/** Plan for the pictures of one piece of that file; platforms with the same limits share it. */
export function platformPiecePlan(
  given: Omit<PlatformPlanInput, 'outputPath' | 'soundFilters'>,
  cut: PieceCut,
  outputPath: string,
): FfmpegPlan {
  const { inputPath, info, stream } = given;
  return {
    label: 'code a piece of a platform file',
    inputs: [clipInput(inputPath, info, cut.inputOptions)],
    globalOptions: [...cut.globalOptions, ...LEAN_GRAPH],
    filterComplex: pictureGraph(given, `${cut.filter},`),
    outputs: [
      {
        path: outputPath,
        options: [...coding(given), ...timescaleOptions(stream), ...'-an -f mp4'.split(' ')],
      },
    ],
    expectedDurationMs: null,
  };
}

/**
 * Plan that copies coded pictures byte for byte and adds the clip's sound at the platforms' loudness.
 * @param picturesPath MP4 with the same times as the clip; null for the pictures of the clip itself
 */
export function platformCopyPlan(given: PlatformPlanInput, picturesPath: string | null): FfmpegPlan {
  const { inputPath, info, stream, outputPath } = given;
  const clip = clipInput(inputPath, info);
  const pictures = picturesPath === null ? [] : [{ path: picturesPath, format: 'mov' }];
  // Of pictures that are coded anew, those of high dynamic range alone are HEVC.
  const isHevc = picturesPath === null ? stream.codec === 'hevc' : isHdr(stream);
  return {
    label: `put the file for ${given.platform} together`,
    inputs: [...pictures, clip],
    // Keeps all times; otherwise each input would count from its own first.
    globalOptions: ['-copyts'],
    outputs: [
      {
        path: outputPath,
        options: [
          ...'-map 0:v:0 -c:v copy'.split(' '),
          ...(isHevc ? ['-tag:v', 'hvc1'] : []),
          ...timescaleOptions(stream),
          ...sound(given, pictures.length),
          ...writingOptions(pictures.length),
        ],
      },
    ],
    expectedDurationMs: info.durationMs,
  };
}

const clipInput = (inputPath: string, info: MediaInfo, cut: readonly string[] = []) => ({
  path: inputPath,
  format: info.format,
  options: [...uploadedPictureOptions(info), ...wholeSoundOptions(info), '-threads', '1', ...cut],
});

/** How the fitted pictures are coded. */
function coding({
  info,
  stream,
  platform,
  limits,
}: Omit<PlatformPlanInput, 'outputPath' | 'soundFilters'>): string[] {
  const rate = bitRateLimit(info.durationMs ?? 0, platform);
  const coder = coderOptions(stream, { ...limits, preset: 'veryfast' });
  return [
    ...'-map [fitted]'.split(' '),
    ...timingOptions(stream),
    ...(isHdr(stream) ? coder : coder.with(coder.indexOf('-crf') + 1, CRF)),
    ...(isHdr(stream) ? [] : ['-maxrate', String(rate), '-bufsize', String(2 * rate)]),
    ...colourOptions(stream, isFullRange(stream)),
  ];
}

function pictureGraph(
  { stream, platform }: Pick<PlatformPlanInput, 'stream' | 'platform'>,
  cut: string,
): string {
  const { canvas, picture, fps } = platformShape(stream, platform);
  const hdr = isHdr(stream);
  const rate = fps === null ? cut : `${cut}fps=${fps},`;
  const fit = `scale=${picture.width}:${picture.height}:flags=lanczos,setsar=1`;
  if (picture.width === canvas.width && picture.height === canvas.height)
    return `[0:v:0]${rate}${fit}[fitted]`;
  const little = { width: even(canvas.width / BLUR_SHRINK), height: even(canvas.height / BLUR_SHRINK) };
  const fill = `scale=${little.width}:${little.height}:force_original_aspect_ratio=increase:flags=area`;
  const middle = `crop=${little.width}:${little.height},gblur=sigma=6`;
  // Darker than the picture, so that the eye finds the picture; ten-bit clips are left as they are.
  const dim = hdr ? '' : ',eq=brightness=-0.06:saturation=0.9';
  const back = `${fill},${middle}${dim},scale=${canvas.width}:${canvas.height}:flags=bicubic,setsar=1`;
  const format = hdr ? 'format=yuv420p10' : 'format=yuv420';
  return [
    `[0:v:0]${rate}split=2[behind][front]`,
    `[behind]${back}[blurred]`,
    `[front]${fit}[whole]`,
    `[blurred][whole]overlay=(W-w)/2:(H-h)/2:${format}[fitted]`,
  ].join(';');
}

/**
 * Whether a platform takes the pictures of a clip as they are: upright, within every limit, and in a format that all
 * players know. They are then copied instead of encoded again.
 */
export function keepsLimits(info: MediaInfo, stream: VideoStreamInfo, platform: Platform): boolean {
  const { format, sizeBytes, durationMs } = info;
  const { largestBytes } = PLATFORM_LIMITS[platform];
  const square = stream.sampleAspectRatio === null || stream.sampleAspectRatio === '1:1';
  const woven = ['tt', 'bb', 'tb', 'bt'].includes(stream.fieldOrder ?? '');
  const rate = (sizeBytes * 8000) / Math.max(1, durationMs ?? 1);
  if (format !== 'mov' || !square || woven || !COPIED_FORMATS.has(stream.pixelFormat ?? '')) return false;
  if (!COPIED_CODECS.has(stream.codec) || rate > MOST_COPIED_RATE || sizeBytes > SIZE_SHARE * largestBytes)
    return false;
  const verdict = checkPlatforms(summarise({ ...info, audio: [] }, null), sizeBytes);
  const remarks = verdict.find((one) => one.platform === platform)?.remarks;
  // The sound is corrected while the pictures are copied.
  return remarks?.every(({ kind }) => kind === 'no_sound') ?? false;
}

/** The way of pictures that are copied. */
export const COPIED = 'copied';

/** Names how the pictures for a platform are made; files with the same name share them. */
export function wayOf(info: MediaInfo, stream: VideoStreamInfo, platform: Platform): string {
  if (keepsLimits(info, stream, platform)) return COPIED;
  return JSON.stringify([platformShape(stream, platform), bitRateLimit(info.durationMs ?? 0, platform)]);
}

/** The platform that a fix makes a file for; null for other fixes. */
export function platformOf(fix: FixId): Platform | null {
  const [name] = fix.split('-');
  return isPlatformFix(fix) ? (PLATFORMS.find((platform) => platform === name) ?? null) : null;
}

/** Bit rate for the pictures that keeps a clip of this length within the platform's size, bits a second. */
export function bitRateLimit(durationMs: number, platform: Platform): number {
  const seconds = Math.max(1, durationMs / 1000);
  const allowed =
    (PLATFORM_LIMITS[platform].largestBytes * 8 * SIZE_SHARE) / seconds - 2 * AAC_BITS_PER_CHANNEL;
  return Math.round(Math.min(MOST_BIT_RATE, Math.max(300_000, allowed)));
}

const isTaken = ({ codec, sampleRateHz, channels }: AudioStreamInfo, platform: Platform) => {
  const { mostSampleRateHz, mostChannels } = PLATFORM_LIMITS[platform];
  return codec === 'aac' && sampleRateHz <= mostSampleRateHz && channels <= Math.min(2, mostChannels);
};

/** @param from number of the input that holds the clip */
function sound({ info, platform, soundFilters }: PlatformPlanInput, from: number): string[] {
  const stream = info.audio[0];
  if (!stream) return [];
  const map = ['-map', `${from}:${stream.index}`];
  if (soundFilters.length === 0 && isTaken(stream, platform)) return [...map, '-c:a', 'copy'];
  const filters = [...wholeSoundFilters(info), ...soundFilters];
  const { mostSampleRateHz, mostChannels } = PLATFORM_LIMITS[platform];
  const channels = Math.min(2, mostChannels, stream.channels);
  const rate = aacRateHz(Math.min(48_000, mostSampleRateHz, stream.sampleRateHz));
  return [
    ...map,
    ...`-c:a aac -b:a ${AAC_BITS_PER_CHANNEL * channels} -ar ${rate} -ac ${channels}`.split(' '),
    ...(filters.length > 0 ? ['-af', filters.join(',')] : []),
  ];
}
