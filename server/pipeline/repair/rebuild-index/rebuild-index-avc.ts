import { findUnitFault } from '#server/media/h264/check-sample.ts';
import { H264Error } from '#server/media/h264/h264-error.ts';
import { isFiller, isSlice, NAL, nalType, opensPicture } from '#server/media/h264/nal.ts';
import { parsePps } from '#server/media/h264/pps.ts';
import { parseSliceHeader, type SliceHeader } from '#server/media/h264/slice-header.ts';
import { parseSps, type Sps } from '#server/media/h264/sps.ts';
import {
  mayEnd,
  type PictureCoding,
  type PictureHead,
  type PictureOrder,
  type UnitRead,
} from './rebuild-index-coding.ts';

/** Number of slices with an even order count, and none with an odd one, after which all are assumed to be even. */
const ENOUGH_EVEN = 16;

/**
 * Coding of H.264 pictures with the given parameter sets (NAL units).
 * @throws H264Error when they are damaged, do not belong together, or allow fields
 */
export function avcCoding(spsUnit: Buffer, ppsUnits: readonly Buffer[]): PictureCoding {
  const sps = parseSps(spsUnit);
  if (!sps.frameMbsOnly) throw new H264Error('Interlaced pictures cannot be found without an index.');
  const sets = ppsUnits.map((unit) => parsePps(unit, sps.chromaFormat));
  const ppsIds = new Set(sets.filter((pps) => pps.spsId === sps.id).map((pps) => pps.id));
  if (ppsIds.size === 0) throw new H264Error('The parameter sets do not belong together.');
  const units = [spsUnit, ...ppsUnits];
  return {
    codec: 'h264',
    units,
    pictureRate: sps.pictureRate,
    order: avcOrder(sps),
    mayBegin,
    startReader() {
      let lastFrameNum: number | null = null;
      const counts = { even: 0, odd: 0 };
      /** Encoders that count by twos, as most do, never give a picture an odd count. */
      const isOddOneOut = ({ pocLsb }: SliceHeader) =>
        pocLsb !== null && pocLsb % 2 === 1 && counts.odd === 0 && counts.even >= ENOUGH_EVEN;
      return {
        read(unit, isAhead) {
          if (findUnitFault(unit)) return null;
          const type = nalType(unit);
          if (type === NAL.filler) return isFiller(unit) ? BEHIND : null;
          if (type !== NAL.slice && type !== NAL.idrSlice) return isBeside(unit, units) ? BESIDE : null;
          const head = readHead(unit, sps);
          if (!head || !fits(head, sps, ppsIds, isAhead ? null : lastFrameNum) || isOddOneOut(head))
            return null;
          const take = () => {
            if (head.pocLsb !== null) counts[head.pocLsb % 2 === 0 ? 'even' : 'odd'] += 1;
            if (head.refIdc > 0) lastFrameNum = head.frameNum;
          };
          return mayEnd(unit) ? { role: 'slice', head: avcHead(head), take } : null;
        },
      };
    },
    headOf(slice) {
      const header = isSlice(slice) ? readHead(slice, sps) : null;
      return header && ppsIds.has(header.ppsId) ? avcHead(header) : null;
    },
  };
}

/** How the display order of a sequence's pictures is derived (`pic_order_cnt_type`, ITU-T H.264, 8.2.1). */
export function avcOrder({ pocType, pocBits }: Sps): PictureOrder {
  if (pocType === 0) return { kind: 'counted', bits: pocBits };
  return { kind: pocType === 2 ? 'coded' : 'untold' };
}

/** What a slice header tells for finding and ordering its picture. */
export function avcHead({ idr, firstMb, refIdc, pocLsb }: SliceHeader): PictureHead {
  return { opens: firstMb === 0, isKey: idr, mark: { restarts: idr, lsb: pocLsb, leads: refIdc > 0 } };
}

function mayBegin(unit: Buffer, isBehindGap: boolean): boolean {
  const head = unit[0] ?? 0x80;
  const type = head & 31;
  if (head & 0x80) return false;
  if (isSlice(unit) && isBehindGap && !opensPicture(unit)) return false;
  if (type === NAL.filler) return !isBehindGap;
  return isSlice(unit) || (type >= NAL.sei && type <= NAL.accessUnitDelimiter);
}

const BESIDE: UnitRead = { role: 'ahead', head: null, take: () => undefined };

const BEHIND: UnitRead = { role: 'behind', head: null, take: () => undefined };

/** Known parameter sets, messages and delimiters before a picture. */
function isBeside(unit: Buffer, sets: readonly Buffer[]): boolean {
  const type = nalType(unit);
  if (type === NAL.accessUnitDelimiter) return unit.length === 2;
  if (type === NAL.sei) return unit.at(-1) === 0x80;
  return (type === NAL.sps || type === NAL.pps) && sets.some((known) => known.equals(unit));
}

function readHead(unit: Buffer, sps: Sps): SliceHeader | null {
  try {
    return parseSliceHeader(unit, sps);
  } catch (error) {
    if (error instanceof H264Error) return null;
    throw error;
  }
}

/** Whether a slice fits its settings and continues the frame numbers. */
function fits(
  head: SliceHeader,
  sps: Sps,
  ppsIds: ReadonlySet<number>,
  lastFrameNum: number | null,
): boolean {
  const frames = 2 ** sps.frameNumBits;
  const continues =
    lastFrameNum === null || head.frameNum === lastFrameNum || head.frameNum === (lastFrameNum + 1) % frames;
  return (
    head.firstMb < sps.widthMbs * sps.heightMbs &&
    ppsIds.has(head.ppsId) &&
    (head.kind === 'I' || head.kind === 'P' || head.kind === 'B') &&
    (head.idr ? head.frameNum === 0 && head.kind === 'I' : continues)
  );
}
