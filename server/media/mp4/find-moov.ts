import type { FileHandle } from 'node:fs/promises';
import { type Box, container, parseBoxes, readBoxHeader } from './box.ts';
import { readExactly, readUpTo } from './file-bytes.ts';
import { MAX_MOOV_BYTES } from './movie.ts';
import { Mp4Error } from './mp4-error.ts';

const PIECE_BYTES = 4 << 20;

/**
 * Looks for a whole index anywhere in a file, in case wrong box lengths hide it: a box of any name (some are named
 * `free`), with a length that fits the file and children that parse, the first of them a movie header.
 * @returns the last one that parses (writers replace an earlier draft by a later one), or null
 */
export async function findHiddenMoov(
  file: FileHandle,
  fileBytes: number,
  signal?: AbortSignal,
): Promise<Box | null> {
  let found: Box | null = null;
  for (let start = 0; start < fileBytes; start += PIECE_BYTES - 8) {
    signal?.throwIfAborted();
    const piece = await readUpTo(file, start, PIECE_BYTES);
    for (let at = piece.indexOf('mvhd', 4, 'latin1'); at >= 4; at = piece.indexOf('mvhd', at + 1, 'latin1')) {
      const child = start + at - 4;
      // Some writers use the 64-bit form of a length, though nothing here needs it.
      for (const headerBytes of [8, 16]) {
        if (child < headerBytes) continue;
        found = (await parseMoovAt(file, child - headerBytes, headerBytes, fileBytes)) ?? found;
      }
    }
  }
  return found;
}

async function parseMoovAt(
  file: FileHandle,
  offset: number,
  headerBytes: number,
  fileBytes: number,
): Promise<Box | null> {
  const header = readBoxHeader(await readUpTo(file, offset, 16), fileBytes - offset);
  if (
    !header ||
    header.headerBytes !== headerBytes ||
    header.sizeBytes > Math.min(fileBytes - offset, MAX_MOOV_BYTES)
  )
    return null;
  const bytes = await readExactly(file, offset + header.headerBytes, header.sizeBytes - header.headerBytes);
  if (bytes.toString('latin1', 4, 8) !== 'mvhd') return null;
  try {
    return container('moov', parseBoxes(bytes));
  } catch (error) {
    if (error instanceof Mp4Error) return null;
    throw error;
  }
}
