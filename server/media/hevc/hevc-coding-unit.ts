import { CONTEXT } from './hevc-contexts.ts';
import { HEVC_SLICE_FAULT } from './hevc-slice-faults.ts';
import { noteNoIntra, readIntraModes } from './hevc-intra-modes.ts';
import { PARTS, readMergeIndex, readPredictionUnits } from './hevc-prediction-unit.ts';
import { SLICE } from './hevc-slice-header.ts';
import type { SliceState } from './hevc-slice-state.ts';
import { readTransformTree } from './hevc-transform-tree.ts';

/**
 * Reads a coding unit (ITU-T H.265, 7.3.8.5).
 * @throws HevcError when something in it is impossible
 */
export function readCodingUnit(state: SliceState, x: number, y: number, log2: number, depth: number): void {
  const { cabac, sps, pps, header } = state;
  const isPredicted = header.type !== SLICE.i;
  state.lossless = pps.transquantBypass && cabac.bin(CONTEXT.transquantBypass) === 1;
  const isSkipped = isPredicted && cabac.bin(CONTEXT.skip + skipContext(state, x, y)) === 1;
  note(state, x, y, log2, depth, isSkipped ? 1 : 0);
  if (isSkipped) {
    noteNoIntra(state, x, y, log2);
    readMergeIndex(state);
    return;
  }
  state.isIntra = !isPredicted || cabac.bin(CONTEXT.predMode) === 1;
  const parts = !state.isIntra || log2 === sps.minCbLog2 ? readParts(state, log2) : PARTS.whole;
  state.isSplitIntra = state.isIntra && parts === PARTS.quarters;
  state.isSplitInter = !state.isIntra && sps.interDepth === 0 && parts !== PARTS.whole;
  state.deepestTransform = state.isIntra ? sps.intraDepth + (state.isSplitIntra ? 1 : 0) : sps.interDepth;
  if (state.isIntra) {
    if (parts === PARTS.whole && readPcm(state, log2)) {
      noteNoIntra(state, x, y, log2);
      return;
    }
    readIntraModes(state, x, y, log2);
  } else {
    noteNoIntra(state, x, y, log2);
    const isMerged = readPredictionUnits(state, log2, depth, parts);
    const isCoded = (isMerged && parts === PARTS.whole) || cabac.bin(CONTEXT.rootCbf) === 1;
    if (!isCoded) return;
  }
  readTransformTree(state, log2, 0, 0, 1, 1);
}

function skipContext(state: SliceState, x: number, y: number): number {
  const { sps, skipped, cbColumns } = state;
  const mask = (1 << sps.ctbLog2) - 1;
  const at = (y >> sps.minCbLog2) * cbColumns + (x >> sps.minCbLog2);
  const left = state.hasLeft || (x & mask) !== 0 ? (skipped[at - 1] ?? 0) : 0;
  const above = state.hasAbove || (y & mask) !== 0 ? (skipped[at - cbColumns] ?? 0) : 0;
  return left + above;
}

function note(state: SliceState, x: number, y: number, log2: number, depth: number, skipped: number): void {
  const { sps, cbColumns } = state;
  const count = 1 << (log2 - sps.minCbLog2);
  let at = (y >> sps.minCbLog2) * cbColumns + (x >> sps.minCbLog2);
  for (let row = 0; row < count; row++, at += cbColumns) {
    for (let column = at; column < at + count; column++) {
      state.depths[column] = depth;
      state.skipped[column] = skipped;
    }
  }
}

/** part_mode (9.3.3.7). */
function readParts({ cabac, sps, isIntra }: SliceState, log2: number): number {
  if (cabac.bin(CONTEXT.partMode) === 1) return PARTS.whole;
  if (isIntra) return PARTS.quarters;
  const isRows = cabac.bin(CONTEXT.partMode + 1) === 1;
  if (log2 === sps.minCbLog2) {
    if (isRows || log2 === 3 || cabac.bin(CONTEXT.partMode + 2) === 1) return PARTS.halves;
    return PARTS.quarters;
  }
  // Halves of unequal size are parsed like equal ones.
  if (sps.amp && cabac.bin(CONTEXT.partMode + 3) === 0) cabac.bypass();
  return PARTS.halves;
}

/** Whether the unit is coded as plain samples, which are skipped (7.3.8.7). */
function readPcm({ cabac, sps: { pcm } }: SliceState, log2: number): boolean {
  if (!pcm || log2 < pcm.minLog2 || log2 > pcm.maxLog2 || cabac.terminate() === 0) return false;
  const samples = 1 << (2 * log2);
  const bits = samples * pcm.lumaBits + (samples >> 1) * pcm.chromaBits;
  if (!cabac.stopsHere()) throw HEVC_SLICE_FAULT.plainSamples;
  cabac.skipTo(cabac.nextAt() + ((bits + 7) >> 3));
  return true;
}
