import type { CabacDecoder, CabacMark } from '../../cabac/cabac-decoder.ts';
import { createBitReader } from '../bits.ts';
import { H264Error } from '../h264-error.ts';
import { pcmMacroblockBytes } from '../pcm-picture.ts';
import type { SliceContext } from '../slice-header.ts';
import { initAvcContexts } from './avc-contexts.ts';
import { CabacElements } from './cabac-elements.ts';
import { CavlcElements } from './cavlc-elements.ts';
import { type MbSettings, readMacroblock } from './macroblock.ts';
import { FLAG, type MbState } from './mb-state.ts';
import type { SliceStart } from './slice-start.ts';
import type { MbWatch } from './usual-values.ts';
import { SLICE_FAULT } from './slice-faults.ts';

/** A slice whose header has been read. */
export interface OpenSlice {
  readonly context: SliceContext;
  /** From the NAL header on, without emulation prevention and without trailing zeros. */
  readonly rbsp: Buffer;
  readonly start: SliceStart;
}

/** Where a slice ends, or was cut. */
export interface SliceEnd {
  /** One past its last macroblock. */
  readonly end: number;
  /** Without CABAC: one past the last bit of its macroblocks, and the number of skipped macroblocks behind that. */
  readonly endBit: number;
  readonly skipped: number;
}

export interface ReadOptions {
  /** Reading stops in front of this macroblock. */
  readonly cutAt?: number;
  /** Is told the values. */
  readonly watch?: MbWatch;
}

/**
 * Reads the macroblocks of a slice (ITU-T H.264, 7.3.4): frames of 4:2:0 with 8 bits and no slice groups. No samples
 * are decoded.
 * @param state of the picture; after a fault, `state.mb` is the macroblock in which it was found
 * @param cabac its contexts are initialised; not used without CABAC
 * @throws H264Error where a value is impossible, or the data do not end where the slice does
 */
export function readSliceData(
  { context: { sps, pps }, rbsp, start }: OpenSlice,
  state: MbState,
  cabac: CabacDecoder,
  { cutAt = Infinity, watch }: ReadOptions = {},
): SliceEnd {
  beginSlice(start, state);
  const slice = { ...inputOf({ context: { sps, pps }, rbsp, start }, watch), cutAt };
  return pps.cabac ? startCabacData(slice, state, cabac).read() : readCavlcData(slice, state);
}

function inputOf({ context: { sps, pps }, rbsp, start }: OpenSlice, watch?: MbWatch): SliceInput {
  const settings: MbSettings = {
    kind: start.kind,
    active: start.active,
    eights: pps.extension?.transform8x8 ?? false,
    direct8x8Inference: sps.direct8x8Inference,
    constrainedIntra: pps.constrainedIntra,
    ...(watch && { watch }),
  };
  return { rbsp, start, settings, cutAt: Infinity, rawBytes: pcmMacroblockBytes(sps) };
}

function beginSlice({ firstMb, qp }: SliceStart, state: MbState): void {
  state.startSlice(qp);
  state.mb = firstMb;
  if (firstMb >= state.count) throw new H264Error('A slice begins behind the picture.');
}

/** A place in a slice's data from which it can be read again. */
export interface SliceMark {
  readonly mb: number;
  /** The first byte that has not been read. */
  readonly at: number;
  readonly cabac: CabacMark;
  readonly hadQpDelta: boolean;
  readonly qp: number;
}

/** A CABAC slice that is read more than once. */
export interface MarkedSlice {
  /**
   * Reads like `readSliceData`.
   * @param onMark called in front of each macroblock
   */
  read(onMark?: (mark: SliceMark) => void): SliceEnd;
  /** Reads on from a mark of the last reading; the data up to there must be unchanged. */
  readFrom(mark: SliceMark): SliceEnd;
}

/** @param watch is told the values */
export function openMarkedSlice(
  opened: OpenSlice,
  state: MbState,
  cabac: CabacDecoder,
  watch?: MbWatch,
): MarkedSlice {
  const { read, readFrom } = startCabacData(inputOf(opened, watch), state, cabac);
  return {
    read(onMark) {
      beginSlice(opened.start, state);
      return read(onMark);
    },
    readFrom,
  };
}

