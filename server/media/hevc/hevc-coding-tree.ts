import { CONTEXT } from './hevc-contexts.ts';
import { readCodingUnit } from './hevc-coding-unit.ts';
import type { SliceState } from './hevc-slice-state.ts';

/** Reads the offsets of the sample adaptive filter of a coding tree block (ITU-T H.265, 7.3.8.3). */
export function readSao(state: SliceState, isLeftMergeable: boolean, isAboveMergeable: boolean): void {
  const { cabac, sps, header } = state;
  if (isLeftMergeable && cabac.bin(CONTEXT.saoMerge) === 1) return;
  if (isAboveMergeable && cabac.bin(CONTEXT.saoMerge) === 1) return;
  let isOn = false;
  let isBand = false;
  for (let plane = 0; plane < 3; plane++) {
    if (!(plane === 0 ? header.saoLuma : header.saoChroma)) continue;
    if (plane < 2) {
      isOn = cabac.bin(CONTEXT.saoType) === 1;
      isBand = isOn && cabac.bypass() === 0;
    }
    if (!isOn) continue;
    const depth = plane === 0 ? sps.bitDepthLuma : sps.bitDepthChroma;
    const most = (1 << (Math.min(depth, 10) - 5)) - 1;
    let present = 0;
    for (let offset = 0; offset < 4; offset++) {
      let size = 0;
      while (size < most && cabac.bypass() === 1) size++;
      if (size > 0) present++;
    }
    if (isBand) cabac.bypassBits(present + 5);
    else if (plane < 2) cabac.bypassBits(2);
  }
}

/** A node of a coding quadtree, in samples. */
export interface TreeNode {
  readonly x: number;
  readonly y: number;
  readonly log2: number;
}

/**
 * Reads a coding quadtree (7.3.8.4).
 * @throws HevcError when something in it is impossible
 */
export function readCodingTree(state: SliceState, x: number, y: number, log2: number, depth: number): void {
  const { sps, cabac } = state;
  if (depth > 0) state.onNode?.({ x, y, log2 });
  const size = 1 << log2;
  const isInside = x + size <= sps.width && y + size <= sps.height;
  let isSplit = log2 > sps.minCbLog2;
  if (isSplit && isInside) isSplit = cabac.bin(CONTEXT.splitCu + splitContext(state, x, y, depth)) === 1;
  if (state.qpGroupLog2 > 0 && log2 >= state.qpGroupLog2) state.isQpCoded = false;
  if (!isSplit) {
    readCodingUnit(state, x, y, log2, depth);
    return;
  }
  const half = size >> 1;
  const isRight = x + half < sps.width;
  const isBelow = y + half < sps.height;
  readCodingTree(state, x, y, log2 - 1, depth + 1);
  if (isRight) readCodingTree(state, x + half, y, log2 - 1, depth + 1);
  if (isBelow) readCodingTree(state, x, y + half, log2 - 1, depth + 1);
  if (isRight && isBelow) readCodingTree(state, x + half, y + half, log2 - 1, depth + 1);
}

/**
 * Reads the rest of a coding quadtree from one of its nodes on.
 * @throws HevcError when something in it is impossible
 */
export function readTreeFrom(state: SliceState, root: TreeNode, node: TreeNode, depth = 0): void {
  const { x, y, log2 } = root;
  if (log2 === node.log2) {
    readCodingTree(state, x, y, log2, depth);
    return;
  }
  const half = 1 << (log2 - 1);
  const quarter = (node.x >= x + half ? 1 : 0) + (node.y >= y + half ? 2 : 0);
  for (let at = quarter; at < 4; at += 1) {
    const [left, top] = [x + (at & 1) * half, y + (at >> 1) * half];
    if (left >= state.sps.width || top >= state.sps.height) continue;
    if (at === quarter) readTreeFrom(state, { x: left, y: top, log2: log2 - 1 }, node, depth + 1);
    else readCodingTree(state, left, top, log2 - 1, depth + 1);
  }
}

function splitContext(state: SliceState, x: number, y: number, depth: number): number {
  const { sps, depths, cbColumns } = state;
  const mask = (1 << sps.ctbLog2) - 1;
  const at = (y >> sps.minCbLog2) * cbColumns + (x >> sps.minCbLog2);
  let context = 0;
  if ((state.hasLeft || (x & mask) !== 0) && (depths[at - 1] ?? 0) > depth) context++;
  if ((state.hasAbove || (y & mask) !== 0) && (depths[at - cbColumns] ?? 0) > depth) context++;
  return context;
}
