import { open, type FileHandle } from 'node:fs/promises';
import { readUpTo } from '../mp4/file-bytes.ts';

/**
 * How far a beginning is searched for. Photos with a movie behind them, and what mail and web forms put in front, are
 * smaller.
 */
const SEARCHED_BYTES = 64 << 20;
const PIECE_BYTES = 4 << 20;
/** A container header ends within this. */
const HEAD_BYTES = 64;
/** A file type box lists a brand and up to 60 compatible ones (ISO/IEC 14496-12, 4.3). */
const MAX_FTYP_BYTES = 256;
const BRAND = /^[\x20-\x7e]{4}$/;

/**
 * Where an MP4, QuickTime or AVI file begins behind bytes that do not belong to it.
 * @returns bytes in front of it; null when none begins in the first 64 MiB behind the first byte
 */
export async function findContainerStart(path: string, signal?: AbortSignal): Promise<number | null> {
  const file = await open(path, 'r');
  try {
    return await search(file, signal);
  } finally {
    await file.close();
  }
}

async function search(file: FileHandle, signal?: AbortSignal): Promise<number | null> {
  for (let from = 0; from < SEARCHED_BYTES; from += PIECE_BYTES) {
    signal?.throwIfAborted();
    const piece = await readUpTo(file, from, PIECE_BYTES + HEAD_BYTES);
    const starts = [...places(piece, 'ftyp', 4), ...places(piece, 'RIFF', 0)].filter(
      (at) => from + at > 0 && (isFileType(piece, at) || isAvi(piece, at)),
    );
    if (starts.length > 0) return from + Math.min(...starts);
    if (piece.length < PIECE_BYTES) return null;
  }
  return null;
}

/** Starts of headers, found through a word that stands `back` bytes behind the start. */
function places(piece: Buffer, word: string, back: number): number[] {
  const found: number[] = [];
  for (let at = piece.indexOf(word, back, 'latin1'); at >= 0; at = piece.indexOf(word, at + 1, 'latin1')) {
    found.push(at - back);
  }
  return found;
}

/** A file type box followed by another box. */
function isFileType(piece: Buffer, at: number): boolean {
  if (at + 16 > piece.length || piece.toString('latin1', at + 4, at + 8) !== 'ftyp') return false;
  const size = piece.readUInt32BE(at);
  const next = at + size;
  if (size < 16 || size > MAX_FTYP_BYTES || size % 4 !== 0) return false;
  const follows = next + 8 > piece.length || BRAND.test(piece.toString('latin1', next + 4, next + 8));
  return follows && BRAND.test(piece.toString('latin1', at + 8, at + 12));
}

function isAvi(piece: Buffer, at: number): boolean {
  return (
    piece.toString('latin1', at, at + 4) === 'RIFF' &&
    piece.toString('latin1', at + 8, at + 16) === 'AVI LIST'
  );
}
