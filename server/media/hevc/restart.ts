/** NAL unit types of pictures at which a decoder may start, IRAP (ITU-T H.265, table 7-1). */
const isIrap = (type: number) => type >= 16 && type <= 23;
/** All coded slices lie below. */
const FIRST_OTHER = 32;

/** Whether a decoder may start at the picture of a sound MP4 sample: whether its first slice is of an IRAP picture. */
export function isHevcRestart(sample: Buffer, lengthSize: number): boolean {
  let at = 0;
  while (at + lengthSize < sample.length) {
    const type = ((sample[at + lengthSize] ?? 0) >> 1) & 63;
    if (type < FIRST_OTHER) return isIrap(type);
    at += lengthSize + sample.readUIntBE(at, lengthSize);
  }
  return false;
}
