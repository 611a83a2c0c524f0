import type { FileHandle } from 'node:fs/promises';
import { Mp4Error } from './mp4-error.ts';

/** A stretch of bytes of an open file. */
export interface ByteRange {
  readonly file: FileHandle;
  readonly offset: number;
  readonly sizeBytes: number;
}

/**
 * Reads exactly `sizeBytes` from `offset`.
 * @throws Mp4Error when the file ends before that.
 */
export async function readExactly(file: FileHandle, offset: number, sizeBytes: number): Promise<Buffer> {
  const bytes = await readUpTo(file, offset, sizeBytes);
  if (bytes.length < sizeBytes) throw new Mp4Error('The file ends before its data does.');
  return bytes;
}

/**
 * Fills `room` from `offset`, for repeated reads into the same memory.
 * @returns `room`
 * @throws Mp4Error when the file ends before that.
 */
export async function readInto(file: FileHandle, offset: number, room: Buffer): Promise<Buffer> {
  if ((await fill(file, offset, room)) < room.length)
    throw new Mp4Error('The file ends before its data does.');
  return room;
}

/** Reads `sizeBytes` from `offset`, or fewer at the end of the file. */
export async function readUpTo(file: FileHandle, offset: number, sizeBytes: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(sizeBytes);
  return bytes.subarray(0, await fill(file, offset, bytes));
}

/** Returns how many bytes there were. */
async function fill(file: FileHandle, offset: number, bytes: Buffer): Promise<number> {
  let filled = 0;
  while (filled < bytes.length) {
    const { bytesRead } = await file.read(bytes, filled, bytes.length - filled, offset + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return filled;
}

/** Writes all of `bytes` at `position`. */
export async function writeFully(file: FileHandle, bytes: Buffer, position: number): Promise<void> {
  let written = 0;
  while (written < bytes.length) {
    const result = await file.write(bytes, written, bytes.length - written, position + written);
    written += result.bytesWritten;
  }
}
