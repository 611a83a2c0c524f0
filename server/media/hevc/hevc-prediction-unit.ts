import type { CabacDecoder } from '../cabac/cabac-decoder.ts';
import { CONTEXT } from './hevc-contexts.ts';
import { HEVC_SLICE_FAULT } from './hevc-slice-faults.ts';
import { SLICE } from './hevc-slice-header.ts';
import type { SliceState } from './hevc-slice-state.ts';

/** Number of parts of a coding unit (PartMode), as far as they are parsed differently. */
export const PARTS = { whole: 1, halves: 2, quarters: 4 } as const;

/** Largest absolute value of a motion vector difference (ITU-T H.265, 7.4.9.9). */
const MOST_MVD = 32_768;

/**
 * Reads the prediction units of an inter coding unit (ITU-T H.265, 7.3.8.6).
 * @returns merge_flag of the last one
 * @throws HevcError when a vector is larger than it may be
 */
export function readPredictionUnits(state: SliceState, log2: number, depth: number, parts: number): boolean {
  let isMerged = false;
  for (let part = 0; part < parts; part++) {
    isMerged = state.cabac.bin(CONTEXT.mergeFlag) === 1;
    if (isMerged) readMergeIndex(state);
    else readMotion(state, log2 === 3 && parts === PARTS.halves, depth);
  }
  return isMerged;
}

/** Reads merge_idx (7.3.8.6). */
export function readMergeIndex({ cabac, header }: SliceState): void {
  const most = header.mergeCandidates - 1;
  if (most < 1 || cabac.bin(CONTEXT.mergeIdx) === 0) return;
  for (let index = 1; index < most && cabac.bypass() === 1; index++);
}

/** @param isLeast the part is 8 x 4 or 4 x 8, which may not be predicted from two pictures */
function readMotion(state: SliceState, isLeast: boolean, depth: number): void {
  const { cabac, header } = state;
  let isFirst = true;
  let isSecond = false;
  if (header.type === SLICE.b) {
    if (!isLeast && cabac.bin(CONTEXT.interPred + depth) === 1) isSecond = true;
    else {
      isSecond = cabac.bin(CONTEXT.interPred + 4) === 1;
      isFirst = !isSecond;
    }
  }
  if (isFirst) {
    readReference(state, header.active[0]);
    readDifference(state);
    cabac.bin(CONTEXT.mvp);
  }
  if (isSecond) {
    readReference(state, header.active[1]);
    if (!(header.mvdL1Zero && isFirst)) readDifference(state);
    cabac.bin(CONTEXT.mvp);
  }
}

/** ref_idx (9.3.3.6): ones up to the highest index, the first two with contexts. */
function readReference({ cabac }: SliceState, count: number): void {
  const most = count - 1;
  for (let index = 0; index < most; index++) {
    if ((index < 2 ? cabac.bin(CONTEXT.refIdx + index) : cabac.bypass()) === 0) return;
  }
}

/** mvd_coding (7.3.8.9). */
function readDifference({ cabac }: SliceState): void {
  const x = cabac.bin(CONTEXT.mvdGreater0);
  const y = cabac.bin(CONTEXT.mvdGreater0);
  const isLargeX = x === 1 && cabac.bin(CONTEXT.mvdGreater1) === 1;
  const isLargeY = y === 1 && cabac.bin(CONTEXT.mvdGreater1) === 1;
  if (x === 1) readComponent(cabac, isLargeX);
  if (y === 1) readComponent(cabac, isLargeY);
}

/** The rest of one component and its sign: an Exp-Golomb code of order 1 (9.3.3.3). */
function readComponent(cabac: CabacDecoder, isLarge: boolean): void {
  if (isLarge) {
    let size = 2;
    let order = 1;
    for (; cabac.bypass() === 1; order++) {
      size += 1 << order;
      if (size > MOST_MVD) throw HEVC_SLICE_FAULT.vector;
    }
    if (size + cabac.bypassBits(order) > MOST_MVD) throw HEVC_SLICE_FAULT.vector;
  }
  cabac.bypass();
}
