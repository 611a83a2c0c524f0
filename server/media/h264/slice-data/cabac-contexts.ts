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

/** Context of mb_skip_flag; `first` is the first context for the slice's kind. */
export function skipContext(state: MbState, first: number): number {
  return first + isCoded(state, state.left) + isCoded(state, state.above);
}

/** Context of the first bin of mb_type in I slices. */
export function intraTypeContext(state: MbState): number {
  const left = state.has(state.left, FLAG.intra16 | FLAG.pcm) ? 1 : 0;
  const above = state.has(state.above, FLAG.intra16 | FLAG.pcm) ? 1 : 0;
  return CONTEXT.intraType + left + above;
}

/** Context of the first bin of a component of mvd_l0 or mvd_l1, for the part that begins with `block`. */
export function differenceContext(state: MbState, list: 0 | 1, block: number, component: 0 | 1): number {
  const sizes = state.differences[list];
  const [left, above] = [state.leftBlock(block), state.aboveBlock(block)];
  const sum =
    (left < 0 ? 0 : (sizes[2 * left + component] ?? 0)) +
    (above < 0 ? 0 : (sizes[2 * above + component] ?? 0));
  return CONTEXT.difference[component] + (sum < 3 ? 0 : sum > 32 ? 2 : 1);
}

/** Context of the bin of coded_block_pattern for a quarter of luma, given the bits of `luma` known so far. */
export function lumaPatternContext(state: MbState, luma: number, quarter: number): number {
  const left = quarter % 2 === 1 ? isEmpty(luma, quarter - 1) : emptyAt(state, state.left, quarter + 1);
  const above = quarter >= 2 ? isEmpty(luma, quarter - 2) : emptyAt(state, state.above, quarter + 2);
  return CONTEXT.lumaPattern + left + 2 * above;
}

/** Context of the first or second bin of coded_block_pattern for chroma. */
export function chromaPatternContext(state: MbState, bin: 0 | 1): number {
  const left = hasChroma(state, state.left, bin);
  const above = hasChroma(state, state.above, bin);
  return CONTEXT.chromaPattern + 4 * bin + left + 2 * above;
}

// Plain functions, like those of `cabac-elements.ts`.

const isCoded = (state: MbState, mb: number): number => (mb >= 0 && !state.has(mb, FLAG.skipped) ? 1 : 0);

const isEmpty = (pattern: number, quarter: number): number => ((pattern >> quarter) & 1 ? 0 : 1);

const emptyAt = (state: MbState, mb: number, quarter: number): number =>
  mb < 0 ? 0 : isEmpty(state.patterns[mb] ?? 0, quarter);

const hasChroma = (state: MbState, mb: number, bin: 0 | 1): number =>
  mb >= 0 && (state.patterns[mb] ?? 0) >> 4 > bin ? 1 : 0;
