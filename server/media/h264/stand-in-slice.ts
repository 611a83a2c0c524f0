import { createBitReader, createBitWriter } from './bits.ts';
import { H264Error } from './h264-error.ts';
import { NAL, fromRbsp, nalType, toRbsp } from './nal.ts';
import { writeMarking, type ReferenceMarking } from './reference-marking.ts';
import { type SliceContext, sliceKind } from './slice-header.ts';
import type { Sps } from './sps.ts';

/** The place of a stand-in picture: the numbers of the coded picture that it replaces. */
export interface StandInHead {
  readonly sps: Sps;
  readonly ppsId: number;
  /** As in the replaced slice, wrapped. */
  readonly frameNum: number;
  /** Null unless the sequence uses picture order type 0. */
  readonly pocLsb: number | null;
  /** How the replaced picture changes the list of references; absent for one that is no reference. */
  readonly reference?: StandInReference;
}

export interface StandInReference {
  /** nal_ref_idc, above 0. */
  readonly refIdc: number;
  readonly marking: ReferenceMarking;
}

/** NAL header of a coded slice of a picture that no other refers to: `nal_ref_idc` 0, type 1. */
const PLAIN_SLICE = 0x01;

/**
 * Turns a slice of an IDR picture into one that replaces another: intra coded, with the replaced picture's numbers and
 * marking (ITU-T H.264, 7.3.3). If it is no reference, everything before and behind it decodes exactly as before.
 * @param from the sequence in which the slice was encoded; both are frame-only, without slice groups, and of the same
 * picture size and chroma format
 * @throws H264Error when it is no I slice of an IDR picture, or the target cannot carry it
 */
export function standInSlice(unit: Buffer, from: SliceContext, to: StandInHead): Buffer {
  if (nalType(unit) !== NAL.idrSlice) throw new H264Error('Only a key picture can stand in for another.');
  if (!from.sps.frameMbsOnly || !to.sps.frameMbsOnly)
    throw new H264Error('Interlaced streams are not supported.');
  if (from.sps.pocType === 1 || to.sps.pocType === 1)
    throw new H264Error('Picture order type 1 is not supported.');
  const rbsp = toRbsp(unit);
  const reader = createBitReader(rbsp);
  const writer = createBitWriter(rbsp.length + 16);
  // Signed and unsigned Exp-Golomb codes have the same bits.
  const copy = () => {
    const value = reader.ue();
    writer.ue(value);
    return value;
  };
  reader.bits(8);
  writer.bits(8, PLAIN_SLICE | ((to.reference?.refIdc ?? 0) << 5));
  copy();
  if (sliceKind(copy()) !== 'I') throw new H264Error('Only intra slices can stand in for others.');
  reader.ue();
  writer.ue(to.ppsId);
  reader.bits(from.sps.frameNumBits);
  writer.bits(to.sps.frameNumBits, to.frameNum);
  reader.ue();
  if (from.sps.pocType === 0) {
    reader.bits(from.sps.pocBits);
    if (from.pps.fieldOrderInSlices) reader.se();
  }
  if (to.sps.pocType === 0) {
    if (to.pocLsb === null) throw new H264Error('The replaced picture has no place in the order.');
    writer.bits(to.sps.pocBits, to.pocLsb);
    if (from.pps.fieldOrderInSlices) writer.se(0);
  }
  if (from.pps.redundantPictures) copy();
  // Skips the marking of the IDR picture; a picture that is no reference has none.
  reader.bits(2);
  if (to.reference) writeMarking(writer, false, to.reference.marking);
  copy();
  if (from.pps.deblockingControl && copy() !== 1) {
    copy();
    copy();
  }
  const dataAt = reader.position();
  if (from.pps.cabac) {
    writer.alignWithOnes();
    return fromRbsp(Buffer.concat([writer.bytes(), rbsp.subarray((dataAt + 7) >> 3)]));
  }
  writer.copy(rbsp, dataAt, reader.stopBit());
  writer.stop();
  return fromRbsp(writer.bytes());
}
