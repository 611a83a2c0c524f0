import { open, rm } from 'node:fs/promises';
import type { FfmpegPlan } from '#server/media/ffmpeg-plan.ts';
import { runFfmpeg } from '#server/media/run-ffmpeg.ts';
import type { ToolPaths } from '#server/media/tools.ts';
import { collectPictures } from './rebuild-pictures-decode.ts';
import { rawFormat, type RawFormat } from './rebuild-pictures-raw.ts';
import { pasteTile, tilesOf, type Box, type Tile } from './rebuild-pictures-tiles.ts';

/** A picture between two anchors: interval 0, 1 or 2, and its step from the earlier anchor, from 1. */
export interface MotionPlace {
  readonly interval: number;
  readonly step: number;
}

export interface MotionInput {
  /** Four pictures at equal distances; new ones are made between each two of them. */
  readonly anchors: readonly [Uint8Array, Uint8Array, Uint8Array, Uint8Array];
  /** Equal steps from one anchor to the next. */
  readonly steps: number;
  /** The pictures that are wanted; they are held in memory at once. */
  readonly wanted: readonly MotionPlace[];
  readonly format: RawFormat;
  /** Scratch file for the anchors; removed afterwards. */
  readonly scratchPath: string;
  readonly tools: ToolPaths;
  readonly signal?: AbortSignal;
}

export interface MotionPicture extends MotionPlace {
  readonly picture: Uint8Array;
}

/**
 * Motion-compensated interpolation between anchors with ffmpeg's minterpolate: overlapped blocks (aobmc),
 * bidirectional search, variable block sizes. Its scene-change test is off, because where scenes change is
 * known before. One pass gives the pictures of the hole (interval 1) and those of its two neighbours, whose
 * truth is known. Large pictures are worked on in parts, because the filter's memory grows with the pixels.
 * Eight bits per sample only; the caller keeps deeper formats away.
 * @throws MediaToolError when ffmpeg cannot run
 */
export async function interpolateMotion(input: MotionInput): Promise<MotionPicture[]> {
  const { format, wanted } = input;
  const made = wanted.map((place) => ({ ...place, picture: new Uint8Array(format.pictureBytes) }));
  const scratch = await open(input.scratchPath, 'w');
  try {
    for (const anchor of input.anchors) await scratch.write(anchor);
    // The filter looks one picture ahead and drops the last interval: a copy behind makes it whole.
    await scratch.write(input.anchors[3]);
  } finally {
    await scratch.close();
  }
  try {
    for (const tile of tilesOf(format)) await interpolateTile(input, tile, made);
  } finally {
    await rm(input.scratchPath, { force: true });
  }
  return made;
}

async function interpolateTile(
  input: MotionInput,
  tile: Tile,
  made: readonly MotionPicture[],
): Promise<void> {
  const { format, steps } = input;
  const part = rawFormat(format.name, tile.read.width, tile.read.height);
  if (!part) return;
  const last = Math.max(...made.map(({ interval, step }) => interval * steps + step));
  const assemble = collectPictures(part.pictureBytes, (picture, index) => {
    for (const one of made) {
      if (one.interval * steps + one.step === index) pasteTile(picture, tile, one.picture, format);
    }
  });
  await runFfmpeg(motionPlan(input.scratchPath, format, steps, tile.read, last + 1), {
    tools: input.tools,
    signal: input.signal,
    onStdout: assemble,
  });
}

function motionPlan(
  scratchPath: string,
  format: RawFormat,
  steps: number,
  box: Box,
  pictures: number,
): FfmpegPlan {
  const filter = [
    `crop=${box.width}:${box.height}:${box.x}:${box.y}`,
    `minterpolate=fps=${steps}:mi_mode=mci:mc_mode=aobmc:me_mode=bidir:vsbmc=1:scd=none`,
    `format=${format.name}`,
  ].join(',');
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
    outputs: [{ path: 'pipe:1', options: ['-vf', filter, '-frames:v', String(pictures), '-f', 'rawvideo'] }],
    expectedDurationMs: null,
  };
}
