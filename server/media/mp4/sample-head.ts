import type { FileHandle } from 'node:fs/promises';
import { readUpTo } from './file-bytes.ts';

/** Bytes read at the head of a coded picture. Parameter sets and messages come before its first slice. */
const HEAD_BYTES = 4096;

/** The head of a length-prefixed sample, and the length of the whole sample. */
export interface SampleHead {
  readonly bytes: Buffer;
  readonly sampleBytes: number;
}

/** The first bytes of a coded picture, enough to reach its first slice. */
export async function readSampleHead(
  file: FileHandle,
  { offset, sizeBytes }: { readonly offset: number; readonly sizeBytes: number },
  headBytes = HEAD_BYTES,
): Promise<SampleHead> {
  return { bytes: await readUpTo(file, offset, Math.min(headBytes, sizeBytes)), sampleBytes: sizeBytes };
}

/**
 * The first unit of a kind in the head of a sample, as far as it was read, and whether nothing follows it. Null when
 * none is found or the lengths make no sense.
 */
export function firstUnit(
  { bytes, sampleBytes }: SampleHead,
  lengthSize: number,
  isWanted: (unit: Buffer) => boolean,
): { readonly unit: Buffer; readonly endsSample: boolean } | null {
  let at = 0;
  while (at + lengthSize < bytes.length) {
    const length = bytes.readUIntBE(at, lengthSize);
    const from = at + lengthSize;
    // The forbidden bit.
    if (length < 1 || from + length > sampleBytes || ((bytes[from] ?? 0) & 0x80) !== 0) return null;
    const unit = bytes.subarray(from, from + length);
    if (isWanted(unit)) return { unit, endsSample: from + length === sampleBytes };
    at = from + length;
  }
  return null;
}
