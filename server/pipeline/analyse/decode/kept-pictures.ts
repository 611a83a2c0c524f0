import { open, type FileHandle } from 'node:fs/promises';
import type { GreySize } from '#server/media/grey/grey-frame.ts';
import { readExactly, writeFully } from '#server/media/mp4/file-bytes.ts';

/** Small grey pictures that follow each other in a file: `count` decoded pictures from number `first` on. */
export interface KeptRun {
  readonly path: string;
  /** Place in the file of the run's first picture. */
  readonly at: number;
  readonly first: number;
  readonly count: number;
}

/** The small grey pictures that were measured, by display number, so that they can be looked at again. */
export interface KeptPictures {
  readonly size: GreySize;
  readonly runs: readonly KeptRun[];
}

export interface PictureKeeper {
  /** Adds the next picture; its bytes are copied. */
  add(picture: Uint8Array): void;
  /** Resolves when the batches added so far are written. */
  drain(): Promise<void>;
  /** Closes the file and tells what it holds; nothing when it could not be written. */
  finish(): Promise<KeptRun[]>;
}

/** Bytes that are written at once. */
const BATCH_BYTES = 1 << 20;
/**
 * Most bytes that the small pictures of one decoder take on the disk: about five minutes at 30 pictures a second.
 * Pictures beyond that are decoded again when needed.
 */
const MOST_BYTES = 128e6;

/**
 * Keeps pictures in a file as they come. If the disk is full, nothing is kept and no error is thrown: the pictures are
 * decoded again when needed.
 * @param bytes size of one picture
 */
export async function createPictureKeeper(path: string, bytes: number): Promise<PictureKeeper> {
  const most = Math.floor(MOST_BYTES / bytes);
  const perBatch = Math.max(1, Math.floor(BATCH_BYTES / bytes));
  let file: FileHandle | null = await open(path, 'w').catch(() => null);
  let batch = new Uint8Array(perBatch * bytes);
  let inBatch = 0;
  let taken = 0;
  let written = 0;
  let writing: Promise<void> = Promise.resolve();
  const flush = () => {
    const part = batch.subarray(0, inBatch * bytes);
    const count = inBatch;
    batch = new Uint8Array(perBatch * bytes);
    inBatch = 0;
    writing = writing.then(async () => {
      if (!file || count === 0) return;
      try {
        await writeFully(file, Buffer.from(part.buffer, part.byteOffset, part.length), written * bytes);
        written += count;
      } catch {
        // Later steps need the disk space more.
        await file.truncate(0).catch(() => undefined);
        await file.close().catch(() => undefined);
        file = null;
        written = 0;
      }
    });
  };
  return {
    add(picture) {
      if (!file || taken >= most) return;
      batch.set(picture, inBatch * bytes);
      inBatch += 1;
      taken += 1;
      if (inBatch === perBatch) flush();
    },
    drain: () => writing,
    async finish() {
      flush();
      await writing;
      await file?.close();
      return written === 0 ? [] : [{ path, at: 0, first: 0, count: written }];
    },
  };
}

/** The runs of the pictures `[from, end)`, renumbered so that `from` becomes `to`. */
export function sliceRuns(runs: readonly KeptRun[], from: number, end: number, to: number): KeptRun[] {
  return runs.flatMap(({ path, at, first, count }) => {
    const begin = Math.max(first, from);
    const stop = Math.min(first + count, end);
    if (stop <= begin) return [];
    return [{ path, at: at + begin - first, first: begin - from + to, count: stop - begin }];
  });
}

/**
 * The same pictures under other numbers.
 * @param numberOf new number of each old one; pictures without one are left out
 */
export function renumbered(runs: readonly KeptRun[], numberOf: readonly (number | undefined)[]): KeptRun[] {
  const named: KeptRun[] = [];
  for (const { path, at, first, count } of runs) {
    for (let step = 0; step < count; step += 1) {
      const number = numberOf[first + step];
      if (number === undefined) continue;
      const last = named.at(-1);
      const goesOn =
        last?.path === path && last.at + last.count === at + step && last.first + last.count === number;
      if (last && goesOn) named[named.length - 1] = { ...last, count: last.count + 1 };
      else named.push({ path, at: at + step, first: number, count: 1 });
    }
  }
  return named;
}

/**
 * Reads kept pictures.
 * @param frames their numbers
 * @returns by number, those that are kept and can be read; if there are several, the one in the last run
 */
export async function readKept(
  { size, runs }: KeptPictures,
  frames: readonly number[],
): Promise<Map<number, Uint8Array>> {
  const bytes = size.width * size.height;
  const pictures = new Map<number, Uint8Array>();
  for (const { path, at, first, count } of runs) {
    const wanted = frames.filter((frame) => frame >= first && frame < first + count);
    if (wanted.length === 0) continue;
    const file = await open(path, 'r').catch(() => null);
    if (!file) continue;
    try {
      for (const frame of wanted)
        pictures.set(frame, await readExactly(file, (at + frame - first) * bytes, bytes));
    } catch {
      // If the file ends early, these pictures are only decoded again.
    } finally {
      await file.close();
    }
  }
  return pictures;
}
