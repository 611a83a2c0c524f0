import { findSampleFault } from '#server/media/h264/check-sample.ts';
import { isSlice, NAL, nalType, opensPicture as opensAvcPicture } from '#server/media/h264/nal.ts';
import { findHevcSampleFault } from '#server/media/hevc/check-sample.ts';
import { HEVC_NAL, hevcLayer, hevcNalType, isHevcSlice, opensPicture } from '#server/media/hevc/hevc-nal.ts';
import type { Track } from '#server/media/mp4/movie.ts';
import { readAvcConfig, readHevcConfig } from '#server/media/mp4/sample-entry.ts';

/** How the NAL units of a clip's pictures are told from other bytes. */
export interface UnitRules {
  /** Bytes of a NAL unit length. */
  readonly lengthSize: number;
  /** Bytes of a unit after its length that `isPart` and `beginsPicture` read. */
  readonly headBytes: number;
  /** Whether a unit may belong to a picture, by its first bytes. */
  isPart(unit: Buffer): boolean;
  /** Whether the unit is the first slice of a picture. */
  beginsPicture(unit: Buffer): boolean;
  /** Whether a sample shows no fault, judged without decoding. */
  isWhole(sample: Buffer): boolean;
}

/**
 * The rules of a track with H.264 or HEVC pictures and one description; null for all others.
 * @throws Mp4Error when the description is damaged
 */
export function unitRulesOf({ entries }: Pick<Track, 'entries'>): UnitRules | null {
  const boxes = entries[0]?.boxes ?? [];
  if (entries.length > 1) return null;
  const avcC = boxes.find(({ type }) => type === 'avcC');
  if (avcC) return avcRules(readAvcConfig(avcC.payload).lengthSize);
  const hvcC = boxes.find(({ type }) => type === 'hvcC');
  return hvcC ? hevcRules(readHevcConfig(hvcC.payload).lengthSize) : null;
}

function avcRules(lengthSize: number): UnitRules {
  return {
    lengthSize,
    headBytes: 2,
    isPart: (unit) => {
      const type = nalType(unit);
      const isOther = (type >= NAL.sei && type <= NAL.accessUnitDelimiter) || type === NAL.filler;
      return ((unit[0] ?? 0) & FORBIDDEN) === 0 && (isSlice(unit) || isOther);
    },
    beginsPicture: (unit) => isSlice(unit) && opensAvcPicture(unit),
    isWhole: (sample) => findSampleFault(sample, lengthSize) === null,
  };
}

const FORBIDDEN = 0x80;
/**
 * Parameter sets, delimiters, end marks, filler and messages (ITU-T H.265, table 7-1), and what HDR phones write after
 * each picture.
 */
const isHevcOther = (type: number) =>
  (type >= HEVC_NAL.vps && type <= HEVC_NAL.suffixSei) || type === HEVC_NAL.dolbyVision;

function hevcRules(lengthSize: number): UnitRules {
  return {
    lengthSize,
    headBytes: 3,
    isPart: (unit) => {
      const hasTemporalId = ((unit[1] ?? 0) & 7) !== 0;
      const isHeader = ((unit[0] ?? 0) & FORBIDDEN) === 0 && hevcLayer(unit) === 0 && hasTemporalId;
      return isHeader && (isHevcSlice(unit) || isHevcOther(hevcNalType(unit)));
    },
    beginsPicture: (unit) => isHevcSlice(unit) && opensPicture(unit),
    isWhole: (sample) => findHevcSampleFault(sample, lengthSize) === null,
  };
}
