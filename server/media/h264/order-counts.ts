import { createBitReader } from './bits.ts';
import { NAL, fromRbsp, nalType, toRbsp } from './nal.ts';
import type { Sps } from './sps.ts';
import { areToldByLowBits, orderMsb, type CountBefore, type CountedPicture } from '../order-count.ts';

/** The fields of a coded picture that determine its order count. */
export interface CountedHead {
  readonly idr: boolean;
  readonly refIdc: number;
  readonly pocLsb: number | null;
}

/**
 * Order counts of pictures from a key picture on (ITU-T H.264, 8.2.1.1).
 * @param heads decode order, the key picture first; null for damaged ones, which are left out
 * @param pocBits as the sequence states
 */
export function orderCounts(heads: readonly (CountedHead | null)[], pocBits: number): (number | null)[] {
  const range = 2 ** pocBits;
  let before: CountBefore = { lsb: 0, msb: 0 };
  return heads.map((head) => {
    if (!head || head.pocLsb === null) return null;
    const { pocLsb: lsb } = head;
    const msb = head.idr ? 0 : orderMsb(lsb, before, range);
    if (head.refIdc > 0) before = { lsb, msb };
    return msb + lsb;
  });
}

/** Whether a decoder gets these counts right from their low bits. */
export function areTold(
  counts: readonly (number | null)[],
  heads: readonly (CountedHead | null)[],
  pocBits: number,
): boolean {
  const pictures = counts.map((count, at): CountedPicture => {
    const head = heads[at];
    return { count, isCountedFrom: (head?.refIdc ?? 0) > 0, restarts: head?.idr === true };
  });
  return areToldByLowBits(pictures, 2 ** pocBits);
}

/**
 * A slice with another order count. All other bits stay, because the count has a fixed length.
 * @param sps of a stream without fields, whose pictures carry such counts (type 0)
 * @throws H264Error when it is cut off
 */
export function withOrderCount(slice: Buffer, sps: Sps, count: number): Buffer {
  const rbsp = toRbsp(slice);
  const reader = createBitReader(rbsp);
  reader.bits(8);
  reader.ue();
  reader.ue();
  reader.ue();
  if (sps.separateColourPlanes) reader.bits(2);
  reader.bits(sps.frameNumBits);
  if (nalType(slice) === NAL.idrSlice) reader.ue();
  const from = reader.position();
  reader.bits(sps.pocBits);
  for (let bit = 0; bit < sps.pocBits; bit += 1) {
    const at = from + bit;
    const mask = 0x80 >> (at & 7);
    const isSet = Math.floor(count / 2 ** (sps.pocBits - 1 - bit)) % 2 !== 0;
    rbsp[at >> 3] = ((rbsp[at >> 3] ?? 0) & ~mask) | (isSet ? mask : 0);
  }
  return fromRbsp(rbsp);
}
