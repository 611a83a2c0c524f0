/** Low and high bits of the order count from which the next one is derived. */
export interface CountBefore {
  readonly lsb: number;
  readonly msb: number;
}

/**
 * High bits of a picture order count, derived from the previous picture's (PicOrderCntMsb, ITU-T H.264, 8-3, and H.265,
 * 8-1).
 * @param range the number at which the low bits wrap
 */
export function orderMsb(lsb: number, before: CountBefore, range: number): number {
  if (lsb < before.lsb && before.lsb - lsb >= range / 2) return before.msb + range;
  if (lsb > before.lsb && lsb - before.lsb > range / 2) return before.msb - range;
  return before.msb;
}

/** The properties of a picture that matter for the order counts of others. */
export interface CountedPicture {
  /** Null where it is not known. */
  readonly count: number | null;
  /** Whether the counts after it are derived from its own. */
  readonly isCountedFrom: boolean;
  /** Whether all counts start anew with it, so that its own needs none before. */
  readonly restarts: boolean;
}

/**
 * Whether a decoder gets these counts right from their low bits: each must be less than half of the range away from the
 * one that it is derived from (ITU-T H.264, 8.2.1.1, and H.265, 8.3.1).
 * @param pictures decode order
 */
export function areToldByLowBits(pictures: readonly CountedPicture[], range: number): boolean {
  let before = 0;
  return pictures.every(({ count, isCountedFrom, restarts }) => {
    if (count === null) return true;
    const isNear = restarts || Math.abs(count - before) < range / 2;
    if (isCountedFrom || restarts) before = count;
    return isNear;
  });
}

/** The number modulo `range`, never negative. */
export const wrapped = (value: number, range: number): number => ((value % range) + range) % range;
