import { findFaultOf, findStartCode } from '#server/media/h264/check-sample.ts';

/** NAL unit types of coded slices (ITU-T H.265, table 7-1): trailing, leading and random access pictures. */
const isSlice = ([first = 0]: Buffer) => {
  const type = (first >> 1) & 63;
  return type <= 9 || (type >= 16 && type <= 21);
};

/**
 * What is wrong with the NAL units of one MP4 sample with an HEVC picture, found without decoding; null when nothing
 * is. As in H.264, emulation prevention (ITU-T H.265, 7.4.2) keeps `00 00 00`, `00 00 01` and `00 00 02` out of every
 * NAL unit, the forbidden bit is 0 and a picture has a slice.
 */
export const findHevcSampleFault = (sample: Buffer, lengthSize: number): string | null =>
  findFaultOf(sample, lengthSize, { isSlice, findFault: findHevcUnitFault });

/** What is wrong with one NAL unit (without its length); null when nothing is. */
export function findHevcUnitFault(unit: Buffer): string | null {
  const [first = 0, second = 0] = unit;
  if (first & 0x80) return 'the forbidden bit of a NAL unit is set';
  // The temporal identifier is stored plus one (7.3.1.2).
  if (unit.length < 2 || (second & 7) === 0) return 'the header of a NAL unit is damaged';
  return findStartCode(unit) !== null
    ? 'bytes that cannot occur in coded data stand inside a NAL unit'
    : null;
}
