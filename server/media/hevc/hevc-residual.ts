import type { CabacDecoder } from '../cabac/cabac-decoder.ts';
import { CONTEXT } from './hevc-contexts.ts';
import { HEVC_SLICE_FAULT } from './hevc-slice-faults.ts';
import { BLOCK_NUMBER_OF, BLOCK_OF, NUMBER_OF, PLACE_OF, SCAN, SIGNIFICANCE } from './hevc-scan.ts';

/** Largest absolute value of a coefficient (CoeffMinY, ITU-T H.265, 7.4.9.11). */
const MOST_LEVEL = 32_768;
/** More ones than the prefix of any such value has. */
const MOST_PREFIX = 31;

/** What the parsing of residuals needs from the parameter sets and the coding unit. */
export interface ResidualState {
  readonly cabac: CabacDecoder;
  readonly transformSkip: boolean;
  readonly signHiding: boolean;
  /** cu_transquant_bypass_flag. */
  lossless: boolean;
  /** Eight by eight blocks with a margin to the right and below, one where coefficients are. */
  readonly codedBlocks: Uint8Array;
  /** Numbers of coefficients that are not zero. */
  readonly significant: Uint8Array;
}

const STRIDE = 9;
/** Memory of `codedBlocks`. */
export const CODED_BLOCKS = STRIDE * STRIDE;

/** Prefix of the last coefficient's place (9.3.4.2.3). */
function readLastPrefix(cabac: CabacDecoder, context: number, log2: number, isChroma: boolean): number {
  const offset = context + (isChroma ? 15 : 3 * (log2 - 2) + ((log2 - 1) >> 2));
  const shift = isChroma ? log2 - 2 : (log2 + 1) >> 2;
  const most = (log2 << 1) - 1;
  let prefix = 0;
  while (prefix < most && cabac.bin(offset + (prefix >> shift)) === 1) prefix++;
  return prefix;
}

function readLastSuffix(cabac: CabacDecoder, prefix: number): number {
  if (prefix <= 3) return prefix;
  const bits = (prefix >> 1) - 1;
  return (1 << bits) * (2 + (prefix & 1)) + cabac.bypassBits(bits);
}

/** coeff_abs_level_remaining (9.3.3.11). */
function readRemaining(cabac: CabacDecoder, rice: number): number {
  let prefix = 0;
  while (cabac.bypass() === 1) {
    if (++prefix > MOST_PREFIX) throw HEVC_SLICE_FAULT.coefficient;
  }
  if (prefix <= 3) return (prefix << rice) + cabac.bypassBits(rice);
  const bits = prefix - 3 + rice;
  if (bits > 16) throw HEVC_SLICE_FAULT.coefficient;
  return (((1 << (prefix - 3)) + 2) << rice) + cabac.bypassBits(bits);
}

/**
 * Reads the coefficients of one transform block (ITU-T H.265, 7.3.8.11).
 * @param log2 of its size, 2 to 5
 * @throws HevcError when a coefficient is larger than it may be
 */
