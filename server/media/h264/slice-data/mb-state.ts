/** Properties of a macroblock (ITU-T H.264, table 7-11 and following). */
export const FLAG = { intra: 1, intra16: 2, pcm: 4, skipped: 8, direct: 16, eights: 32, intraN: 64 } as const;

/** Blocks of 4 x 4 samples of a macroblock: 16 of luma, row by row, and four of each kind of chroma. */
export const LUMA_BLOCKS = 16;
const ALL_BLOCKS = 24;
/** Parts of a macroblock that can each refer to other pictures. */
const QUARTERS = 4;
/** Coefficient count that each block of a raw macroblock has for its neighbours. */
const PCM_COUNT = 16;
/**
 * Larger differences of vectors have the same effect on contexts as this one; they no longer change beyond 32 (ITU-T
 * H.264, 9.3.3.1.1.7).
 */
const MOST_DIFFERENCE = 64;
/** What has been noted about a macroblock. */
const COUNTS = 1;
const MOTION = 2;
/** CodedBlockPattern of a raw macroblock: all bits set. */
const PCM_PATTERN = 47;

/**
 * What later macroblocks need to know about the earlier ones of a picture. Plain arrays indexed by macroblock, because
 * they are read for every bit of a slice. Macroblocks outside the slice count as missing (ITU-T H.264, 6.4.8).
 */
export class MbState {
  readonly columns: number;
  readonly count: number;
  readonly flags: Uint8Array;
  /** CodedBlockPatternLuma, with CodedBlockPatternChroma above its four bits. */
  readonly patterns: Uint8Array;
  readonly chromaModes: Uint8Array;
  /** Intra4x4PredMode or Intra8x8PredMode of 16 blocks for each macroblock that is `intraN`. */
  readonly modes: Uint8Array;
  /** Bits that tell whether the DC coefficients of luma, Cb and Cr are not all zero. */
  readonly dc: Uint8Array;
  /** Coefficient counts of blocks, 24 for each macroblock. */
  readonly counts: Uint8Array;
  /** By list, four for each macroblock: whether the part refers to an entry other than the first. */
  readonly laterRefs: readonly [Uint8Array, Uint8Array];
  /** By list, x and y of 16 blocks for each macroblock: sizes of the vector differences. */
  readonly differences: readonly [Uint8Array, Uint8Array];
  /**
   * For each macroblock, which of these arrays are not all zero, so that only those are cleared when a macroblock is
   * read again for each byte that is tried.
   */
  private readonly noted: Uint8Array;
  private readonly sliceOf: Int32Array;
  private slice = 0;
  /** The current macroblock, and those to its left and above it; -1 where there is none. */
  mb = 0;
  left = -1;
  above = -1;
  /** The quantiser of the last macroblock read. */
  qp = 0;

  constructor(columns: number, rows: number) {
    this.columns = columns;
    this.count = columns * rows;
    const bytes = (each: number) => new Uint8Array(each * this.count);
    this.flags = bytes(1);
    this.patterns = bytes(1);
    this.chromaModes = bytes(1);
    this.modes = bytes(LUMA_BLOCKS);
    this.dc = bytes(1);
    this.counts = bytes(ALL_BLOCKS);
    this.laterRefs = [bytes(QUARTERS), bytes(QUARTERS)];
    this.differences = [bytes(2 * LUMA_BLOCKS), bytes(2 * LUMA_BLOCKS)];
    this.noted = bytes(1);
    this.sliceOf = new Int32Array(this.count);
  }

  /** @param qp the quantiser at the start of the slice */
  startSlice(qp = 0): void {
    this.slice += 1;
    this.qp = qp;
  }

  start(mb: number): void {
    this.mb = mb;
    const hasLeft = mb % this.columns > 0 && this.sliceOf[mb - 1] === this.slice;
    const hasAbove = mb >= this.columns && this.sliceOf[mb - this.columns] === this.slice;
    this.left = hasLeft ? mb - 1 : -1;
    this.above = hasAbove ? mb - this.columns : -1;
    this.sliceOf[mb] = this.slice;
    this.flags[mb] = 0;
    this.patterns[mb] = 0;
    this.chromaModes[mb] = 0;
    this.dc[mb] = 0;
    const noted = this.noted[mb] ?? 0;
    if (noted === 0) return;
    this.noted[mb] = 0;
    if ((noted & COUNTS) !== 0) this.counts.fill(0, ALL_BLOCKS * mb, ALL_BLOCKS * (mb + 1));
    if ((noted & MOTION) === 0) return;
    for (const list of [0, 1] as const) {
      this.laterRefs[list].fill(0, QUARTERS * mb, QUARTERS * (mb + 1));
      this.differences[list].fill(0, 2 * LUMA_BLOCKS * mb, 2 * LUMA_BLOCKS * (mb + 1));
    }
  }

