import type { FileHandle } from 'node:fs/promises';
import { type Box, container, parseBoxes, readBoxHeader } from './box.ts';
import { readExactly, readUpTo } from './file-bytes.ts';
import { Mp4Error } from './mp4-error.ts';

const PIECE_BYTES = 4 << 20;
const MAX_MOOV_BYTES = 128 << 20;

/**
 * Looks for a whole index anywhere in a file whose box lengths hide it: the type `moov` with a length that
 * fits the file and children that parse, a movie header first.
 * @returns the last one that parses (writers replace an earlier draft by a later one), or null
 */
export async function findHiddenMoov(
  file: FileHandle,
  fileBytes: number,
  signal?: AbortSignal,
): Promise<Box | null> {
  let found: Box | null = null;
  for (let start = 0; start < fileBytes; start += PIECE_BYTES - 16) {
    signal?.throwIfAborted();
    const piece = await readUpTo(file, start, PIECE_BYTES);
    for (let at = piece.indexOf('moov', 4, 'latin1'); at >= 4; at = piece.indexOf('moov', at + 1, 'latin1')) {
      found = (await parseMoovAt(file, start + at - 4, fileBytes)) ?? found;
    }
  }
  return found;
}

async function parseMoovAt(file: FileHandle, offset: number, fileBytes: number): Promise<Box | null> {
  const header = readBoxHeader(await readUpTo(file, offset, 16), fileBytes - offset);
  if (!header || header.sizeBytes > Math.min(fileBytes - offset, MAX_MOOV_BYTES)) return null;
  const bytes = await readExactly(file, offset + header.headerBytes, header.sizeBytes - header.headerBytes);
  if (bytes.toString('latin1', 4, 8) !== 'mvhd') return null;
  try {
    return container('moov', parseBoxes(bytes));
  } catch (error) {
    if (error instanceof Mp4Error) return null;
    throw error;
  }
}
