import type { BitWriter } from '../bits.ts';
import { H264Error } from '../h264-error.ts';
import { type ReferenceMarking, writeMarking } from '../reference-marking.ts';
import type { SliceContext } from '../slice-header.ts';

/** The numbers of the coded picture that is replaced. */
export interface PcmHead {
  /** nal_ref_idc; 0 when no other picture refers to it. */
  readonly refIdc: number;
  readonly frameNum: number;
  /** Null unless the picture is an IDR picture. */
  readonly idrPicId: number | null;
  /** Null unless the sequence uses picture order type 0. */
  readonly pocLsb: number | null;
  /** How the picture changes the list of references; no change for one that is no reference. */
  readonly marking: ReferenceMarking;
}

export interface StandInSliceHead extends PcmHead {
  /** frame_num of the reference that macroblocks are moved from; null for the one decoded last. */
  readonly fromFrameNum: number | null;
}

/** A slice that replaces others. */
export interface StandInPlace {
  readonly context: SliceContext;
  /** The numbers of the picture that the slice belongs to. */
  readonly head: StandInSliceHead;
  /** First macroblock, and one past the last. */
  readonly first: number;
  readonly end: number;
  /** In an I slice all macroblocks are raw. */
  readonly kind: 'I' | 'P';
}

/**
 * Slice types, and the number added to state that all slices of the picture have the same type (ITU-T H.264, table
 * 7-6).
 */
const SLICE_TYPE = { P: 0, I: 2 } as const;
export const ALL_ALIKE = 5;
/**
 * Quantiser at which hardly any edge is filtered, for where filtering cannot be switched off (ITU-T H.264, table 8-16).
 */
const UNFILTERED_QP = 10;

/**
 * Writes NAL header and slice header (7.3.3), with the filter switched off where the parameter set allows stating that.
 * @returns its quantiser
 * @throws H264Error where the sequence uses picture order type 1, or the picture has no place in the order
 */
export function writeStandInHead(
  writer: BitWriter,
  { context: { sps, pps }, head, first, end, kind }: StandInPlace,
): number {
  const isIdr = head.idrPicId !== null;
  writer.bits(8, (head.refIdc << 5) | (isIdr ? 5 : 1));
  writer.ue(first);
  const isAll = first === 0 && end === sps.widthMbs * sps.heightMbs;
  writer.ue(SLICE_TYPE[kind] + (isAll ? ALL_ALIKE : 0));
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

/** Writes the single reference of the list, as the distance of its number (7.3.3.1), and no weights. */
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
