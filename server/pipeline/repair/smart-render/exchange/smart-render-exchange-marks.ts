import { open, type FileHandle } from 'node:fs/promises';
import { readInto } from '#server/media/mp4/file-bytes.ts';
import { marksPath, type PartInput } from './smart-render-exchange-decode.ts';
import { squareError } from './smart-render-exchange-likeness.ts';

/**
 * Compares the pictures of a changed part with those shown before, by the samples that were written of both
 * (`decodePart`).
 * @param before places of those that were shown before
 * @param after places of those that are shown now
 * @returns in the order of `after`, without places in which nothing was shown
 */
export async function compareMarks(
  input: Pick<PartInput, 'workDir' | 'name'>,
  before: readonly number[],
  after: readonly number[],
): Promise<{ readonly place: number; readonly error: number }[]> {
  const numbers = new Map(before.map((place, number) => [place, number]));
  if (!after.some((place) => numbers.has(place))) return [];
  const [was, is] = [await open(marksPath(input, 'old')), await open(marksPath(input, 'new'))];
  try {
    const [readOld, readNew] = [await reader(was, before.length), await reader(is, after.length)];
    const found: { place: number; error: number }[] = [];
    for (const [number, place] of after.entries()) {
      const old = numbers.get(place);
      if (old === undefined) continue;
      found.push({ place, error: squareError(await readOld(old), await readNew(number)) });
    }
    return found;
  } finally {
    await was.close();
    await is.close();
  }
}

/** Reads one of a file's equally long records; the next call overwrites it. */
async function reader(file: FileHandle, count: number): Promise<(number: number) => Promise<Buffer>> {
  const { size } = await file.stat();
  const sizeBytes = Math.floor(size / Math.max(1, count));
  const room = Buffer.alloc(sizeBytes);
  return (number) => readInto(file, number * sizeBytes, room);
}
