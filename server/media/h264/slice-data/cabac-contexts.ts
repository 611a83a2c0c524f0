import { FLAG, type MbState } from './mb-state.ts';

/** First contexts of the elements (ITU-T H.264, table 9-34). */
export const CONTEXT = {
  intraType: 3,
  pSkip: 11,
  pType: 14,
  pIntraType: 17,
  pSubType: 21,
  bSkip: 24,
  bType: 27,
  bIntraType: 32,
  bSubType: 36,
  difference: [40, 47],
  reference: 54,
  qpDelta: 60,
  chromaMode: 64,
  predictedMode: 68,
  otherMode: 69,
  lumaPattern: 73,
  chromaPattern: 77,
  eights: 399,
} as const;

/** Context of mb_skip_flag, from the first of its slices' kind on. */
export function skipContext(state: MbState, first: number): number {
  const isCoded = (mb: number) => (mb >= 0 && !state.has(mb, FLAG.skipped) ? 1 : 0);
  return first + isCoded(state.left) + isCoded(state.above);
}

/** Context of the first bin of mb_type in I slices. */
export function intraTypeContext(state: MbState): number {
  const isOther = (mb: number) => (state.has(mb, FLAG.intra16 | FLAG.pcm) ? 1 : 0);
  return CONTEXT.intraType + isOther(state.left) + isOther(state.above);
}

/** Context of the first bin of a component of mvd_l0 or mvd_l1 of the part that begins with a block. */
export function differenceContext(state: MbState, list: 0 | 1, block: number, component: 0 | 1): number {
  const sizeAt = (other: number) => (other < 0 ? 0 : (state.differences[list][2 * other + component] ?? 0));
  const sum = sizeAt(state.leftBlock(block)) + sizeAt(state.aboveBlock(block));
  return CONTEXT.difference[component] + (sum < 3 ? 0 : sum > 32 ? 2 : 1);
}

/** Context of the bin of coded_block_pattern for a quarter of luma, with what is known of `luma` so far. */
export function lumaPatternContext(state: MbState, luma: number, quarter: number): number {
  const isEmpty = (pattern: number, other: number) => ((pattern >> other) & 1 ? 0 : 1);
  const beside = (mb: number, other: number) => (mb < 0 ? 0 : isEmpty(state.patterns[mb] ?? 0, other));
  const left = quarter % 2 === 1 ? isEmpty(luma, quarter - 1) : beside(state.left, quarter + 1);
  const above = quarter >= 2 ? isEmpty(luma, quarter - 2) : beside(state.above, quarter + 2);
  return CONTEXT.lumaPattern + left + 2 * above;
}

/** Context of the first bin of coded_block_pattern for chroma, and of the second. */
export function chromaPatternContext(state: MbState, bin: 0 | 1): number {
  const isSuch = (mb: number) => (mb >= 0 && (state.patterns[mb] ?? 0) >> 4 > bin ? 1 : 0);
  return CONTEXT.chromaPattern + 4 * bin + isSuch(state.left) + 2 * isSuch(state.above);
}
