import { H264Error } from '#server/media/h264/h264-error.ts';
import { toRbsp } from '#server/media/h264/nal.ts';
import { findHevcUnitFault } from '#server/media/hevc/check-sample.ts';
import { HevcError } from '#server/media/hevc/hevc-error.ts';
import {
  HEVC_NAL,
  hevcLayer,
  hevcNalType,
  isHevcParameterSet,
  isHevcSlice,
  opensPicture,
} from '#server/media/hevc/hevc-nal.ts';
import { countsForOrder, readHevcSets, type HevcSets } from '#server/media/hevc/hevc-references.ts';
import { readSliceSegment, type SliceHeader } from '#server/media/hevc/hevc-slice-header.ts';
import { parseHevcSps } from '#server/media/hevc/hevc-sps.ts';
import { mayEnd, type PictureCoding, type PictureHead, type UnitRead } from './rebuild-index-coding.ts';

/** Bytes that surely hold a slice's header. */
const HEAD_BYTES = 1024;
/** Types of pictures at which decoding may start (ITU-T H.265, table 7-1). */
const isRandomAccess = (type: number) => type >= HEVC_NAL.blaWithLeading && type <= HEVC_NAL.cra;
/** Those at which order counts always restart: BLA and IDR. */
const restartsOrder = (type: number) => type >= HEVC_NAL.blaWithLeading && type <= HEVC_NAL.idrAlone;

/**
 * Coding of HEVC base-layer pictures with the given parameter sets (NAL units).
 * @throws HevcError or H264Error when they are damaged, not supported or do not belong together
 */
export function hevcCoding(units: readonly Buffer[]): PictureCoding {
  const sets = readHevcSets(units);
  const [pps] = sets.pps.values();
  const sps = pps && sets.sps.get(pps.spsId);
  const spsUnit = units.find((unit) => hevcNalType(unit) === HEVC_NAL.sps && hevcLayer(unit) === 0);
  if (!sps || !spsUnit) throw new HevcError('The parameter sets do not belong together.');
  return {
    codec: 'hevc',
    units,
    pictureRate: parseHevcSps(spsUnit).vui?.pictureRate ?? null,
    order: { kind: 'counted', bits: sps.pocBits },
    mayBegin,
    startReader() {
      let previous: SliceHeader | null = null;
      return {
        read(unit) {
          if (findHevcUnitFault(unit) || hevcLayer(unit) > 0) return null;
          if (!isHevcSlice(unit)) return readBeside(unit, units);
          const header = readHeader(unit, sets, previous);
          if (!header || !mayEnd(unit)) return null;
          const take = () => {
            previous = header;
          };
          return { role: 'slice', head: hevcHead(unit, header), take };
        },
      };
    },
    headOf(slice) {
      const header = isHevcSlice(slice) && hevcLayer(slice) === 0 ? readHeader(slice, sets, null) : null;
      return header && hevcHead(slice, header);
    },
  };
}

function hevcHead(slice: Buffer, { references }: SliceHeader): PictureHead {
  const type = hevcNalType(slice);
  const mark = { restarts: restartsOrder(type), lsb: references?.pocLsb ?? 0, leads: countsForOrder(slice) };
  return { opens: opensPicture(slice), isKey: isRandomAccess(type), mark };
}

function mayBegin(unit: Buffer, isBehindGap: boolean): boolean {
  const hasTemporalId = ((unit[1] ?? 0) & 7) !== 0;
  if (((unit[0] ?? 0x80) & 0x80) !== 0 || hevcLayer(unit) !== 0 || !hasTemporalId) return false;
  if (isHevcSlice(unit)) return !isBehindGap || opensPicture(unit);
  const type = hevcNalType(unit);
  if (isAhead(type)) return true;
  return !isBehindGap && (isEnd(type) || type === HEVC_NAL.suffixSei || type === HEVC_NAL.dolbyVision);
}

const isAhead = (type: number) =>
  (type >= HEVC_NAL.vps && type <= HEVC_NAL.accessUnitDelimiter) || type === HEVC_NAL.prefixSei;
/** End of sequence and end of stream; they consist of a header alone. */
const isEnd = (type: number) => type === HEVC_NAL.endOfSequence || type === HEVC_NAL.endOfStream;

const beside = (role: 'ahead' | 'behind'): UnitRead => ({ role, head: null, take: () => undefined });
const AHEAD = beside('ahead');
const BEHIND = beside('behind');

/** Known parameter sets, delimiters, messages and end marks. */
function readBeside(unit: Buffer, sets: readonly Buffer[]): UnitRead | null {
  const type = hevcNalType(unit);
  if (isHevcParameterSet(unit)) return sets.some((known) => known.equals(unit)) ? AHEAD : null;
  if (type === HEVC_NAL.accessUnitDelimiter) return unit.length === 3 ? AHEAD : null;
  if (type === HEVC_NAL.prefixSei) return unit.at(-1) === 0x80 ? AHEAD : null;
  if (type === HEVC_NAL.suffixSei) return unit.at(-1) === 0x80 ? BEHIND : null;
  if (isEnd(type)) return unit.length === 2 ? BEHIND : null;
  return type === HEVC_NAL.dolbyVision ? BEHIND : null;
}

/** The header of a slice; null if it cannot be read or names missing sets. */
function readHeader(unit: Buffer, sets: HevcSets, previous: SliceHeader | null): SliceHeader | null {
  try {
    const rbsp = toRbsp(unit.subarray(0, HEAD_BYTES));
    return readSliceSegment(rbsp, sets.of, opensPicture(unit) ? null : previous).header;
  } catch (error) {
    if (error instanceof HevcError || error instanceof H264Error) return null;
    throw error;
  }
}