interface SliceInput extends Pick<OpenSlice, 'rbsp' | 'start'> {
  readonly settings: MbSettings;
  readonly cutAt: number;
  /** Bytes of a raw macroblock. */
  readonly rawBytes: number;
}

/** A skipped macroblock of a B slice derives its motion from others. */
const skippedFlags = ({ kind }: MbSettings) => (kind === 'B' ? FLAG.skipped | FLAG.direct : FLAG.skipped);

function startCabacData(
  { rbsp, start, settings, cutAt, rawBytes }: SliceInput,
  state: MbState,
  cabac: CabacDecoder,
): MarkedSlice {
  const elements = new CabacElements(cabac, state);
  const passPcm = () => cabac.skipTo(cabac.nextAt() + rawBytes);
  const readOn = (first: number, onMb?: (mb: number) => void): SliceEnd => {
    for (let mb = first; ; mb += 1) {
      if (mb >= cutAt) return { end: mb, endBit: 0, skipped: 0 };
      if (mb >= state.count) throw SLICE_FAULT.behindPicture;
      onMb?.(mb);
      state.start(mb);
      if (settings.kind !== 'I' && elements.skipped(settings.kind === 'B'))
        state.mark(skippedFlags(settings));
      else readMacroblock(elements, state, settings, passPcm);
      if (cabac.passedEnd()) throw SLICE_FAULT.early;
      if (mb + 1 >= cutAt) return { end: mb + 1, endBit: 0, skipped: 0 };
      if (cabac.terminate() === 0) continue;
      // x264 writes a bit of its own behind the stop bit, so only the byte can be compared.
      if (cabac.nextAt() !== rbsp.length) throw SLICE_FAULT.early;
      return { end: mb + 1, endBit: 0, skipped: 0 };
    }
  };
  return {
    read(onMark) {
      initAvcContexts(cabac.states, start.initIdc, start.qp);
      cabac.start(rbsp, (start.dataAt + 7) >> 3, rbsp.length);
      elements.hadQpDelta = false;
      const mark = (mb: number) => {
        const place = cabac.mark();
        onMark?.({ mb, at: place.at, cabac: place, hadQpDelta: elements.hadQpDelta, qp: state.qp });
      };
      return readOn(start.firstMb, onMark && mark);
    },
    readFrom({ mb, cabac: mark, hadQpDelta, qp }) {
      cabac.goBack(mark);
      state.qp = qp;
      elements.hadQpDelta = hadQpDelta;
      return readOn(mb);
    },
  };
}

function readCavlcData({ rbsp, start, settings, cutAt, rawBytes }: SliceInput, state: MbState): SliceEnd {
  const reader = createBitReader(rbsp);
  const stopBit = reader.stopBit();
  for (let passed = 0; passed < start.dataAt; passed += 32) reader.bits(Math.min(32, start.dataAt - passed));
  const elements = new CavlcElements(reader, state);
  const passPcm = () => {
    reader.bits((8 - (reader.position() % 8)) % 8);
    for (let left = rawBytes; left > 0; left -= 4) reader.bits(32);
  };
  let mb = start.firstMb;
  let endBit = reader.position();
  for (;;) {
    let skipped = 0;
    if (settings.kind !== 'I') {
      skipped = reader.ue();
      if (mb + skipped > state.count) throw SLICE_FAULT.behindPicture;
      if (mb + skipped >= cutAt) return { end: cutAt, endBit, skipped: cutAt - mb };
      for (const end = mb + skipped; mb < end; mb += 1) {
        state.start(mb);
        state.mark(skippedFlags(settings));
      }
      if (skipped > 0 && reader.position() >= stopBit) break;
    } else if (mb >= cutAt) return { end: mb, endBit, skipped: 0 };
    if (mb >= state.count) throw SLICE_FAULT.behindPicture;
    state.start(mb);
    readMacroblock(elements, state, settings, passPcm);
    mb += 1;
    if (reader.position() > stopBit) throw SLICE_FAULT.early;
    endBit = reader.position();
    if (endBit === stopBit) break;
  }
  if (reader.position() !== stopBit) throw SLICE_FAULT.early;
  return { end: mb, endBit, skipped: 0 };
}
