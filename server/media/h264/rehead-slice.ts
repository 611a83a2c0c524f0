import { type BitReader, type BitWriter, createBitReader, createBitWriter } from './bits.ts';
import { H264Error } from './h264-error.ts';
import { NAL, fromRbsp, isSlice, nalType, toRbsp } from './nal.ts';
import { type SliceContext, sliceKind } from './slice-header.ts';
import type { Sps } from './sps.ts';

/** The fields with new values. Their widths come from the sequence that the slice moves to. */
export interface NewHead {
  readonly sps: Sps;
  readonly ppsId: number;
  /** Frame number, unwrapped: pictures since the last IDR picture. */
  readonly frameNum: number;
  /** Picture order count, unwrapped; used with picture order type 0 only. */
  readonly poc: number;
  readonly idrPicId: number;
}

/**
 * Moves a slice from the sequence in which it was encoded to another one. Header fields that name or depend on
 * parameter sets are rewritten; all others and the macroblock data are copied bit for bit. Both sequences must be
 * frame-only, without slice groups, and of the same picture size and chroma format.
 * @throws H264Error when the slice is damaged or the target cannot carry it.
 */
export function reheadSlice(unit: Buffer, from: SliceContext, to: NewHead): Buffer {
  if (!isSlice(unit)) throw new H264Error('This is not a slice.');
  if (!from.sps.frameMbsOnly || !to.sps.frameMbsOnly)
    throw new H264Error('Interlaced streams are not supported.');
  if (to.sps.pocType === 1) throw new H264Error('Picture order type 1 is not supported.');
  const rbsp = toRbsp(unit);
  const reader = createBitReader(rbsp);
  const writer = createBitWriter(rbsp.length + 16);
  const copy = createCopier(reader, writer);
  const head = copy.bits(8);
  const idr = nalType(unit) === NAL.idrSlice;
  const isReference = ((head >> 5) & 3) > 0;
  copy.ue();
  const kind = sliceKind(copy.ue());
  reader.ue();
  writer.ue(to.ppsId);
  reader.bits(from.sps.frameNumBits);
  writer.bits(to.sps.frameNumBits, to.frameNum % 2 ** to.sps.frameNumBits);
  if (idr) {
    reader.ue();
    writer.ue(to.idrPicId);
  }
  if (from.sps.pocType === 0) {
    reader.bits(from.sps.pocBits);
    if (from.pps.fieldOrderInSlices) reader.se();
  } else if (from.sps.pocType === 1) {
    throw new H264Error('Picture order type 1 is not supported.');
  }
  if (to.sps.pocType === 0) writer.bits(to.sps.pocBits, to.poc % 2 ** to.sps.pocBits);
  if (from.pps.redundantPictures) copy.ue();

  const isB = kind === 'B';
  const isInter = kind !== 'I' && kind !== 'SI';
  let refs0 = from.pps.refs0;
  let refs1 = from.pps.refs1;
  if (isB) copy.flag();
  if (isInter && copy.flag()) {
    refs0 = copy.ue() + 1;
    if (isB) refs1 = copy.ue() + 1;
    if (refs0 > 32 || refs1 > 32) throw new H264Error('A slice has too many references.');
  }
  if (isInter) copyListModification(copy);
  if (isB) copyListModification(copy);
  const isP = kind === 'P' || kind === 'SP';
  if ((from.pps.weightedPred && isP) || (from.pps.weightedBipred === 1 && isB)) {
    copyWeights(copy, from.sps, isB ? [refs0, refs1] : [refs0]);
  }
  if (isReference) copyMarking(copy, idr);
  if (from.pps.cabac && isInter) copy.ue();
  copy.ue();
  if (kind === 'SP' || kind === 'SI') throw new H264Error('Switching slices are not supported.');
  if (from.pps.deblockingControl && copy.ue() !== 1) {
    copy.ue();
    copy.ue();
  }
  const dataAt = reader.position();
  if (from.pps.cabac) {
    // CABAC data begin at a byte; only the number of alignment bits in front changes.
    writer.alignWithOnes();
    return fromRbsp(Buffer.concat([writer.bytes(), rbsp.subarray((dataAt + 7) >> 3)]));
  }
  writer.copy(rbsp, dataAt, reader.stopBit());
  writer.stop();
  return fromRbsp(writer.bytes());
}

interface Copier {
  bits(count: number): number;
  flag(): boolean;
  /** Copies any Exp-Golomb code; signed and unsigned ones have the same bits. */
  ue(): number;
}

function createCopier(reader: BitReader, writer: BitWriter): Copier {
  const bits = (count: number) => {
    const value = reader.bits(count);
    writer.bits(count, value);
    return value;
  };
  return {
    bits,
    flag: () => bits(1) === 1,
    ue: () => {
      const value = reader.ue();
      writer.ue(value);
      return value;
    },
  };
}

/** ref_pic_list_modification for one list (ITU-T H.264, 7.3.3.1). */
function copyListModification(copy: Copier): void {
  if (!copy.flag()) return;
  for (let left = 66; left > 0; left--) {
    if (copy.ue() === 3) return;
    copy.ue();
  }
  throw new H264Error('A slice reorders its references without end.');
}

/** pred_weight_table (ITU-T H.264, 7.3.3.2). */
function copyWeights(copy: Copier, sps: Sps, lists: readonly number[]): void {
  const chroma = sps.chromaFormat !== 0 && !sps.separateColourPlanes;
  copy.ue();
  if (chroma) copy.ue();
  for (const refs of lists) {
    for (let ref = 0; ref < refs; ref++) {
      if (copy.flag()) {
        copy.ue();
        copy.ue();
      }
      if (chroma && copy.flag()) for (let code = 0; code < 4; code++) copy.ue();
    }
  }
}

/** dec_ref_pic_marking (ITU-T H.264, 7.3.3.3). */
function copyMarking(copy: Copier, idr: boolean): void {
  if (idr) {
    copy.bits(2);
    return;
  }
  if (!copy.flag()) return;
  for (let left = 66; left > 0; left--) {
    const operation = copy.ue();
    if (operation === 0) return;
    if (operation > 6) throw new H264Error('A slice has an impossible marking command.');
    if (operation !== 5) copy.ue();
    if (operation === 3) copy.ue();
  }
  throw new H264Error('A slice marks its references without end.');
}
