import type { CabacDecoder } from '../../cabac/cabac-decoder.ts';
import { FLAG, type MbState } from './mb-state.ts';
import { I_NXN, I_PCM, INTRA_TYPES } from './mb-types.ts';
import {
  chromaPatternContext,
  CONTEXT,
  differenceContext,
  intraTypeContext,
  lumaPatternContext,
  skipContext,
} from './cabac-contexts.ts';
import { readCabacBlock, readGolomb } from './cabac-residual.ts';
import { BLOCK, type BlockKind, type ElementReader } from './elements.ts';
import { SLICE_FAULT } from './slice-faults.ts';

/** More steps than any 8-bit coding has (mb_qp_delta, 7.4.5). */
const MOST_QP_STEPS = 2 * 52;
const MOST_REFERENCE = 31;

/** Reads elements of macroblocks that are coded by CABAC (ITU-T H.264, 9.3). */
export class CabacElements implements ElementReader {
  readonly hasWholeEights = true;
  private readonly cabac: CabacDecoder;
  private readonly state: MbState;
  /** Whether the macroblock before changed the quantiser. */
  hadQpDelta = false;

  constructor(cabac: CabacDecoder, state: MbState) {
    this.cabac = cabac;
    this.state = state;
  }

  skipped(isB: boolean): boolean {
    const context = skipContext(this.state, isB ? CONTEXT.bSkip : CONTEXT.pSkip);
    const isSkipped = this.cabac.bin(context) === 1;
    if (isSkipped) this.hadQpDelta = false;
    return isSkipped;
  }

  iType(): number {
    if (this.cabac.bin(intraTypeContext(this.state)) === 0) return I_NXN;
    return this.intra16Type(CONTEXT.intraType + 2, 1);
  }

  /** Reads the bins after the first of an intra type; their contexts follow `at`. */
  private intra16Type(at: number, more: number): number {
    const { cabac } = this;
    if (cabac.terminate() === 1) return I_PCM;
    let type = 1 + 12 * cabac.bin(at + 1);
    if (cabac.bin(at + 2) === 1) type += 4 + 4 * cabac.bin(at + 2 + more);
    type += 2 * cabac.bin(at + 3 + more);
    return type + cabac.bin(at + 3 + 2 * more);
  }

  private intraTypeAt(at: number): number {
    return INTRA_TYPES + (this.cabac.bin(at) === 0 ? 0 : this.intra16Type(at, 0));
  }

  pType(): number {
    const { cabac } = this;
    if (cabac.bin(CONTEXT.pType) === 1) return this.intraTypeAt(CONTEXT.pIntraType);
    if (cabac.bin(CONTEXT.pType + 1) === 0) return 3 * cabac.bin(CONTEXT.pType + 2);
    return 2 - cabac.bin(CONTEXT.pType + 3);
  }

  bType(): number {
    const { state, cabac } = this;
    if (cabac.bin(CONTEXT.bType + isOtherB(state, state.left) + isOtherB(state, state.above)) === 0) return 0;
    if (cabac.bin(CONTEXT.bType + 3) === 0) return 1 + cabac.bin(CONTEXT.bType + 5);
    let bits = cabac.bin(CONTEXT.bType + 4);
    for (let left = 3; left > 0; left -= 1) bits = 2 * bits + cabac.bin(CONTEXT.bType + 5);
    if (bits < 8) return bits + 3;
    if (bits === 13) return this.intraTypeAt(CONTEXT.bIntraType);
    if (bits === 14) return 11;
    if (bits === 15) return 22;
    return 2 * bits + cabac.bin(CONTEXT.bType + 5) - 4;
  }

  pSubType(): number {
    const { cabac } = this;
    if (cabac.bin(CONTEXT.pSubType) === 1) return 0;
    if (cabac.bin(CONTEXT.pSubType + 1) === 0) return 1;
    return cabac.bin(CONTEXT.pSubType + 2) === 1 ? 2 : 3;
  }

  bSubType(): number {
    const { cabac } = this;
    const at = CONTEXT.bSubType;
    if (cabac.bin(at) === 0) return 0;
    if (cabac.bin(at + 1) === 0) return 1 + cabac.bin(at + 3);
    let type = 3;
    if (cabac.bin(at + 2) === 1) {
      if (cabac.bin(at + 3) === 1) return 11 + cabac.bin(at + 3);
      type += 4;
    }
    type += 2 * cabac.bin(at + 3);
    return type + cabac.bin(at + 3);
  }

