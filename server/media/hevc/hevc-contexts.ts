/** Where the contexts of each syntax element begin. */
export const CONTEXT = {
  saoMerge: 0,
  saoType: 1,
  splitCu: 2,
  transquantBypass: 5,
  skip: 6,
  qpDelta: 9,
  predMode: 11,
  partMode: 12,
  prevIntra: 16,
  chromaMode: 17,
  mergeFlag: 18,
  mergeIdx: 19,
  interPred: 20,
  refIdx: 25,
  mvdGreater0: 27,
  mvdGreater1: 28,
  mvp: 29,
  rootCbf: 30,
  splitTransform: 31,
  cbfLuma: 34,
  cbfChroma: 36,
  transformSkip: 40,
  lastX: 42,
  lastY: 60,
  codedSubBlock: 78,
  significant: 82,
  greater1: 124,
  greater2: 148,
} as const;
export const CONTEXT_COUNT = 154;

/** Marks an element that does not occur in slices of a type. */
const UNUSED = 154;
const unused = (count: number) => Array.from({ length: count }, () => UNUSED);
const LAST_I = [110, 110, 124, 125, 140, 153, 125, 127, 140, 109, 111, 143, 127, 111, 79, 108, 123, 63];
const LAST_P = [125, 110, 94, 110, 95, 79, 125, 111, 110, 78, 110, 111, 111, 95, 94, 108, 123, 108];
const LAST_B = [125, 110, 124, 110, 95, 94, 125, 111, 111, 79, 125, 126, 111, 111, 79, 108, 123, 93];
const SIGNIFICANT_I = [
  [111, 111, 125, 110, 110, 94, 124, 108, 124, 107, 125, 141, 179, 153, 125, 107, 125, 141, 179, 153, 125],
  [107, 125, 141, 179, 153, 125, 140, 139, 182, 182, 152, 136, 152, 136, 153, 136, 139, 111, 136, 139, 111],
].flat();
const SIGNIFICANT_P = [
  [155, 154, 139, 153, 139, 123, 123, 63, 153, 166, 183, 140, 136, 153, 154, 166, 183, 140, 136, 153, 154],
  [166, 183, 140, 136, 153, 154, 170, 153, 123, 123, 107, 121, 107, 121, 167, 151, 183, 140, 151, 183, 140],
].flat();
const SIGNIFICANT_B = [
  [170, 154, 139, 153, 139, 123, 123, 63, 124, 166, 183, 140, 136, 153, 154, 166, 183, 140, 136, 153, 154],
  [166, 183, 140, 136, 153, 154, 170, 153, 138, 138, 122, 121, 122, 121, 167, 151, 183, 140, 151, 183, 140],
].flat();
const GREATER1_I = [
  [140, 92, 137, 138, 140, 152, 138, 139, 153, 74, 149, 92],
  [139, 107, 122, 152, 140, 179, 166, 182, 140, 227, 122, 197],
].flat();
const GREATER1_P = [
  [154, 196, 196, 167, 154, 152, 167, 182, 182, 134, 149, 136],
  [153, 121, 136, 137, 169, 194, 166, 167, 154, 167, 137, 182],
].flat();
const GREATER1_B = [
  [154, 196, 167, 167, 154, 152, 167, 182, 182, 134, 149, 136],
  [153, 121, 136, 122, 169, 208, 166, 167, 154, 152, 167, 182],
].flat();

/** initValue of every context, in the order of `CONTEXT`, for initType 0 to 2 (ITU-T H.265, tables 9-5 to 9-37). */
const INIT_VALUES: readonly (readonly number[])[] = [
  [
    [153, 200, 139, 141, 157, 154, ...unused(3), 154, 154, ...unused(1), 184, ...unused(3), 184, 63],
    [...unused(13), 153, 138, 138, 111, 141, 94, 138, 182, 154, 139, 139],
    [...LAST_I, ...LAST_I, 91, 171, 134, 141, ...SIGNIFICANT_I, ...GREATER1_I, 138, 153, 136, 167, 152, 152],
  ].flat(),
  [
    [153, 185, 107, 139, 126, 154, 197, 185, 201, 154, 154, 149, 154, 139, 154, 154, 154, 152, 110, 122],
    [95, 79, 63, 31, 31, 153, 153, 140, 198, 168, 79, 124, 138, 94, 153, 111, 149, 107, 167, 154, 139, 139],
    [...LAST_P, ...LAST_P, 121, 140, 61, 154, ...SIGNIFICANT_P, ...GREATER1_P, 107, 167, 91, 122, 107, 167],
  ].flat(),
  [
    [153, 160, 107, 139, 126, 154, 197, 185, 201, 154, 154, 134, 154, 139, 154, 154, 183, 152, 154, 137],
    [95, 79, 63, 31, 31, 153, 153, 169, 198, 168, 79, 224, 167, 122, 153, 111, 149, 92, 167, 154, 139, 139],
    [...LAST_B, ...LAST_B, 121, 140, 61, 154, ...SIGNIFICANT_B, ...GREATER1_B, 107, 167, 91, 107, 107, 167],
  ].flat(),
];

/**
 * Sets all contexts as at the start of a slice (ITU-T H.265, 9.3.2.2).
 * @param initType 0 intra slices, 1 and 2 predicted ones
 * @param qp SliceQpY
 */
export function initContexts(states: Uint8Array, initType: number, qp: number): void {
  const clipped = Math.min(51, Math.max(0, qp));
  const values = INIT_VALUES[initType] ?? [];
  for (let at = 0; at < CONTEXT_COUNT; at++) {
    const initValue = values[at] ?? UNUSED;
    const slope = (initValue >> 4) * 5 - 45;
    const offset = ((initValue & 15) << 3) - 16;
    const state = Math.min(126, Math.max(1, ((slope * clipped) >> 4) + offset));
    states[at] = state <= 63 ? 2 * (63 - state) : 2 * (state - 64) + 1;
  }
}