export function readResidual(state: ResidualState, log2: number, scan: number, isChroma: boolean): void {
  const { cabac, codedBlocks, significant, lossless } = state;
  if (state.transformSkip && !lossless && log2 === 2) cabac.bin(CONTEXT.transformSkip + (isChroma ? 1 : 0));
  const xPrefix = readLastPrefix(cabac, CONTEXT.lastX, log2, isChroma);
  const yPrefix = readLastPrefix(cabac, CONTEXT.lastY, log2, isChroma);
  const xRead = readLastSuffix(cabac, xPrefix);
  const yRead = readLastSuffix(cabac, yPrefix);
  const lastX = scan === SCAN.vertical ? yRead : xRead;
  const lastY = scan === SCAN.vertical ? xRead : yRead;
  const blocks = 192 * (log2 - 2) + 64 * scan;
  const lastBlock = BLOCK_NUMBER_OF[blocks + ((lastY >> 2) << 3) + (lastX >> 2)] ?? 0;
  const lastNumber = NUMBER_OF[16 * scan + ((lastY & 3) << 2) + (lastX & 3)] ?? 0;
  if (log2 > 2) codedBlocks.fill(0);
  const hides = state.signHiding && !lossless;
  const significantBase = CONTEXT.significant + (isChroma ? 27 : 0);
  const inner = log2 === 2 ? 0 : isChroma ? (log2 === 3 ? 9 : 12) : log2 === 3 ? (scan === 0 ? 9 : 15) : 21;
  const greater1Base = CONTEXT.greater1 + (isChroma ? 16 : 0);
  const greater2Base = CONTEXT.greater2 + (isChroma ? 4 : 0);
  let greater1Context = 1;
  for (let block = lastBlock; block >= 0; block--) {
    const place = BLOCK_OF[blocks + block] ?? 0;
    const at = (place >> 3) * STRIDE + (place & 7);
    const pattern = (codedBlocks[at + 1] ?? 0) | ((codedBlocks[at + STRIDE] ?? 0) << 1);
    let isInferred = false;
    if (block < lastBlock && block > 0) {
      const context = CONTEXT.codedSubBlock + (isChroma ? 2 : 0) + (pattern === 0 ? 0 : 1);
      if (cabac.bin(context) === 0) continue;
      isInferred = true;
    }
    if (log2 > 2) codedBlocks[at] = 1;
    let count = 0;
    let number = 15;
    if (block === lastBlock) {
      significant[count++] = lastNumber;
      number = lastNumber - 1;
    }
    const map = log2 === 2 ? 64 : pattern << 4;
    const base = significantBase + inner + (!isChroma && log2 > 2 && block > 0 ? 3 : 0);
    const order = 16 * scan;
    for (; number > 0; number--) {
      if (cabac.bin(base + (SIGNIFICANCE[map + (PLACE_OF[order + number] ?? 0)] ?? 0)) === 1) {
        significant[count++] = number;
      }
    }
    if (number === 0) {
      // In a coded block without any other coefficient, the first one must be there.
      if (isInferred && count === 0) significant[count++] = 0;
      else if (cabac.bin(block === 0 ? significantBase : base + (SIGNIFICANCE[map] ?? 0)) === 1) {
        significant[count++] = 0;
      }
    }
    if (count === 0) continue;
    let set = block === 0 || isChroma ? 0 : 2;
    if (block !== lastBlock && greater1Context === 0) set++;
    greater1Context = 1;
    const flagged = count < 8 ? count : 8;
    let greater1 = 0;
    let firstGreater1 = -1;
    for (let at1 = 0; at1 < flagged; at1++) {
      if (cabac.bin(greater1Base + (set << 2) + greater1Context) === 1) {
        greater1 |= 1 << at1;
        greater1Context = 0;
        if (firstGreater1 < 0) firstGreater1 = at1;
      } else if (greater1Context > 0 && greater1Context < 3) greater1Context++;
    }
    const greater2 = firstGreater1 >= 0 ? cabac.bin(greater2Base + set) : 0;
    const spread = (significant[0] ?? 0) - (significant[count - 1] ?? 0);
    cabac.bypassBits(hides && spread > 3 ? count - 1 : count);
    if (firstGreater1 < 0 && count <= 8) continue;
    let rice = 0;
    for (let at1 = 0; at1 < count; at1++) {
      let level = 1;
      if (at1 < 8) {
        if (((greater1 >> at1) & 1) === 0) continue;
        if (at1 === firstGreater1) {
          if (greater2 === 0) continue;
          level = 3;
        } else level = 2;
      }
      level += readRemaining(cabac, rice);
      if (level > MOST_LEVEL) throw HEVC_SLICE_FAULT.coefficient;
      if (rice < 4 && level > 3 << rice) rice++;
    }
  }
}
