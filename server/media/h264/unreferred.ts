import type { FileHandle } from 'node:fs/promises';
import { firstUnit, readSampleHead } from '../mp4/sample-head.ts';
import { NAL, nalType } from './nal.ts';

/** What stands in front of the first slice (delimiters, short messages) seldom is longer. */
const HEAD_BYTES = 256;

/**
 * Whether no other picture refers to the one of a sample, so that it may be left out of a decode (ITU-T H.264, 7.4.1:
 * `nal_ref_idc` is 0 in all slices of such a picture or in none). False where that cannot be told from its first bytes.
 * @param lengthSize bytes of the length in front of each NAL unit
 */
export async function isUnreferred(
  file: FileHandle,
  sample: { readonly offset: number; readonly sizeBytes: number },
  lengthSize: number,
): Promise<boolean> {
  const slice = firstUnit(await readSampleHead(file, sample, HEAD_BYTES), lengthSize, isPicture)?.unit;
  return slice !== undefined && nalType(slice) === NAL.slice && (slice[0] ?? 0) >> 5 === 0;
}

/** Data partitions carry pictures as well. */
const isPicture = (unit: Buffer) => nalType(unit) >= NAL.slice && nalType(unit) <= NAL.idrSlice;
