import { createBitWriter } from './bits.ts';
import { H264Error } from './h264-error.ts';
import { fromRbsp } from './nal.ts';
import { type Pps, writePps } from './pps.ts';
import { writeMarking, type ReferenceMarking } from './reference-marking.ts';
import type { Sps } from './sps.ts';

/** The numbers of the coded picture whose place a verbatim one takes. */
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

/** What the picture parameter set of verbatim pictures says: plain Exp-Golomb codes, deblocking can be switched off. */
export function plainPps({ id: spsId }: Pick<Sps, 'id'>, id: number): Pps {
  return {
    id,
    spsId,
    cabac: false,
    fieldOrderInSlices: false,
    sliceGroups: 1,
    refs0: 1,
    refs1: 1,
    weightedPred: false,
    weightedBipred: 0,
    initQp: 0,
    initQs: 0,
    chromaQpOffset: 0,
    deblockingControl: true,
    constrainedIntra: false,
    redundantPictures: false,
    extension: null,
  };
}

/** Picture parameter set that verbatim pictures name. */
export const pcmPps = (sps: Sps, id: number): Buffer => writePps(plainPps(sps, id), sps.chromaFormat, false);

/** Luma and chroma samples of one macroblock. */
export function pcmMacroblockBytes(sps: Sps): number {
  return sps.chromaFormat === 2 ? 512 : 384;
}

/** mb_type of I_PCM in an I slice (ITU-T H.264, table 7-11) at a byte boundary, with its alignment bits. */
const PCM_TYPE = Buffer.from([0x0d, 0x00]);
const PCM_TYPE_CODE = 25;
const SLICE_TYPE_ALL_I = 7;

/**
 * Codes a picture without any loss as one slice of I_PCM macroblocks (ITU-T H.264, 7.3.5.3 and 8.3.5), with the
 * deblocking filter off: whatever refers to it finds the very same samples. Costs a byte a sample.
 * @param pixels 8 bit planes Y, Cb, Cr of the coded size (whole macroblocks), tightly packed
 * @throws H264Error for sequences with fields, more than 8 bits, or another colour format than 4:2:0 and 4:2:2
 */
export function pcmPicture(pixels: Uint8Array, sps: Sps, ppsId: number, head: PcmHead): Buffer {
  if (!sps.frameMbsOnly) throw new H264Error('Interlaced streams are not supported.');
  if (sps.bitDepthLuma !== 8 || sps.bitDepthChroma !== 8) throw new H264Error('Only 8 bit pictures.');
  if (sps.chromaFormat !== 1 && sps.chromaFormat !== 2) throw new H264Error('Unusual colour format.');
  const count = sps.widthMbs * sps.heightMbs;
  const mbBytes = pcmMacroblockBytes(sps);
  if (pixels.length !== count * mbBytes) throw new H264Error('The picture has another size.');
  const start = sliceStart(sps, ppsId, head);
  const step = PCM_TYPE.length + mbBytes;
  const rbsp = Buffer.allocUnsafe(start.length + count * step - PCM_TYPE.length + 1);
  start.copy(rbsp, 0);
  let at = start.length;
  const planes = planesOf(sps);
  for (let mb = 0; mb < count; mb++) {
    if (mb > 0) at += PCM_TYPE.copy(rbsp, at);
    const row = Math.floor(mb / sps.widthMbs);
    const column = mb % sps.widthMbs;
    for (const { offset, stride, mbWidth, mbHeight } of planes) {
      let from = offset + row * mbHeight * stride + column * mbWidth;
      for (let line = 0; line < mbHeight; line++) {
        rbsp.set(pixels.subarray(from, from + mbWidth), at);
        at += mbWidth;
        from += stride;
      }
    }
  }
  rbsp[at] = 0x80;
  return fromRbsp(rbsp);
}

function planesOf({ widthMbs, heightMbs, chromaFormat }: Sps) {
  const width = widthMbs * 16;
  const height = heightMbs * 16;
  const chromaMb = { stride: width / 2, mbWidth: 8, mbHeight: chromaFormat === 2 ? 16 : 8 };
  const chromaBytes = (width / 2) * (chromaMb.mbHeight * heightMbs);
  return [
    { offset: 0, stride: width, mbWidth: 16, mbHeight: 16 },
    { offset: width * height, ...chromaMb },
    { offset: width * height + chromaBytes, ...chromaMb },
  ];
}

/** NAL header, slice header (7.3.3) and the type of the first macroblock, up to its first sample. */
function sliceStart(sps: Sps, ppsId: number, head: PcmHead): Buffer {
  const writer = createBitWriter();
  const isIdr = head.idrPicId !== null;
  writer.bits(8, (head.refIdc << 5) | (isIdr ? 5 : 1));
  writer.ue(0);
  writer.ue(SLICE_TYPE_ALL_I);
  writer.ue(ppsId);
  if (sps.separateColourPlanes) throw new H264Error('Separate colour planes are not supported.');
  writer.bits(sps.frameNumBits, head.frameNum);
  if (head.idrPicId !== null) writer.ue(head.idrPicId);
  if (sps.pocType === 0) {
    if (head.pocLsb === null) throw new H264Error('The picture has no place in the order.');
    writer.bits(sps.pocBits, head.pocLsb);
  } else if (sps.pocType === 1) throw new H264Error('Picture order type 1 is not supported.');
  if (head.refIdc > 0) writeMarking(writer, isIdr, head.marking);
  writer.se(0);
  writer.ue(1);
  writer.ue(PCM_TYPE_CODE);
  if (writer.length() % 8 !== 0) writer.bits(8 - (writer.length() % 8), 0);
  return Buffer.from(writer.bytes());
}
