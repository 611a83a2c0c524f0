import { createBitReader, createBitWriter } from './bits.ts';
import { H264Error } from './h264-error.ts';
import { NAL, fromRbsp, nalType, toRbsp } from './nal.ts';
import { skipScalingLists, writeFlatScalingLists } from './scaling-list.ts';
import { limited } from './sps.ts';

/** The fields of a picture parameter set (ITU-T H.264, 7.3.2.2). */
export interface Pps {
  readonly id: number;
  readonly spsId: number;
  readonly cabac: boolean;
  /** bottom_field_pic_order_in_frame_present_flag: slices carry a second picture order delta. */
  readonly fieldOrderInSlices: boolean;
  readonly sliceGroups: number;
  /** Default number of references, lists 0 and 1. */
  readonly refs0: number;
  readonly refs1: number;
  readonly weightedPred: boolean;
  readonly weightedBipred: number;
  readonly initQp: number;
  readonly initQs: number;
  readonly chromaQpOffset: number;
  readonly deblockingControl: boolean;
  readonly constrainedIntra: boolean;
  readonly redundantPictures: boolean;
  /** Fields behind `redundantPictures`, in high profiles. */
  readonly extension: {
    readonly transform8x8: boolean;
    readonly scalingMatrix: boolean;
    readonly secondChromaQpOffset: number;
  } | null;
}

/**
 * Parses a picture parameter set NAL unit.
 * @param chromaFormat chroma_format_idc of the sequence it belongs to (decides the number of scaling lists)
 * @throws H264Error when it is not one, is cut off, or uses slice groups.
 */
export function parsePps(unit: Buffer, chromaFormat = 1): Pps {
  if (nalType(unit) !== NAL.pps) throw new H264Error('This is not a picture parameter set.');
  const reader = createBitReader(toRbsp(unit));
  reader.bits(8);
  const id = limited(reader.ue(), 255);
  const spsId = limited(reader.ue(), 31);
  const cabac = reader.flag();
  const fieldOrderInSlices = reader.flag();
  const sliceGroups = 1 + limited(reader.ue(), 7);
  if (sliceGroups > 1) throw new H264Error('Slice groups are not supported.');
  const refs0 = 1 + limited(reader.ue(), 31);
  const refs1 = 1 + limited(reader.ue(), 31);
  const weightedPred = reader.flag();
  const weightedBipred = reader.bits(2);
  const initQp = reader.se();
  const initQs = reader.se();
  const chromaQpOffset = reader.se();
  const deblockingControl = reader.flag();
  const constrainedIntra = reader.flag();
  const redundantPictures = reader.flag();
  let extension: Pps['extension'] = null;
  if (reader.position() < reader.stopBit()) {
    const transform8x8 = reader.flag();
    const scalingMatrix = reader.flag();
    if (scalingMatrix) skipScalingLists(reader, listCount(chromaFormat, transform8x8));
    extension = { transform8x8, scalingMatrix, secondChromaQpOffset: reader.se() };
  }
  return {
    id,
    spsId,
    cabac,
    fieldOrderInSlices,
    sliceGroups,
    refs0,
    refs1,
    weightedPred,
    weightedBipred,
    initQp,
    initQs,
    chromaQpOffset,
    deblockingControl,
    constrainedIntra,
    redundantPictures,
    extension,
  };
}

const listCount = (chromaFormat: number, transform8x8: boolean) =>
  6 + (transform8x8 ? (chromaFormat === 3 ? 6 : 2) : 0);

/**
 * Writes a picture parameter set as a NAL unit.
 * @param flatMatrix states flat scaling lists explicitly, for a sequence that has lists of its own
 */
export function writePps(pps: Pps, chromaFormat: number, flatMatrix: boolean): Buffer {
  if (pps.extension?.scalingMatrix) throw new H264Error('Scaling lists of a picture are not supported.');
  const writer = createBitWriter();
  writer.bits(8, 0x68);
  writer.ue(pps.id);
  writer.ue(pps.spsId);
  writer.flag(pps.cabac);
  writer.flag(pps.fieldOrderInSlices);
  writer.ue(0);
  writer.ue(pps.refs0 - 1);
  writer.ue(pps.refs1 - 1);
  writer.flag(pps.weightedPred);
  writer.bits(2, pps.weightedBipred);
  writer.se(pps.initQp);
  writer.se(pps.initQs);
  writer.se(pps.chromaQpOffset);
  writer.flag(pps.deblockingControl);
  writer.flag(pps.constrainedIntra);
  writer.flag(pps.redundantPictures);
  if (pps.extension || flatMatrix) {
    const transform8x8 = pps.extension?.transform8x8 ?? false;
    writer.flag(transform8x8);
    writer.flag(flatMatrix);
    if (flatMatrix) writeFlatScalingLists(writer, listCount(chromaFormat, transform8x8));
    writer.se(pps.extension?.secondChromaQpOffset ?? pps.chromaQpOffset);
  }
  writer.stop();
  return fromRbsp(writer.bytes());
}
