/** Kinds of coefficient blocks, by their ctxBlockCat (ITU-T H.264, table 9-42). */
export const BLOCK = { lumaDc: 0, lumaAc: 1, luma: 2, chromaDc: 3, chromaAc: 4, eight: 5 } as const;
export type BlockKind = (typeof BLOCK)[keyof typeof BLOCK];

/** Most coefficients of a block of each kind, with 4:2:0. */
export const MOST_COEFFICIENTS = [16, 15, 16, 4, 15, 64] as const;

/**
 * Reads the elements of macroblocks (ITU-T H.264, 7.3.5), independent of their coding. Values that do not affect what
 * follows are skipped. Each method throws H264Error where the value is impossible.
 */
export interface ElementReader {
  /** Whether an 8 x 8 block of coefficients is one block, or else four. */
  readonly hasWholeEights: boolean;
  iType(): number;
  /** Intra types are returned with `INTRA_TYPES` added. */
  pType(): number;
  bType(): number;
  pSubType(): number;
  bSubType(): number;
  /** @param x left edge of the part in blocks, y its top */
  reference(list: 0 | 1, x: number, y: number, active: number): number;
  /** @returns the size of the difference of a vector, horizontal (0) or vertical */
  difference(list: 0 | 1, x: number, y: number, component: 0 | 1): number;
  /** rem_intra4x4_pred_mode or that of 8 x 8; null where the mode is the predicted one. */
  intraMode(): number | null;
  chromaMode(): number;
  /** coded_block_pattern. */
  pattern(isIntra: boolean): number;
  /** transform_size_8x8_flag. */
  eights(): boolean;
  /** mb_qp_delta. */
  qpDelta(): number;
  /** Called where the macroblock has no mb_qp_delta. */
  noQpDelta(): void;
  /**
   * @param place of the block among the 24 of a macroblock; for DC coefficients 0 for luma, 1 and 2 for chroma
   * @returns how many of its coefficients are not zero
   */
  block(kind: BlockKind, place: number): number;
}
