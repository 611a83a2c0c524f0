import { CONTEXT } from './hevc-contexts.ts';
import { HEVC_SLICE_FAULT } from './hevc-slice-faults.ts';
import { readResidual } from './hevc-residual.ts';
import { SCAN } from './hevc-scan.ts';
import type { SliceState } from './hevc-slice-state.ts';

/**
 * Reads a transform tree (ITU-T H.265, 7.3.8.8).
 * @param part number among the four of its parent
 * @param parentCb whether the parent has coefficients of the first chroma plane, 0 or 1; `parentCr` of the second
 * @throws HevcError when something in it is impossible
 */
export function readTransformTree(
  state: SliceState,
  log2: number,
  depth: number,
  part: number,
  parentCb: number,
  parentCr: number,
): void {
  const { cabac, sps } = state;
  const mustSplit = state.isSplitIntra && depth === 0;
  let isSplit: boolean;
  if (log2 <= sps.maxTbLog2 && log2 > sps.minTbLog2 && depth < state.deepestTransform && !mustSplit) {
    isSplit = cabac.bin(CONTEXT.splitTransform + 5 - log2) === 1;
  } else isSplit = log2 > sps.maxTbLog2 || mustSplit || (state.isSplitInter && depth === 0);
  let cb = parentCb;
  let cr = parentCr;
  if (log2 > 2) {
    if (cb === 1) cb = cabac.bin(CONTEXT.cbfChroma + depth);
    if (cr === 1) cr = cabac.bin(CONTEXT.cbfChroma + depth);
  }
  if (isSplit) {
    for (let child = 0; child < 4; child++) {
      if (depth === 0) state.part = child;
      readTransformTree(state, log2 - 1, depth + 1, child, cb, cr);
    }
    return;
  }
  if (depth === 0) state.part = 0;
  const hasChroma = (cb | cr) === 1;
  const luma =
    state.isIntra || depth > 0 || hasChroma ? cabac.bin(CONTEXT.cbfLuma + (depth === 0 ? 1 : 0)) : 1;
  if (luma === 0 && !hasChroma) return;
  if (state.qpGroupLog2 > 0 && !state.isQpCoded) readQpDelta(state);
  if (luma === 1) readResidual(state, log2, scanOf(state, log2, false), false);
  // Four 4 x 4 luma blocks share their chroma, which follows the last.
  if (log2 === 2 && part < 3) return;
  const chromaLog2 = log2 === 2 ? 2 : log2 - 1;
  const scan = scanOf(state, chromaLog2, true);
  if (cb === 1) readResidual(state, chromaLog2, scan, true);
  if (cr === 1) readResidual(state, chromaLog2, scan, true);
}

/** scanIdx (7.4.9.11). */
function scanOf(state: SliceState, log2: number, isChroma: boolean): number {
  if (!state.isIntra || log2 > (isChroma ? 2 : 3)) return SCAN.diagonal;
  const mode = isChroma ? state.chromaMode : (state.partModes[state.isSplitIntra ? state.part : 0] ?? 0);
  if (mode >= 6 && mode <= 14) return SCAN.vertical;
  return mode >= 22 && mode <= 30 ? SCAN.horizontal : SCAN.diagonal;
}

/** cu_qp_delta_abs and its sign (9.3.3.10), within their range (7.4.9.14). */
function readQpDelta(state: SliceState): void {
  const { cabac, sps } = state;
  state.isQpCoded = true;
  let size = 0;
  while (size < 5 && cabac.bin(CONTEXT.qpDelta + (size === 0 ? 0 : 1)) === 1) size++;
  if (size === 5) {
    let order = 0;
    for (; cabac.bypass() === 1; order++) {
      size += 1 << order;
      if (order > 6) throw HEVC_SLICE_FAULT.quantiser;
    }
    size += cabac.bypassBits(order);
  }
  if (size === 0) return;
  const isNegative = cabac.bypass() === 1;
  const most = 25 + 3 * (sps.bitDepthLuma - 8) + (isNegative ? 1 : 0);
  if (size > most) throw HEVC_SLICE_FAULT.quantiser;
}
