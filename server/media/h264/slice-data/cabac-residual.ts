import type { CabacDecoder } from '../../cabac/cabac-decoder.ts';
import { BLOCK, type BlockKind, MOST_COEFFICIENTS } from './elements.ts';
import { SLICE_FAULT } from './slice-faults.ts';

/** First contexts by ctxBlockCat (ITU-T H.264, tables 9-34 and 9-40), frames only. */
const CODED = [85, 89, 93, 97, 101] as const;
const SIGNIFICANT = [105, 120, 134, 149, 152, 402] as const;
const LAST = [166, 181, 195, 210, 213, 417] as const;
const LEVEL = [227, 237, 247, 257, 266, 426] as const;

/**
 * Contexts within an 8 x 8 block by place, for the significance flags and the flags of the last coefficient (table
 * 9-43).
 */
const SIGNIFICANT_8 = [
  [0, 1, 2, 3, 4, 5, 5, 4, 4, 3, 3, 4, 4, 4, 5, 5, 4, 4, 4, 4, 3, 3, 6, 7, 7, 7, 8, 9, 10, 9, 8, 7],
  [7, 6, 11, 12, 13, 11, 6, 7, 8, 9, 14, 10, 9, 8, 6, 11, 12, 13, 11, 6, 9, 14, 10, 9, 11, 12, 13, 11],
  [14, 10, 12],
].flat();
const LAST_8 = [
  [0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2],
  [3, 3, 3, 3, 3, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4, 5, 5, 5, 5, 6, 6, 6, 6, 7, 7, 7, 7, 8, 8, 8],
].flat();

/** Longest suffix of a level or a vector; no 8-bit stream has more. */
const MOST_SUFFIX = 24;
/** Number of ones in front of a suffix. */
const PREFIX_END = 14;

/**
 * Skips a block of coefficients (ITU-T H.264, 7.3.5.3.3).
 * @param coded context of the flag that tells whether there are any; null where there certainly are
 * @returns how many there are
 */
export function readCabacBlock(cabac: CabacDecoder, kind: BlockKind, coded: number | null): number {
  if (kind !== BLOCK.eight && coded !== null && cabac.bin(CODED[kind] + coded) === 0) return 0;
  const end = MOST_COEFFICIENTS[kind] - 1;
  const [significant, last] = [SIGNIFICANT[kind], LAST[kind]];
  let count = 0;
  let at = 0;
  for (; at < end; at += 1) {
    const isEight = kind === BLOCK.eight;
    const own = isEight ? (SIGNIFICANT_8[at] ?? 0) : kind === BLOCK.chromaDc ? Math.min(at, 2) : at;
    if (cabac.bin(significant + own) === 0) continue;
    count += 1;
    const ending = isEight ? (LAST_8[at] ?? 0) : own;
    if (cabac.bin(last + ending) === 1) break;
  }
  if (at === end) count += 1;
  readLevels(cabac, LEVEL[kind], kind === BLOCK.chromaDc ? 3 : 4, count);
  return count;
}

/** Sizes and signs of coefficients (9.3.3.1.3). */
function readLevels(cabac: CabacDecoder, context: number, mostLarge: number, count: number): void {
  let [ones, large] = [0, 0];
  for (let left = count; left > 0; left -= 1) {
    const isLarge = cabac.bin(context + (large > 0 ? 0 : Math.min(4, 1 + ones))) === 1;
    if (isLarge) {
      const own = context + 5 + Math.min(mostLarge, large);
      let size = 1;
      while (size < PREFIX_END && cabac.bin(own) === 1) size += 1;
      if (size === PREFIX_END) readGolomb(cabac, 0);
      large += 1;
    } else ones += 1;
    cabac.bypass();
  }
}

/** The suffix of an Exp-Golomb code of an order (9.3.2.3). */
export function readGolomb(cabac: CabacDecoder, order: number): number {
  let [value, bits] = [0, order];
  while (cabac.bypass() === 1) {
    value += 2 ** bits;
    bits += 1;
    if (bits > MOST_SUFFIX) throw SLICE_FAULT.value;
  }
  for (; bits > 0; bits -= 1) value += cabac.bypass() * 2 ** (bits - 1);
  return value;
}
