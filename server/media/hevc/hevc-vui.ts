import type { BitReader } from '../h264/bits.ts';

/** What the video usability information (ITU-T H.265, annex E.2.1) states about shape and colour of the pictures. */
export interface HevcVui {
  readonly aspect: { readonly idc: number; readonly width: number; readonly height: number } | null;
  /** overscan_appropriate_flag; null when it is not stated. */
  readonly overscan: boolean | null;
  readonly signal: {
    readonly videoFormat: number;
    readonly fullRange: boolean;
    /** Code points of ITU-T H.273; null when they are not stated. */
    readonly colour: {
      readonly primaries: number;
      readonly transfer: number;
      readonly matrix: number;
    } | null;
  } | null;
  /** Places of the chroma samples in top and bottom fields; null when they are not stated. */
  readonly chromaPlace: { readonly top: number; readonly bottom: number } | null;
  readonly fieldSequence: boolean;
  /** A window, in addition to the cropping, that players may show instead. */
  readonly displayWindow: boolean;
  /** Pictures per second by the clock of the stream; null when it is not stated. */
  readonly pictureRate: number | null;
}

/** Extended_SAR: the aspect ratio follows in numbers. */
const EXTENDED_ASPECT = 255;

/** Reads the usability information up to its clock. */
export function readVui(reader: BitReader): HevcVui {
  const aspect = reader.flag() ? readAspect(reader) : null;
  const overscan = reader.flag() ? reader.flag() : null;
  const signal = reader.flag() ? readSignal(reader) : null;
  const chromaPlace = reader.flag() ? { top: reader.ue(), bottom: reader.ue() } : null;
  reader.flag();
  const fieldSequence = reader.flag();
  reader.flag();
  const displayWindow = reader.flag();
  if (displayWindow) for (let side = 0; side < 4; side++) reader.ue();
  const pictureRate = reader.flag() ? readPictureRate(reader) : null;
  return { aspect, overscan, signal, chromaPlace, fieldSequence, displayWindow, pictureRate };
}

/** vui_num_units_in_tick and vui_time_scale, a tick a picture. */
function readPictureRate(reader: BitReader): number | null {
  const ticks = reader.bits(32);
  const scale = reader.bits(32);
  return ticks > 0 && scale > 0 ? scale / ticks : null;
}

function readAspect(reader: BitReader): HevcVui['aspect'] {
  const idc = reader.bits(8);
  if (idc !== EXTENDED_ASPECT) return { idc, width: 0, height: 0 };
  return { idc, width: reader.bits(16), height: reader.bits(16) };
}

function readSignal(reader: BitReader): HevcVui['signal'] {
  const videoFormat = reader.bits(3);
  const fullRange = reader.flag();
  const colour = reader.flag()
    ? { primaries: reader.bits(8), transfer: reader.bits(8), matrix: reader.bits(8) }
    : null;
  return { videoFormat, fullRange, colour };
}
