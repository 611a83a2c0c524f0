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

/** A picture as far as its order count matters to others. */
export interface CountedPicture {
  /** Null where it is not known. */
  readonly count: number | null;
  /** Whether the next counts are told from its own. */
  readonly isCountedFrom: boolean;
  /** Whether it begins all counts anew, so that its own needs none before. */
  readonly restarts: boolean;
}

/**
 * Whether a decoder tells these counts by their low bits: those counted from in front are less than half of the range away (ITU-T H.264, 8.2.1.1,
 * and H.265, 8.3.1).
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

/** A number that counts anew from 0 at `range`, also where it was counted down below 0. */
export const wrapped = (value: number, range: number): number => ((value % range) + range) % range;
