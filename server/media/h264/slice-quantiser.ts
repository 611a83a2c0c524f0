import { nalType, NAL, toRbsp } from './nal.ts';
import { readSliceStart } from './slice-data/slice-start.ts';
import { parseSliceHeader, type SliceContext } from './slice-header.ts';

/** Bytes that certainly hold the head of an IDR slice, emulation prevention included. */
const HEAD_BYTES = 64;

/**
 * Quantiser at the start of an IDR slice, 0 to 51 with 8 bits: how finely a stream codes its key pictures. (ITU-T
 * H.264, 7.3.3: only the marking stands between the order count and this, because there are no references.)
 * @returns null for any other unit
 * @throws H264Error when the slice is cut off or the stream has fields
 */
export function idrQuantiser(unit: Buffer, { sps, pps }: SliceContext): number | null {
  if (unit.length === 0 || nalType(unit) !== NAL.idrSlice) return null;
  const { kind, ppsId } = parseSliceHeader(unit, sps);
  if (kind !== 'I' || ppsId !== pps.id || sps.pocType === 1) return null;
  return readSliceStart(toRbsp(unit.subarray(0, HEAD_BYTES)), { sps, pps }).qp;
}
