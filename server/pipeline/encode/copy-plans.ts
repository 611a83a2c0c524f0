import { uploadedPictureOptions } from '#server/media/ffmpeg/every-picture.ts';
import type { FfmpegPlan } from '#server/media/ffmpeg/ffmpeg-plan.ts';
import type { MediaInfo, VideoStreamInfo } from '#server/media/probe/probe.ts';
import type { PieceCut } from './code-in-pieces.ts';
import { soundOptions, timescaleOptions, timingOptions, writingOptions } from './coder-options.ts';

/** How a copy of a clip is encoded, whole or in part; the sound is carried over. */
export interface CopyRecipe {
  /** What is made, for messages: "the smaller copy". */
  readonly what: string;
  readonly inputPath: string;
  readonly info: MediaInfo;
  readonly stream: VideoStreamInfo;
  readonly decoderThreads: number;
  /**
   * What is done to each picture, as one chain of filters. Each picture must be independent, or a copy in pieces would
   * differ from one in one run.
   */
  readonly filters: string;
  /** Encoder and colours. */
  readonly coding: readonly string[];
  /** Threads of the filters. */
  readonly graphOptions?: readonly string[];
  /** Whether one run keeps the container's times too, so that a late beginning stays late; pieces always keep them. */
  readonly keepsTimes?: boolean;
}

/** Plan of the whole copy in one run. */
export function wholeCopyPlan(recipe: CopyRecipe, outputPath: string): FfmpegPlan {
  const { what, info, graphOptions = [], keepsTimes } = recipe;
  return {
    label: `make ${what}`,
    globalOptions: [...(keepsTimes ? ['-copyts'] : []), ...graphOptions],
    inputs: [clipInput(recipe)],
    outputs: [
      {
        path: outputPath,
        options: [...pictures(recipe, recipe.filters), ...soundOptions(info), ...writingOptions()],
      },
    ],
    expectedDurationMs: info.durationMs,
  };
}

/** Plan for the pictures of one piece. */
export function copyPiecePlan(recipe: CopyRecipe, cut: PieceCut, outputPath: string): FfmpegPlan {
  const { what, filters, graphOptions = [] } = recipe;
  return {
    label: `make a piece of ${what}`,
    globalOptions: [...cut.globalOptions, ...graphOptions],
    inputs: [clipInput(recipe, cut.inputOptions)],
    outputs: [
      {
        path: outputPath,
        options: [...pictures(recipe, `${cut.filter},${filters}`), '-an', '-f', 'mp4'],
      },
    ],
    expectedDurationMs: null,
  };
}

/** Plan that joins coded pictures, which have the clip's times, with the clip's sound in one file. */
export function joinedCopyPlan(recipe: CopyRecipe, picturesPath: string, outputPath: string): FfmpegPlan {
  const { what, info, stream, coding } = recipe;
  const tag = coding.indexOf('-tag:v');
  return {
    label: `put ${what} together`,
    inputs: [{ path: picturesPath, format: 'mov' }, clipInput(recipe)],
    // Keeps all times; otherwise each input would count from its own first.
    globalOptions: ['-copyts'],
    outputs: [
      {
        path: outputPath,
        options: [
          ...'-map 0:v:0 -c:v copy'.split(' '),
          ...(tag < 0 ? [] : coding.slice(tag, tag + 2)),
          ...timescaleOptions(stream),
          ...soundOptions(info, 1),
          ...writingOptions(1),
        ],
      },
    ],
    expectedDurationMs: info.durationMs,
  };
}

function clipInput({ inputPath, info, decoderThreads }: CopyRecipe, cut: readonly string[] = []) {
  const options = [...uploadedPictureOptions(info), '-threads', String(decoderThreads), ...cut];
  return { path: inputPath, format: info.format, options };
}

function pictures({ coding, stream }: CopyRecipe, filters: string): string[] {
  return [
    ...'-map 0:v:0'.split(' '),
    ...timingOptions(stream),
    '-vf',
    filters,
    ...coding,
    ...timescaleOptions(stream),
  ];
}
