import { createBitWriter } from './bits.ts';
import { H264Error } from './h264-error.ts';
import { fromRbsp } from './nal.ts';
import { type Pps, writePps } from './pps.ts';
import { I_PCM } from './slice-data/mb-types.ts';
import { type PcmHead, writeStandInHead } from './slice-data/stand-in-head.ts';
import type { Sps } from './sps.ts';

/** The picture parameter set of verbatim pictures: plain Exp-Golomb codes, and deblocking can be switched off. */
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

/** Picture parameter set for verbatim pictures. */
export const pcmPps = (sps: Sps, id: number): Buffer => writePps(plainPps(sps, id), sps.chromaFormat, false);

/** Luma and chroma samples of one macroblock. */
export function pcmMacroblockBytes(sps: Pick<Sps, 'chromaFormat'>): number {
  return sps.chromaFormat === 2 ? 512 : 384;
}

/** mb_type of I_PCM in an I slice (ITU-T H.264, table 7-11) at a byte boundary, with its alignment bits. */
const PCM_TYPE = Buffer.from([0x0d, 0x00]);

/**
 * Codes a picture without loss as one slice of I_PCM macroblocks (ITU-T H.264, 7.3.5.3 and 8.3.5), with the deblocking
 * filter off, so that pictures that refer to it find exactly these samples. It costs one byte per sample.
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
  const copy = createMacroblockCopier(pixels, sps);
  for (let mb = 0; mb < count; mb++) {
    if (mb > 0) at += PCM_TYPE.copy(rbsp, at);
    copy(mb, rbsp, at);
    at += mbBytes;
  }
  rbsp[at] = 0x80;
  return fromRbsp(rbsp);
}

/**
 * Copies the samples of a macroblock, Y, Cb and Cr row by row, from planes of the coded size.
 * @returns a function that writes them at a place of a buffer
 */
export function createMacroblockCopier(
  pixels: Uint8Array,
  sps: MacroblockPlanes,
): (mb: number, to: Uint8Array, at: number) => void {
  const planes = planesOf(sps);
  return (mb, to, start) => {
    let at = start;
    const row = Math.floor(mb / sps.widthMbs);
    const column = mb % sps.widthMbs;
    for (const { offset, stride, mbWidth, mbHeight } of planes) {
      let from = offset + row * mbHeight * stride + column * mbWidth;
      for (let line = 0; line < mbHeight; line++) {
        to.set(pixels.subarray(from, from + mbWidth), at);
        at += mbWidth;
        from += stride;
      }
    }
  };
}

type MacroblockPlanes = Pick<Sps, 'widthMbs' | 'heightMbs' | 'chromaFormat'>;

function planesOf({ widthMbs, heightMbs, chromaFormat }: MacroblockPlanes) {
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

/** Slice header and the type of the first macroblock, up to its first sample. */
function sliceStart(sps: Sps, ppsId: number, head: PcmHead): Buffer {
  const writer = createBitWriter();
  const context = { sps, pps: plainPps(sps, ppsId) };
  const end = sps.widthMbs * sps.heightMbs;
  writeStandInHead(writer, { context, head: { ...head, fromFrameNum: null }, first: 0, end, kind: 'I' });
  writer.ue(I_PCM);
  if (writer.length() % 8 !== 0) writer.bits(8 - (writer.length() % 8), 0);
  return Buffer.from(writer.bytes());
}