  private note(what: number): void {
    this.noted[this.mb] = (this.noted[this.mb] ?? 0) | what;
  }

  mark(flags: number): void {
    this.flags[this.mb] = (this.flags[this.mb] ?? 0) | flags;
  }

  /** Whether a macroblock exists and has one of the flags. */
  has(mb: number, flags: number): boolean {
    return mb >= 0 && ((this.flags[mb] ?? 0) & flags) !== 0;
  }

  markPcm(): void {
    this.mark(FLAG.intra | FLAG.pcm);
    this.patterns[this.mb] = PCM_PATTERN;
    this.dc[this.mb] = 7;
    this.note(COUNTS);
    this.counts.fill(PCM_COUNT, ALL_BLOCKS * this.mb, ALL_BLOCKS * (this.mb + 1));
  }

  /**
   * The luma block to the left of one in this macroblock, as 16 times its macroblock plus its place there; -1 where
   * there is none.
   */
  leftBlock(block: number): number {
    if (block % 4 > 0) return LUMA_BLOCKS * this.mb + block - 1;
    return this.left < 0 ? -1 : LUMA_BLOCKS * this.left + block + 3;
  }

  aboveBlock(block: number): number {
    if (block >= 4) return LUMA_BLOCKS * this.mb + block - 4;
    return this.above < 0 ? -1 : LUMA_BLOCKS * this.above + block + 12;
  }

  /**
   * Coefficient counts of the blocks to the left of and above one in this macroblock; -1 where there is none. Chroma
   * follows luma.
   */
  leftCount(block: number): number {
    if (block < LUMA_BLOCKS) return this.countOf(this.leftBlock(block));
    if (block % 2 === 1) return this.at(this.mb, block - 1);
    return this.left < 0 ? -1 : this.at(this.left, block + 1);
  }

  aboveCount(block: number): number {
    if (block < LUMA_BLOCKS) return this.countOf(this.aboveBlock(block));
    if (block % 4 >= 2) return this.at(this.mb, block - 2);
    return this.above < 0 ? -1 : this.at(this.above, block + 2);
  }

  private countOf(place: number): number {
    return place < 0 ? -1 : this.at(place >> 4, place & 15);
  }

  private at(mb: number, block: number): number {
    return this.counts[ALL_BLOCKS * mb + block] ?? 0;
  }

  setCount(block: number, count: number): void {
    if (count === 0) return;
    this.note(COUNTS);
    this.counts[ALL_BLOCKS * this.mb + block] = count;
  }

  /** Notes the reference of a part; `x`, `y`, `width` and `height` in luma blocks. */
  setReference(list: 0 | 1, [x, y, width, height]: Rectangle, isLater: boolean): void {
    if (!isLater) return;
    this.note(MOTION);
    for (let row = y; row < y + height; row += 2) {
      for (let column = x; column < x + width; column += 2)
        this.laterRefs[list][QUARTERS * this.mb + row + (column >> 1)] = 1;
    }
  }

  setDifference(list: 0 | 1, [x, y, width, height]: Rectangle, right: number, down: number): void {
    if (right === 0 && down === 0) return;
    this.note(MOTION);
    for (let row = y; row < y + height; row += 1) {
      for (let column = x; column < x + width; column += 1) {
        const at = 2 * (LUMA_BLOCKS * this.mb + 4 * row + column);
        this.differences[list][at] = Math.min(MOST_DIFFERENCE, right);
        this.differences[list][at + 1] = Math.min(MOST_DIFFERENCE, down);
      }
    }
  }
}

/** Left, top, width and height in blocks of 4 x 4 samples of luma. */
export type Rectangle = readonly [number, number, number, number];
