import { longestRising } from '#server/media/longest-rising.ts';
import { open, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { readExactly, writeFully } from '#server/media/mp4/file-bytes.ts';
import type { PixelSource } from '../picture-edit.ts';

/** An original picture with its number. */
export interface NumberedPicture {
  readonly frame: number;
  readonly pixels: Buffer;
}

/** Decoder runs over the original. */
export interface OriginalDecoder {
  /** Earlier pictures are not delivered by the run that starts at this one. */
  readonly firstFrame: number;
  /** Splits ascending picture numbers into groups, each for one decoder run. */
  group(frames: readonly number[]): number[][];
  /**
   * One run of the decoder that delivers all `wanted` pictures (ascending numbers) in display order; those that cannot
   * be decoded are missing.
   */
  run(wanted: readonly number[], label: string): AsyncGenerator<NumberedPicture>;
}

export interface PixelInput {
  readonly decoder: OriginalDecoder;
  readonly workDir: string;
  readonly pictureBytes: number;
  /** Distinguishes the working files of several calls. */
  readonly label: string;
}

export interface PixelStream {
  /** Raw pictures in the requested order. */
  readonly pictures: AsyncIterable<Buffer>;
  /** Originals that never came out of the decoder, replaced by the one before; complete at the end. */
  readonly held: readonly number[];
}

/**
 * Streams the pixels of planned pictures: originals from one decoder run in ascending order, raw ones from their files.
 * Originals wanted out of that order are decoded first, into a working file.
 */
export function openPixels(input: PixelInput, wanted: readonly PixelSource[]): PixelStream {
  const held: number[] = [];
  return { held, pictures: generate(input, wanted, held) };
}

async function* generate(
  input: PixelInput,
  wanted: readonly PixelSource[],
  held: number[],
): AsyncGenerator<Buffer> {
  const { inOrder, apart } = splitByOrder(wanted, input.decoder.firstFrame);
  const { pictureBytes } = input;
  const side = await decodeApart(input, apart, held);
  const main = inOrder.length > 0 ? createSeeker(input.decoder.run(inOrder, input.label), held) : null;
  const files = new Map<string, FileHandle>();
  try {
    for (const pixels of wanted) {
      if (pixels.kind === 'raw') {
        const file = files.get(pixels.path) ?? (await open(pixels.path, 'r'));
        files.set(pixels.path, file);
        yield await readExactly(file, pixels.index * pictureBytes, pictureBytes);
        continue;
      }
      const position = side.positions.get(pixels.frame);
      if (position !== undefined && side.file) {
        yield await readExactly(side.file, position * pictureBytes, pictureBytes);
      } else if (main) {
        yield await main.seek(pixels.frame);
      }
    }
  } finally {
    await main?.close();
    for (const file of files.values()) await file.close();
    await side.file?.close();
  }
}

/** Which originals the main decoder run delivers in ascending order, and which must be decoded separately. */
function splitByOrder(wanted: readonly PixelSource[], firstFrame: number) {
  const frames = wanted.flatMap((pixels) => (pixels.kind === 'original' ? [pixels.frame] : []));
  const inRun = frames.map((frame) => (frame >= firstFrame ? frame : null));
  const streamed = new Set(longestRising(inRun, true));
  // A picture with even one use out of order is read from the side file every time.
  const apart = new Set(frames.filter((_, index) => !streamed.has(index)));
  return {
    inOrder: frames.filter((frame) => !apart.has(frame)),
    apart: [...apart].sort((a, b) => a - b),
  };
}

interface Seeker {
  /** Pixels of an original; numbers must not descend. */
  seek(frame: number): Promise<Buffer>;
  close(): Promise<void>;
}

function createSeeker(pictures: AsyncGenerator<NumberedPicture>, held: number[]): Seeker {
  let current: NumberedPicture | null = null;
  let ahead: NumberedPicture | null = null;
  let ended = false;
  return {
    async seek(frame) {
      while (!ended && (!ahead || ahead.frame <= frame)) {
        if (ahead) current = ahead;
        const { value, done } = await pictures.next();
        ended = done === true;
        ahead = done ? null : value;
      }
      if (current?.frame !== frame && held.at(-1) !== frame) held.push(frame);
      const shown = current ?? ahead;
      if (!shown) throw new Error('The decoder gave no picture at all.');
      return shown.pixels;
    },
    async close() {
      await pictures.return(undefined);
    },
  };
}

/** Decodes originals needed out of order into one file of raw pictures. */
async function decodeApart(
  input: PixelInput,
  frames: readonly number[],
  held: number[],
): Promise<{ file: FileHandle | null; positions: Map<number, number> }> {
  const positions = new Map<number, number>();
  if (frames.length === 0) return { file: null, positions };
  const file = await open(path.join(input.workDir, `${input.label}-apart.raw`), 'w+');
  for (const [number, group] of input.decoder.group(frames).entries()) {
    const seeker = createSeeker(input.decoder.run(group, `${input.label}-apart-${number}`), held);
    try {
      for (const frame of group) {
        const position = positions.size;
        await writeFully(file, await seeker.seek(frame), position * input.pictureBytes);
        positions.set(frame, position);
      }
    } finally {
      await seeker.close();
    }
  }
  return { file, positions };
}
