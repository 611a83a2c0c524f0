/** Low and high bits of the order count from which the next one is told. */
export interface CountBefore {
  readonly lsb: number;
  readonly msb: number;
}

/**
 * High bits of a picture order count, told from those of the picture before (PicOrderCntMsb, ITU-T H.264, 8-3, and H.265, 8-1).
 * @param range the number that the low bits wrap at
 */
export function orderMsb(lsb: number, before: CountBefore, range: number): number {
  if (lsb < before.lsb && before.lsb - lsb >= range / 2) return before.msb + range;
  if (lsb > before.lsb && lsb - before.lsb > range / 2) return before.msb - range;
  return before.msb;
}

/** A number that counts anew from 0 at `range`, also where it was counted down below 0. */
export const wrapped = (value: number, range: number): number => ((value % range) + range) % range;
