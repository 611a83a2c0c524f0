import { hasStartCode } from '#server/media/h264/check-sample.ts';

/** NAL unit types of coded slices (ITU-T H.265, table 7-1): trailing and leading pictures, and those of random access. */
const isSlice = (type: number) => type <= 9 || (type >= 16 && type <= 21);

/**
 * What is wrong with the NAL units of one MP4 sample with an HEVC picture, found without decoding; null when nothing
 * is. As in H.264, emulation prevention (ITU-T H.265, 7.4.2) keeps `00 00 00`, `00 00 01` and `00 00 02` out of every
 * NAL unit, the forbidden bit is 0 and a picture has a slice.
 */
export function findHevcSampleFault(sample: Buffer, lengthSize: number): string | null {
  let at = 0;
  let slices = 0;
  while (at < sample.length) {
    if (at + lengthSize > sample.length) return 'the last NAL unit length is cut off';
    const length = sample.readUIntBE(at, lengthSize);
    at += lengthSize;
    if (length === 0) return 'a NAL unit is empty';
    if (at + length > sample.length) return 'NAL unit lengths do not add up to the size of the picture';
    const unit = sample.subarray(at, at + length);
    const fault = findHevcUnitFault(unit);
    if (fault) return fault;
    if (isSlice(((unit[0] ?? 0) >> 1) & 63)) slices++;
    at += length;
  }
  return slices === 0 ? 'the picture holds no slice' : null;
}

/** What is wrong with one NAL unit (without its length); null when nothing is. */
export function findHevcUnitFault(unit: Buffer): string | null {
  const [first = 0, second = 0] = unit;
  if (first & 0x80) return 'the forbidden bit of a NAL unit is set';
  // The temporal identifier is stored plus one (7.3.1.2).
  if (unit.length < 2 || (second & 7) === 0) return 'the header of a NAL unit is damaged';
  return hasStartCode(unit) ? 'bytes that cannot occur in coded data stand inside a NAL unit' : null;
}
