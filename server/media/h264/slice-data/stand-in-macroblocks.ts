import type { BitWriter } from '../bits.ts';
import { H264Error } from '../h264-error.ts';
import type { PcmHead } from '../pcm-picture.ts';
import { writeMarking } from '../reference-marking.ts';
import type { SliceContext } from '../slice-header.ts';
import type { Moved } from '../../square-motion.ts';
import { CabacCoder } from './cabac-coder.ts';
import { CavlcCoder } from './cavlc-coder.ts';
import { FLAG, MbState } from './mb-state.ts';
import { PCM_BYTES } from './slice-data.ts';
import { createVectors } from './vectors.ts';

/** A macroblock of no residual that is moved from a reference, or its raw samples: Y, Cb and Cr, row by row. */
export type StandInMacroblock = Moved | Uint8Array;

/** Macroblocks of a slice in the place of others. */
export interface StandInSlice {
  readonly context: SliceContext;
  /** The numbers of the picture that the slice belongs to. */
  readonly head: StandInSliceHead;
  /** First macroblock, and one past the last. */
  readonly first: number;
  readonly end: number;
  /** In an I slice all are raw. */
  readonly kind: 'I' | 'P';
  at(mb: number): StandInMacroblock;
}

export interface StandInSliceHead extends PcmHead {
  /** frame_num of the reference that macroblocks are moved from; null for the one decoded last. */
  readonly fromFrameNum: number | null;
}

/** Writes macroblocks of a slice in one way of coding. */
export interface MacroblockCoder {
  /** Only in P slices: moved as it is predicted to be. */
  skip(): void;
  /** The difference to the predicted vector, quarters of a pixel. */
  moved(difference: Moved): void;
  raw(samples: Uint8Array): void;
  /** Behind each macroblock. */
  goOn(isLast: boolean): void;
  /** @returns the RBSP, header included */
  end(): Buffer;
}

/**
 * Codes a slice of moved and raw macroblocks (ITU-T H.264, 7.3.3 to 7.3.5), which neither needs nor makes any residual. It is not filtered
 * where the picture parameter set lets that be said; else next to nothing, at a low quantiser.
 * @returns its RBSP
 * @throws H264Error for fields, unusual chroma, raw macroblocks other than 8 bits in 4:2:0, or moved ones in a key picture
 */
export function codeStandIn(writer: BitWriter, slice: StandInSlice): Buffer {
  const { context, head, kind, first, end } = slice;
  const { sps, pps } = context;
  if (!sps.frameMbsOnly) throw new H264Error('Interlaced streams are not supported.');
  if (sps.chromaFormat !== 1 && sps.chromaFormat !== 2) throw new H264Error('Unusual colour format.');
  if (kind === 'P' && head.idrPicId !== null) throw new H264Error('A key picture is made of no other.');
  const qp = writeHead(writer, slice);
  const state = new MbState(sps.widthMbs, sps.heightMbs);
  const coder = pps.cabac ? new CabacCoder(writer, state, kind, qp) : new CavlcCoder(writer, kind);
  const vectors = createVectors(sps.widthMbs, first);
  state.startSlice();
  for (let mb = first; mb < end; mb += 1) {
    state.start(mb);
    const one = slice.at(mb);
    if (one instanceof Uint8Array) {
      if (one.length !== PCM_BYTES) throw new H264Error('Raw macroblocks are of 8 bits in 4:2:0.');
      coder.raw(one);
      state.markPcm();
      vectors.note(mb, null);
    } else {
      if (kind === 'I') throw new H264Error('A macroblock of an I slice is made of no other.');
      const own = clamped(one);
      const skipped = vectors.skipped(mb);
      if (own.x === skipped.x && own.y === skipped.y) {
        coder.skip();
        state.mark(FLAG.skipped);
      } else {
        const predicted = vectors.predicted(mb);
        const difference = { x: own.x - predicted.x, y: own.y - predicted.y };
        coder.moved(difference);
        state.setDifference(0, [0, 0, 4, 4], [Math.abs(difference.x), Math.abs(difference.y)]);
      }
      vectors.note(mb, own);
    }
    coder.goOn(mb + 1 === end);
  }
  return coder.end();
}

/** Longest vectors, quarters of a pixel: within what every level from 1.1 on allows (ITU-T H.264, table A-1). */
const MOST_X = 2047;
const MOST_Y = 4 * 127;

function clamped({ x, y }: Moved): Moved {
  return { x: Math.max(-MOST_X, Math.min(MOST_X, x)), y: Math.max(-MOST_Y, Math.min(MOST_Y, y)) };
}

/** Quantiser at which hardly any edge is filtered, where that cannot be switched off (ITU-T H.264, table 8-16). */
const UNFILTERED_QP = 10;

/** NAL header and slice header (7.3.3); answers the quantiser. */
function writeHead(writer: BitWriter, { context: { sps, pps }, head, first, kind }: StandInSlice): number {
  const isIdr = head.idrPicId !== null;
  writer.bits(8, (head.refIdc << 5) | (isIdr ? 5 : 1));
  writer.ue(first);
  writer.ue(kind === 'P' ? 0 : 2);
  writer.ue(pps.id);
  writer.bits(sps.frameNumBits, head.frameNum);
  if (head.idrPicId !== null) writer.ue(head.idrPicId);
  if (sps.pocType === 0) {
    if (head.pocLsb === null) throw new H264Error('The picture has no place in the order.');
    writer.bits(sps.pocBits, head.pocLsb);
    if (pps.fieldOrderInSlices) writer.se(0);
  } else if (sps.pocType === 1) throw new H264Error('Picture order type 1 is not supported.');
  if (pps.redundantPictures) writer.ue(0);
  if (kind === 'P') writeReference(writer, { sps, pps }, head);
  if (head.refIdc > 0) writeMarking(writer, isIdr, head.marking);
  if (pps.cabac && kind === 'P') writer.ue(0);
  const usual = 26 + pps.initQp;
  const qp = pps.deblockingControl ? usual : UNFILTERED_QP;
  writer.se(qp - usual);
  if (pps.deblockingControl) writer.ue(1);
  return qp;
}

/** The one reference of the list, by how much its number lies below (7.3.3.1), and no weights. */
function writeReference(writer: BitWriter, { sps, pps }: SliceContext, head: StandInSliceHead): void {
  writer.flag(true);
  writer.ue(0);
  const range = 2 ** sps.frameNumBits;
  const away = head.fromFrameNum === null ? 0 : (head.frameNum - head.fromFrameNum + range) % range;
  writer.flag(away > 0);
  if (away > 0) {
    writer.ue(0);
    writer.ue(away - 1);
    writer.ue(3);
  }
  if (!pps.weightedPred) return;
  writer.ue(0);
  writer.ue(0);
  writer.bits(2, 0);
}
