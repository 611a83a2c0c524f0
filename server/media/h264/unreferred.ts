import type { FileHandle } from 'node:fs/promises';
import { firstUnit, readSampleHead } from '../mp4/sample-head.ts';
import { NAL, nalType } from './nal.ts';

/** What stands in front of the first slice (delimiters, short messages) seldom is longer... */
const HEAD_BYTES = 256;
/** ...but in front of a key picture, where encoders tell their settings. */
const KEY_HEAD_BYTES = 8192;

interface SamplePlace {
  readonly offset: number;
  readonly sizeBytes: number;
}

/**
 * Whether no other picture refers to the one of a sample, so that it may be left out of a decode (ITU-T H.264, 7.4.1:
 * `nal_ref_idc` is 0 in all slices of such a picture or in none). False where that cannot be told from its first bytes.
 * @param lengthSize bytes of the length in front of each NAL unit
 */
export async function isUnreferred(
  file: FileHandle,
  sample: SamplePlace,
  lengthSize: number,
): Promise<boolean> {
  const slice = await firstSlice(file, sample, lengthSize, HEAD_BYTES);
  return slice !== undefined && nalType(slice) === NAL.slice && (slice[0] ?? 0) >> 5 === 0;
}

/**
 * Whether a sample holds an IDR picture, which clears the decoder: nothing behind it depends on anything before it
 * (ITU-T H.264, 7.4.1.2.4). False where that cannot be told from its first bytes.
 * @param lengthSize bytes of the length in front of each NAL unit
 */
export async function clearsDecoder(
  file: FileHandle,
  sample: SamplePlace,
  lengthSize: number,
): Promise<boolean> {
  const slice = await firstSlice(file, sample, lengthSize, KEY_HEAD_BYTES);
  return slice !== undefined && nalType(slice) === NAL.idrSlice;
}

const firstSlice = async (file: FileHandle, sample: SamplePlace, lengthSize: number, headBytes: number) =>
  firstUnit(await readSampleHead(file, sample, headBytes), lengthSize, isPicture)?.unit;

/** Data partitions carry pictures as well. */
const isPicture = (unit: Buffer) => nalType(unit) >= NAL.slice && nalType(unit) <= NAL.idrSlice;
