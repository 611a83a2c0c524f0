import { createBitReader } from './bits.ts';
import { nalType, NAL, toRbsp } from './nal.ts';
import { parseSliceHeader, type SliceContext } from './slice-header.ts';

/** Bytes that certainly hold the head of an IDR slice, emulation prevention included. */
const HEAD_BYTES = 64;

/**
 * Quantiser that an IDR slice begins with, 0 to 51 at 8 bits: how finely a stream codes its key pictures.
 * (ITU-T H.264, 7.3.3: behind the order count stand only the marking and this, as nothing is referred to.)
 * @returns null for any other unit
 * @throws H264Error when the slice is cut off or the stream has fields
 */
export function idrQuantiser(unit: Buffer, { sps, pps }: SliceContext): number | null {
  if (unit.length === 0 || nalType(unit) !== NAL.idrSlice) return null;
  const { kind, ppsId } = parseSliceHeader(unit, sps);
  if (kind !== 'I' || ppsId !== pps.id || sps.pocType === 1) return null;
  const reader = createBitReader(toRbsp(unit.subarray(0, HEAD_BYTES)));
  reader.bits(8);
  reader.ue();
  reader.ue();
  reader.ue();
  if (sps.separateColourPlanes) reader.bits(2);
  reader.bits(sps.frameNumBits);
  reader.ue();
  if (sps.pocType === 0) {
    reader.bits(sps.pocBits);
    if (pps.fieldOrderInSlices) reader.se();
  }
  if (pps.redundantPictures) reader.ue();
  // no_output_of_prior_pics_flag, long_term_reference_flag
  reader.bits(2);
  return 26 + pps.initQp + reader.se();
}
