import type { BitWriter } from '../bits.ts';
import { H264Error } from '../h264-error.ts';
import { type ReferenceMarking, writeMarking } from '../reference-marking.ts';
import type { SliceContext } from '../slice-header.ts';

/** The numbers of the coded picture whose place another takes. */
export interface PcmHead {
  /** nal_ref_idc; 0 when no other picture refers to it. */
  readonly refIdc: number;
  readonly frameNum: number;
  /** Null unless the picture is an IDR picture. */
  readonly idrPicId: number | null;
  /** Null unless the sequence orders its pictures by type 0. */
  readonly pocLsb: number | null;
  /** What the picture does to the list of references; none for a picture that is no reference. */
  readonly marking: ReferenceMarking;
}

export interface StandInSliceHead extends PcmHead {
  /** frame_num of the reference that macroblocks are moved from; null for the one decoded last. */
  readonly fromFrameNum: number | null;
}

/** A slice in the place of others. */
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

/** Slice types, and what is added to say that all slices of the picture are of the same (ITU-T H.264, table 7-6). */
const SLICE_TYPE = { P: 0, I: 2 } as const;
export const ALL_ALIKE = 5;
/** Quantiser at which hardly any edge is filtered, where that cannot be switched off (ITU-T H.264, table 8-16). */
const UNFILTERED_QP = 10;

/**
 * Writes NAL header and slice header (7.3.3). It says that the picture is not filtered where its parameter set lets that be said.
 * @returns its quantiser
 * @throws H264Error where the sequence orders its pictures by type 1, or the picture has no place in the order
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
