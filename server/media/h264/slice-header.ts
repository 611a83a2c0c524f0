import { createBitReader } from './bits.ts';
import { H264Error } from './h264-error.ts';
import { NAL, isSlice, nalType, toRbsp } from './nal.ts';
import type { Pps } from './pps.ts';
import type { Sps } from './sps.ts';

export type SliceKind = 'P' | 'B' | 'I' | 'SP' | 'SI';
const KINDS: readonly SliceKind[] = ['P', 'B', 'I', 'SP', 'SI'];

/** Kind of a coded slice_type (ITU-T H.264, table 7-6). */
export function sliceKind(sliceType: number): SliceKind {
  const kind = KINDS[sliceType % 5];
  if (sliceType > 9 || !kind) throw new H264Error('A slice has an impossible type.');
  return kind;
}

/** The first fields of a slice header (ITU-T H.264, 7.3.3), up to the picture order count. */
export interface SliceHeader {
  readonly idr: boolean;
  /** nal_ref_idc: 0 when no other picture refers to this one. */
  readonly refIdc: number;
  /** Address of the slice's first macroblock; 0 begins a picture. */
  readonly firstMb: number;
  readonly kind: SliceKind;
  readonly ppsId: number;
  readonly frameNum: number;
  /** In IDR slices only. */
  readonly idrPicId: number | null;
  /** With picture order type 0 only. */
  readonly pocLsb: number | null;
}

/** Bytes that certainly hold the fields of `SliceHeader`, emulation prevention included. */
const HEADER_BYTES = 48;

/**
 * Parses the head of a slice of a stream without fields.
 * @throws H264Error when it is no slice, is cut off, or the stream has fields.
 */
export function parseSliceHeader(unit: Buffer, sps: Sps): SliceHeader {
  if (!isSlice(unit)) throw new H264Error('This is not a slice.');
  if (!sps.frameMbsOnly) throw new H264Error('Interlaced streams are not supported.');
  const reader = createBitReader(toRbsp(unit.subarray(0, HEADER_BYTES)));
  const head = reader.bits(8);
  const idr = nalType(unit) === NAL.idrSlice;
  const firstMb = reader.ue();
  const kind = sliceKind(reader.ue());
  const ppsId = reader.ue();
  if (sps.separateColourPlanes) reader.bits(2);
  const frameNum = reader.bits(sps.frameNumBits);
  return {
    idr,
    refIdc: (head >> 5) & 3,
    firstMb,
    kind,
    ppsId,
    frameNum,
    idrPicId: idr ? reader.ue() : null,
    pocLsb: sps.pocType === 0 ? reader.bits(sps.pocBits) : null,
  };
}

/** The parameter sets of the stream that a slice came from. */
export interface SliceContext {
  readonly sps: Sps;
  readonly pps: Pps;
}
