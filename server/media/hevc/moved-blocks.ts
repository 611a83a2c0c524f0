import type { SquareMotion } from '../square-motion.ts';
import { CabacEncoder } from '../cabac/cabac-encoder.ts';
import { type CodingPps, type CodingSps, sizeInBlocks } from './hevc-coding-sets.ts';
import { CONTEXT, CONTEXT_COUNT, initContexts } from './hevc-contexts.ts';
import { createMotionMap, type MotionMap } from './moved-blocks-motion.ts';

export interface MovedBlocks {
  readonly sps: CodingSps;
  readonly pps: CodingPps;
  /** Coding tree blocks of the slice, row by row. */
  readonly first: number;
  /** One past the last of them. */
  readonly end: number;
  readonly motionAt: SquareMotion;
}

/**
 * Side of the moved units, unless the sequence's smallest are larger; later pictures refer to the motion of squares of
 * this side.
 */
const UNIT_LOG2 = 4;

/**
 * Codes a slice of P units that are moved from the first reference and have no residual (ITU-T H.265, 7.3.8), at the
 * quantiser of the picture parameter set. Tiles are not supported.
 * @returns its substreams: one per row with wavefronts, else one
 */
export function codeMovedBlocks(blocks: MovedBlocks): Buffer[] {
  const { sps, pps, first, end } = blocks;
  const { columns } = sizeInBlocks(sps);
  const states = new Uint8Array(CONTEXT_COUNT);
  const rowStates = new Uint8Array(CONTEXT_COUNT);
  const substreams: Buffer[] = [];
  const motion = createMotionMap(sps);
  const coder = { encoder: new CabacEncoder(), states };
  initContexts(states, 1, pps.initQp);
  const endWith = (symbol: number) => {
    const ended = coder.encoder.terminate(symbol);
    if (!ended) return;
    substreams.push(ended);
    coder.encoder = new CabacEncoder();
  };
  for (let block = first; block < end; block += 1) {
    const column = block % columns;
    if (pps.wavefronts && column === 0 && block > first) {
      // A row continues with the contexts after the second block of the row above, where the slice has that block
      // (9.3.1).
      if (columns > 1 && block - columns + 1 >= first) states.set(rowStates);
      else initContexts(states, 1, pps.initQp);
    }
    const [x, y] = [column << sps.ctbLog2, Math.floor(block / columns) << sps.ctbLog2];
    const beside = { hasLeft: column > 0 && block > first, hasAbove: block - columns >= first };
    codeTree({ ...blocks, ...beside, coder, motion }, x, y, sps.ctbLog2, 0);
    if (pps.wavefronts && column === 1) rowStates.set(states);
    endWith(block + 1 === end ? 1 : 0);
    if (pps.wavefronts && column === columns - 1 && block + 1 < end) endWith(1);
  }
  return substreams;
}

interface Coding extends Pick<MovedBlocks, 'sps' | 'pps' | 'motionAt'> {
  readonly coder: { readonly encoder: CabacEncoder; readonly states: Uint8Array };
  readonly motion: MotionMap;
  /** Whether the blocks to the left of and above the coding tree block are in the slice. */
  readonly hasLeft: boolean;
  readonly hasAbove: boolean;
}

function put({ coder: { encoder, states } }: Coding, context: number, symbol: number): void {
  encoder.inContext(states, context, symbol);
}

/** Codes a coding quadtree (7.3.8.4), split down to units of one size. */
function codeTree(coding: Coding, x: number, y: number, log2: number, depth: number): void {
  const { sps, motion } = coding;
  const size = 1 << log2;
  const isInside = x + size <= sps.width && y + size <= sps.height;
  const isSplit = log2 > sps.minCbLog2 && (!isInside || log2 > UNIT_LOG2);
  if (isInside && log2 > sps.minCbLog2) {
    const mask = (1 << sps.ctbLog2) - 1;
    const deeperLeft = (coding.hasLeft || (x & mask) !== 0) && motion.depthAt(x - 1, y) > depth;
    const deeperAbove = (coding.hasAbove || (y & mask) !== 0) && motion.depthAt(x, y - 1) > depth;
    put(coding, CONTEXT.splitCu + (deeperLeft ? 1 : 0) + (deeperAbove ? 1 : 0), isSplit ? 1 : 0);
  }
  if (!isSplit) {
    codeUnit(coding, x, y, size, depth);
    return;
  }
  const half = size >> 1;
  for (const [left, top] of [
    [x, y],
    [x + half, y],
    [x, y + half],
    [x + half, y + half],
  ] as const) {
    if (left < sps.width && top < sps.height) codeTree(coding, left, top, log2 - 1, depth + 1);
  }
}

/** Codes a coding unit with one vector and no residual (7.3.8.5 and 7.3.8.6). */
function codeUnit(coding: Coding, x: number, y: number, size: number, depth: number): void {
  const { motion, pps } = coding;
  const own = coding.motionAt(x, y, size);
  const predicted = motion.predict(x, y, size);
  if (pps.transquantBypass) put(coding, CONTEXT.transquantBypass, 0);
  // No unit of the slice is skipped, so the context is always the first.
  put(coding, CONTEXT.skip, 0);
  put(coding, CONTEXT.predMode, 0);
  put(coding, CONTEXT.partMode, 1);
  put(coding, CONTEXT.mergeFlag, 0);
  codeDifference(coding, own.x - (predicted?.x ?? 0), own.y - (predicted?.y ?? 0));
  // Where no neighbour predicts the vector, the second candidate is no motion, whatever the reference (8.5.3.2.6).
  put(coding, CONTEXT.mvp, predicted ? 0 : 1);
  put(coding, CONTEXT.rootCbf, 0);
  motion.note(x, y, size, { ...own, depth });
}

/** mvd_coding (7.3.8.9). */
function codeDifference(coding: Coding, x: number, y: number): void {
  const [sizeX, sizeY] = [Math.abs(x), Math.abs(y)];
  put(coding, CONTEXT.mvdGreater0, sizeX > 0 ? 1 : 0);
  put(coding, CONTEXT.mvdGreater0, sizeY > 0 ? 1 : 0);
  if (sizeX > 0) put(coding, CONTEXT.mvdGreater1, sizeX > 1 ? 1 : 0);
  if (sizeY > 0) put(coding, CONTEXT.mvdGreater1, sizeY > 1 ? 1 : 0);
  for (const [value, size] of [
    [x, sizeX],
    [y, sizeY],
  ] as const) {
    // Of order 1 (9.3.3.3).
    if (size > 1) coding.coder.encoder.golomb(size - 2, 1);
    if (size > 0) coding.coder.encoder.bypass(value < 0 ? 1 : 0);
  }
}
