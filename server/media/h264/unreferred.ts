import type { FileHandle } from 'node:fs/promises';
import { readUpTo } from '../mp4/file-bytes.ts';
import { NAL } from './nal.ts';

/** What stands in front of the first slice (delimiters, short messages) seldom is longer. */
const HEAD_BYTES = 256;

/**
 * Whether no other picture refers to the one of a sample, so that it may be left out of a decode (ITU-T H.264, 7.4.1:
 * `nal_ref_idc` is 0 in all slices of such a picture or in none). False where that cannot be told from its first bytes.
 * @param lengthSize bytes of the length in front of each NAL unit
 */
export async function isUnreferred(
  file: FileHandle,
  { offset, sizeBytes }: { readonly offset: number; readonly sizeBytes: number },
  lengthSize: number,
): Promise<boolean> {
  const head = await readUpTo(file, offset, Math.min(sizeBytes, HEAD_BYTES));
  for (let at = 0; at + lengthSize < head.length;) {
    const unit = head[at + lengthSize] ?? 0;
    const type = unit & 31;
    if (type === NAL.slice) return unit >> 5 === 0;
    if (type >= NAL.partitionA && type <= NAL.idrSlice) return false;
    at += lengthSize + head.readUIntBE(at, lengthSize);
  }
  return false;
}
