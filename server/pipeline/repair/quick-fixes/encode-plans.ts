import { EACH_PICTURE } from '#server/media/ffmpeg/ffmpeg-names.ts';
import { AAC_BITS_PER_CHANNEL, aacRateHz } from '#server/media/aac/aac-coding.ts';
import type { FfmpegPlan } from '#server/media/ffmpeg/ffmpeg-plan.ts';
import { uploadedPictureOptions } from '#server/media/ffmpeg/every-picture.ts';
import { wholeSoundFilters, wholeSoundOptions } from '#server/media/ffmpeg/whole-sound.ts';
import type { MediaInfo, VideoStreamInfo } from '#server/media/probe/probe.ts';
import { timescaleOptions, writingOptions } from '../../encode/coder-options.ts';
import type { CopyRecipe } from '../../encode/copy-plans.ts';
import type { MediaLimits } from '../../worker-protocol.ts';
import { colourOptions, EVEN_SIDES, isFullRange, isHdr } from '../full-encode/full-encode-pictures.ts';
import type { VisualStep } from './build-fixes.ts';
import { coderOptions } from './picture-coder.ts';

/** Time on each side over which the camera path is smoothed, seconds. */
const SMOOTHING_S = 0.5;
/** How far a picture may be moved, share of its shorter side; the rest of a shake stays, and nothing is zoomed away. */
const MOST_SHIFT = 0.06;
const MOST_ANGLE = 0.06;

export interface CodePicturesInput {
  readonly inputPath: string;
  readonly info: MediaInfo;
  readonly stream: VideoStreamInfo;
  readonly steps: readonly VisualStep[];
  /** Where the camera motion was written; only used by stabilizing steps. */
  readonly motionPath: string;
  readonly limits: MediaLimits;
}

/** Interlaced pictures hold two moments; moving or sharpening them as they are would cause combing. */
function weave({ fieldOrder }: VideoStreamInfo): string[] {
  return ['tt', 'bb', 'tb', 'bt'].includes(fieldOrder ?? '') ? ['bwdif=mode=send_frame'] : [];
}

/**
 * Measures the camera motion and writes it to a file, picture by picture, upright. It runs after the colours, because
 * too little is visible in the dark.
 * @param given `asText` if the filter can write text: vid.stab 1.2 cannot always read its other format again
 */
export function lookAtMotionPlan(given: CodePicturesInput & { readonly asText: boolean }): FfmpegPlan {
  const { inputPath, info, stream, steps, motionPath, limits, asText } = given;
  const colours = steps.flatMap((step) => (step.fix === 'color-correct' ? step.filters : []));
  const form = asText ? ':fileformat=ascii' : '';
  const look = `vidstabdetect=shakiness=7:accuracy=12:mincontrast=0.2:result=${filterValue(motionPath)}${form}`;
  return {
    label: 'look at the motion of the camera',
    inputs: [input(inputPath, info, limits.threads)],
    outputs: [
      {
        path: '-',
        options: [
          ...'-map 0:v:0 -an -sn -dn'.split(' '),
          ...EACH_PICTURE,
          '-vf',
          [...weave(stream), ...colours, 'format=yuv420p', look].join(','),
          '-f',
          'null',
        ],
      },
    ],
    expectedDurationMs: info.durationMs,
  };
}

/**
 * The clip with all chosen changes of its pictures, in order. Each picture keeps its time; the sound is copied if it
 * can be played.
 */
export function changedCopy(given: CodePicturesInput): CopyRecipe {
  const { inputPath, info, stream, steps, limits } = given;
  const toneMapped = steps.some((step) => step.fix === 'color-correct' && step.hdr);
  const shown: VideoStreamInfo = toneMapped
    ? { ...stream, colorTransfer: 'bt709', colorPrimaries: 'bt709', colorSpace: 'bt709', colorRange: 'tv' }
    : stream;
  const coded: VideoStreamInfo = toneMapped ? { ...shown, pixelFormat: 'yuv420p' } : shown;
  const filters = [...weave(stream), ...steps.flatMap((step) => filtersOf(step, given)), EVEN_SIDES];
  return {
    what: 'the changed pictures',
    inputPath,
    info,
    stream,
    decoderThreads: decoderThreads(toneMapped || isHdr(stream), limits),
    filters: filters.join(','),
    coding: [...coderOptions(coded, limits, toneMapped), ...colourOptions(coded, isFullRange(coded))],
    graphOptions: LEAN_GRAPH,
    keepsTimes: true,
  };
}

