import { open, rm } from 'node:fs/promises';
import type { FfmpegPlan } from '#server/media/ffmpeg-plan.ts';
import { runFfmpeg } from '#server/media/run-ffmpeg.ts';
import type { ToolPaths } from '#server/media/tools.ts';
import { collectPictures } from './rebuild-pictures-decode.ts';
import type { RawFormat } from './rebuild-pictures-raw.ts';

export interface MotionInput {
  /** Four pictures at equal distances; new ones are made between each two of them. */
  readonly anchors: readonly [Uint8Array, Uint8Array, Uint8Array, Uint8Array];
  /** New pictures between two anchors. */
  readonly between: number;
  readonly format: RawFormat;
  /** Scratch file for the anchors; removed afterwards. */
  readonly scratchPath: string;
  readonly tools: ToolPaths;
  readonly signal?: AbortSignal;
  /** Receives the new picture number `step` (1 to `between`) of interval `interval` (0, 1 or 2). */
  readonly onPicture: (picture: Uint8Array, interval: number, step: number) => void | Promise<void>;
}

/**
 * Motion-compensated interpolation between anchors with ffmpeg's minterpolate: overlapped blocks (aobmc),
 * bidirectional search, variable block sizes. Its scene-change test is off, because where scenes change is
 * known before. One run gives the pictures of the hole (interval 1) and those of its two neighbours, whose
 * truth is known. Eight bits per sample only; the caller keeps deeper formats away.
 * @throws MediaToolError when ffmpeg cannot run
 */
export async function interpolateMotion(input: MotionInput): Promise<void> {
  const { format, between } = input;
  const steps = between + 1;
  const scratch = await open(input.scratchPath, 'w');
  try {
    for (const anchor of input.anchors) await scratch.write(anchor);
    // The filter looks one picture ahead and drops the last interval: a copy behind makes it whole.
    await scratch.write(input.anchors[3]);
  } finally {
    await scratch.close();
  }
  const assemble = collectPictures(format.pictureBytes, async (picture, index) => {
    const step = index % steps;
    if (step > 0) await input.onPicture(picture, Math.floor(index / steps), step);
  });
  try {
    await runFfmpeg(motionPlan(input.scratchPath, format, steps), {
      tools: input.tools,
      signal: input.signal,
      onStdout: assemble,
    });
  } finally {
    await rm(input.scratchPath, { force: true });
  }
}

function motionPlan(scratchPath: string, format: RawFormat, steps: number): FfmpegPlan {
  const filter = `minterpolate=fps=${steps}:mi_mode=mci:mc_mode=aobmc:me_mode=bidir:vsbmc=1:scd=none`;
  return {
    label: 'interpolate along the motion',
    inputs: [
      {
        path: scratchPath,
        format: 'rawvideo',
        options: [
          '-pixel_format',
          format.name,
          '-video_size',
          `${format.width}x${format.height}`,
          '-framerate',
          '1',
        ],
      },
    ],
    outputs: [
      {
        path: 'pipe:1',
        options: ['-vf', `${filter},format=${format.name}`, '-frames:v', String(3 * steps), '-f', 'rawvideo'],
      },
    ],
    expectedDurationMs: null,
  };
}
