import { open, type FileHandle } from 'node:fs/promises';
import { readUpTo } from '../mp4/file-bytes.ts';

const PIECE_BYTES = 1 << 20;
/**
 * Fewer zeros at the end are no sign of a copy that stopped, because files are padded to whole sectors and some boxes
 * end in a few zeros.
 */
const MIN_TAIL_BYTES = 4096;

/** How many bytes at the beginning of a file are zeros. */
export async function countLeadingZeros(filePath: string): Promise<number> {
  return within(filePath, async (file) => {
    for (let at = 0; ;) {
      const piece = await readUpTo(file, at, PIECE_BYTES);
      const filled = piece.findIndex((byte) => byte !== 0);
      if (filled >= 0 || piece.length === 0) return at + Math.max(0, filled);
      at += piece.length;
    }
  });
}

/**
 * Says that the end of a file is empty, which happens when a copy or download reserves the full length first and then
 * stops. Null where it is not, or where the file holds nothing else.
 */
export async function describeEmptyTail(filePath: string): Promise<string | null> {
  return within(filePath, async (file, fileBytes) => {
    const filledBytes = await withoutTrailingZeros(file, fileBytes);
    const emptyBytes = fileBytes - filledBytes;
    if (emptyBytes < MIN_TAIL_BYTES || filledBytes === 0) return null;
    const percent = Math.max(1, Math.round((emptyBytes / fileBytes) * 100));
    return `The last ${percent} % of the file are nothing but zeros: a copy or a download of it stopped there. If the whole clip is still where it came from, add it again from there.`;
  });
}

/** Length of a file up to its last byte that is not zero. */
async function withoutTrailingZeros(file: FileHandle, fileBytes: number): Promise<number> {
  for (let end = fileBytes; end > 0;) {
    const start = Math.max(0, end - PIECE_BYTES);
    const filled = (await readUpTo(file, start, end - start)).findLastIndex((byte) => byte !== 0);
    if (filled >= 0) return start + filled + 1;
    end = start;
  }
  return 0;
}

async function within<T>(
  filePath: string,
  read: (file: FileHandle, sizeBytes: number) => Promise<T>,
): Promise<T> {
  const file = await open(filePath, 'r');
  try {
    return await read(file, (await file.stat()).size);
  } finally {
    await file.close();
  }
}