/** Whether each picture is changed on its own; stabilizing and deinterlacing need its neighbours. */
export function changesEachAlone({ stream, steps }: Pick<CodePicturesInput, 'stream' | 'steps'>): boolean {
  return weave(stream).length === 0 && steps.every(({ fix }) => fix !== 'stabilize');
}

/**
 * One filter thread: every further one holds pictures, and its stack and heap count against the memory of the child
 * process.
 */
export const LEAN_GRAPH: readonly string[] = ['-filter_threads', '1', '-filter_complex_threads', '1'];

/**
 * High dynamic range takes twice the memory, and tone mapping 25 MB a picture at 1080p: no room for a second decoder
 * thread.
 */
function decoderThreads(deep: boolean, { threads }: MediaLimits): number {
  return deep ? 1 : threads;
}

function filtersOf(step: VisualStep, { stream, motionPath }: CodePicturesInput): readonly string[] {
  if (step.fix !== 'stabilize') return step.filters;
  if (!step.looks) return ['format=yuv420p', 'deshake=rx=32:ry=32:edge=mirror'];
  const short = Math.min(stream.width, stream.height);
  const smoothing = Math.max(5, Math.round((stream.frameRate ?? 30) * SMOOTHING_S));
  const limits = `maxshift=${Math.round(short * MOST_SHIFT)}:maxangle=${MOST_ANGLE}`;
  return [
    'format=yuv420p',
    `vidstabtransform=input=${filterValue(motionPath)}:smoothing=${smoothing}:optzoom=1:${limits}:interpol=bicubic:crop=black`,
  ];
}

/** Filters the first sound track; pictures and other tracks are copied, all times stay. */
export function voicePlan(given: {
  readonly inputPath: string;
  readonly info: MediaInfo;
  readonly filters: readonly string[];
  readonly outputPath: string;
}): FfmpegPlan {
  const { inputPath, info, filters, outputPath } = given;
  const { sampleRateHz, channels } = info.audio[0] ?? { sampleRateHz: 48_000, channels: 1 };
  const rate = aacRateHz(Math.min(96_000, sampleRateHz));
  return {
    label: 'write the enhanced sound',
    globalOptions: ['-copyts'],
    inputs: [input(inputPath, info, 1)],
    outputs: [
      {
        path: outputPath,
        options: [
          ...'-map 0:v:0 -map 0:a -c copy -c:a:0 aac -filter:a:0'.split(' '),
          [...wholeSoundFilters(info), ...filters].join(','),
          ...`-b:a:0 ${AAC_BITS_PER_CHANNEL * channels} -ar:a:0 ${rate} -ac:a:0 ${channels}`.split(' '),
          ...(info.video[0]?.codec === 'hevc' ? ['-tag:v', 'hvc1'] : []),
          ...(info.video[0] ? timescaleOptions(info.video[0]) : []),
          ...writingOptions(),
        ],
      },
    ],
    expectedDurationMs: info.durationMs,
  };
}

function input(path: string, info: MediaInfo, threads: number) {
  const options = [...uploadedPictureOptions(info), ...wholeSoundOptions(info), '-threads', String(threads)];
  return { path, format: info.format, options };
}

/** A path as the value of a filter option: escaped once for the option and once for the filter graph. */
export function filterValue(path: string): string {
  const option = path.replaceAll(/[\\':]/g, '\\$&');
  return option.replaceAll(/[\\'[\],;]/g, '\\$&');
}