  reference(list: 0 | 1, x: number, y: number): number {
    const { cabac, state } = this;
    const block = 4 * y + x;
    const refs = state.laterRefs[list];
    let context = laterAt(refs, state.leftBlock(block)) + 2 * laterAt(refs, state.aboveBlock(block));
    let reference = 0;
    while (cabac.bin(CONTEXT.reference + context) === 1) {
      reference += 1;
      context = (context >> 2) + 4;
      if (reference > MOST_REFERENCE) throw SLICE_FAULT.value;
    }
    return reference;
  }

  difference(list: 0 | 1, x: number, y: number, component: 0 | 1): number {
    const { cabac, state } = this;
    if (cabac.bin(differenceContext(state, list, 4 * y + x, component)) === 0) return 0;
    let context: number = CONTEXT.difference[component];
    context += 3;
    let size = 1;
    while (size < 9 && cabac.bin(context) === 1) {
      if (size < 4) context += 1;
      size += 1;
    }
    if (size >= 9) size += readGolomb(cabac, 3);
    cabac.bypass();
    return size;
  }

  intraMode(): number | null {
    const { cabac } = this;
    if (cabac.bin(CONTEXT.predictedMode) === 1) return null;
    let mode = 0;
    for (let bit = 0; bit < 3; bit += 1) mode |= cabac.bin(CONTEXT.otherMode) << bit;
    return mode;
  }

  chromaMode(): number {
    const { cabac, state } = this;
    const beside = isOtherMode(state, state.left) + isOtherMode(state, state.above);
    if (cabac.bin(CONTEXT.chromaMode + beside) === 0) return 0;
    if (cabac.bin(CONTEXT.chromaMode + 3) === 0) return 1;
    return 2 + cabac.bin(CONTEXT.chromaMode + 3);
  }

  pattern(): number {
    const { cabac, state } = this;
    let luma = 0;
    for (let quarter = 0; quarter < 4; quarter += 1)
      luma |= cabac.bin(lumaPatternContext(state, luma, quarter)) << quarter;
    if (cabac.bin(chromaPatternContext(state, 0)) === 0) return luma;
    return luma | ((1 + cabac.bin(chromaPatternContext(state, 1))) << 4);
  }

  eights(): boolean {
    const { cabac, state } = this;
    const left = state.has(state.left, FLAG.eights) ? 1 : 0;
    const above = state.has(state.above, FLAG.eights) ? 1 : 0;
    return cabac.bin(CONTEXT.eights + left + above) === 1;
  }

  noQpDelta(): void {
    this.hadQpDelta = false;
  }

  qpDelta(): number {
    const { cabac } = this;
    let context = this.hadQpDelta ? 1 : 0;
    let steps = 0;
    while (cabac.bin(CONTEXT.qpDelta + context) === 1) {
      context = 2 + (context >> 1);
      steps += 1;
      if (steps > MOST_QP_STEPS) throw SLICE_FAULT.value;
    }
    this.hadQpDelta = steps > 0;
    // Positive and negative numbers alternate (9.3.2.7).
    return steps % 2 === 1 ? (steps + 1) / 2 : -steps / 2;
  }

  block(kind: BlockKind, place: number): number {
    const { cabac, state } = this;
    if (kind === BLOCK.eight) return readCabacBlock(cabac, kind, null);
    const missing = state.has(state.mb, FLAG.intra) ? 1 : 0;
    const isDc = kind === BLOCK.lumaDc || kind === BLOCK.chromaDc;
    const a = isDc ? dcOf(state, state.left, place) : state.leftCount(place);
    const b = isDc ? dcOf(state, state.above, place) : state.aboveCount(place);
    return readCabacBlock(cabac, kind, isCoded(a, missing) + 2 * isCoded(b, missing));
  }
}

// What contexts need from a neighbouring macroblock. Plain functions, because they are called for nearly every bit of a
// slice.

const isOtherB = (state: MbState, mb: number): number =>
  mb >= 0 && !state.has(mb, FLAG.skipped | FLAG.direct) ? 1 : 0;

const isOtherMode = (state: MbState, mb: number): number =>
  mb >= 0 && (state.chromaModes[mb] ?? 0) > 0 ? 1 : 0;

/** @param block 16 times its macroblock plus its place there; negative where there is none */
function laterAt(laterRefs: Uint8Array, block: number): number {
  if (block < 0) return 0;
  const inside = block & 15;
  return laterRefs[4 * (block >> 4) + 2 * (inside >> 3) + ((inside & 3) >> 1)] ?? 0;
}

/** Whether a block of DC coefficients has any that are not zero; -1 where there is no macroblock. */
const dcOf = (state: MbState, mb: number, place: number): number =>
  mb < 0 ? -1 : ((state.dc[mb] ?? 0) >> place) & 1;

/** @param missing result for a block that does not exist */
const isCoded = (count: number, missing: number): number => (count < 0 ? missing : count > 0 ? 1 : 0);
