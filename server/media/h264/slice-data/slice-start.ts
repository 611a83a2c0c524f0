import { createBitReader } from '../bits.ts';
import { H264Error } from '../h264-error.ts';
import { readUpToMarking } from '../reference-marking.ts';
import type { SliceContext } from '../slice-header.ts';

/** The fields of a slice header on which its data depend. */
export interface SliceStart {
  readonly kind: 'I' | 'P' | 'B';
  readonly firstMb: number;
  readonly active: readonly [number, number];
  /** cabac_init_idc; null in I slices and without CABAC. */
  readonly initIdc: number | null;
  /** SliceQPY. */
  readonly qp: number;
  /** First bit behind the header, before alignment. */
  readonly dataAt: number;
}

/** slice_alpha_c0_offset_div2 and slice_beta_offset_div2 are between -6 and 6. */
const MOST_OFFSET = 6;

/**
 * Reads a whole slice header (ITU-T H.264, 7.3.3).
 * @param rbsp from the NAL header on, without emulation prevention
 * @throws H264Error when it is cut off, makes no sense or is of a switching slice
 */
export function readSliceStart(rbsp: Buffer, context: SliceContext): SliceStart {
  const { pps } = context;
  const reader = createBitReader(rbsp);
  const { kind, firstMb, active } = readUpToMarking(reader, context);
  if (kind === 'SP' || kind === 'SI') throw new H264Error('Switching slices are not supported.');
  const initIdc = pps.cabac && kind !== 'I' ? reader.ue() : null;
  if (initIdc !== null && initIdc > 2) throw new H264Error('A slice begins in an unknown way.');
  const qp = 26 + pps.initQp + reader.se();
  // QpBdOffset (7.4.2.1.1).
  const least = -6 * (context.sps.bitDepthLuma - 8);
  if (qp < least || qp > 51) throw new H264Error('A slice has an impossible quantiser.');
  if (pps.deblockingControl) {
    const control = reader.ue();
    if (control > 2) throw new H264Error('A slice is filtered in an unknown way.');
    if (control !== 1) {
      const offsets = [reader.se(), reader.se()];
      if (offsets.some((offset) => Math.abs(offset) > MOST_OFFSET))
        throw new H264Error('A slice is filtered in an impossible way.');
    }
  }
  return { kind, firstMb, active, initIdc, qp, dataAt: reader.position() };
}
