import type { FfmpegPlan } from './ffmpeg-plan.ts';
import { toSeconds } from './ffmpeg-plan.ts';
import { uploadedInputOptions } from '../probe/probe.ts';
import type { ContainerFormat } from '../probe/sniff-container.ts';

/** Longest side of the picture, so that two fit side by side on a phone. */
const LONGEST_SIDE_PX = 480;

export interface FrameWish {
  readonly inputPath: string;
  readonly format: ContainerFormat;
  /** JPEG file to write. */
  readonly outputPath: string;
  /** Presentation time, milliseconds. */
  readonly atMs: number;
}

/** Plan for one small JPEG of the picture shown at a time, turned as a player turns it. */
export function grabFramePlan({ inputPath, format, outputPath, atMs }: FrameWish): FfmpegPlan {
  const scale = `scale='if(gte(iw,ih),min(${LONGEST_SIDE_PX},iw),-2)':'if(gte(iw,ih),-2,min(${LONGEST_SIDE_PX},ih))'`;
  return {
    label: 'take a single picture',
    inputs: [
      {
        path: inputPath,
        format,
        options: [...uploadedInputOptions(format), '-threads', '1', '-ss', toSeconds(atMs)],
      },
    ],
    outputs: [
      {
        path: outputPath,
        options: [
          '-map',
          '0:v:0',
          '-frames:v',
          '1',
          '-vf',
          scale,
          '-q:v',
          '4',
          '-f',
          'image2',
          '-update',
          '1',
        ],
      },
    ],
    expectedDurationMs: null,
  };
}
