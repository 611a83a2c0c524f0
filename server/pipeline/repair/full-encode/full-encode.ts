import { open } from 'node:fs/promises';
import path from 'node:path';
import { findVideoTrack, readMovie } from '#server/media/mp4/movie.ts';
import { readSamples } from '#server/media/mp4/sample-table.ts';
import type { PictureTimes } from '../../analyse/analysis.ts';
import { assembleClip } from './full-encode-assemble.ts';
import { listPictures } from './full-encode-list.ts';
import { createClipDecoder, encodePictures, toWorkingFormat } from './full-encode-pictures.ts';
import type { NewPicture } from '../picture-edit.ts';
import type { SmartRenderInput } from '../smart-render/smart-render.ts';
import { openPixels } from '../smart-render/smart-render-pixels.ts';

export interface FullEncodeInput extends SmartRenderInput {
  /** Known times of the original's pictures; found by reading or decoding the file when absent. */
  readonly pictures?: PictureTimes;
}

export interface FullEncodeResult {
  /** Number of pictures in the result. */
  readonly framesTotal: number;
  /** Originals that could not be decoded; the picture before is shown in their place. */
  readonly heldFrames: readonly number[];
}

/** Writing the file at the end takes little time compared with encoding. */
const ENCODE_SHARE = 0.98;

/**
 * Applies an edit to a clip of any kind by encoding all its pictures again as H.264 in MP4. Every picture keeps its
 * planned time (variable rates stay), rotation becomes a display matrix, the colour description is kept, and high
 * dynamic range is coded in 10 bits. Sound and other tracks of MP4 files are carried over byte for byte. Sound of other
 * containers is copied if MP4 can hold it, else encoded as AAC.
 * @throws MediaToolError when ffmpeg fails or the run is cancelled; Mp4Error when the result cannot be written.
 */
export async function fullEncode(input: FullEncodeInput): Promise<FullEncodeResult> {
  const format = toWorkingFormat(input);
  const times = await listPictures(input);
  const planned = applyEdit(times, input);
  const decoder = createClipDecoder(input, format, times);
  const pixels = openPixels(
    { decoder, workDir: input.workDir, pictureBytes: format.pictureBytes, label: 'full-encode' },
    planned.map((picture) => picture.pixels),
  );
  const picturesPath = path.join(input.workDir, 'full-encode-pictures.mp4');
  await encodePictures({
    ...input,
    format,
    pictures: pixels.pictures,
    outputPath: picturesPath,
    onPicture: (count) => input.onProgress?.(Math.min(1, count / Math.max(1, planned.length)) * ENCODE_SHARE),
  });
  await checkCount(picturesPath, planned.length);
  await assembleClip({ ...input, picturesPath, ptsTicks: planned.map(({ ptsTicks }) => ptsTicks) });
  input.onProgress?.(1);
  return { framesTotal: planned.length, heldFrames: pixels.held };
}

/** All pictures of the result: unchanged originals at their (shifted) times, and the edit's new ones. */
function applyEdit(times: readonly number[], input: FullEncodeInput): NewPicture[] {
  const planned: NewPicture[] = [];
  let shift = 0;
  let next = 0;
  const keepUpTo = (end: number) => {
    for (; next < Math.min(end, times.length); next++) {
      planned.push({
        ptsTicks: (times[next] ?? 0) + shift,
        pixels: { kind: 'original', frame: next },
      });
    }
  };
  for (const span of input.edit) {
    keepUpTo(span.firstFrame);
    planned.push(...span.pictures);
    next = Math.max(next, span.endFrame);
    shift += span.shiftAfterTicks;
  }
  keepUpTo(times.length);
  // Players need rising times; times that repeat or step back in the original are moved by one tick.
  let latest = -Infinity;
  return planned.map((picture) => {
    latest = Math.max(picture.ptsTicks, latest + 1);
    return { ...picture, ptsTicks: latest };
  });
}

async function checkCount(picturesPath: string, expected: number): Promise<void> {
  const file = await open(picturesPath, 'r');
  try {
    const count = readSamples(findVideoTrack(await readMovie(file), 0).stbl).length;
    if (count !== expected) throw new Error(`The encoder gave ${count} pictures instead of ${expected}.`);
  } finally {
    await file.close();
  }
}
