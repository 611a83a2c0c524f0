import { findSampleFault } from '#server/media/h264/check-sample.ts';
import { NAL } from '#server/media/h264/nal.ts';
import { findHevcSampleFault } from '#server/media/hevc/check-sample.ts';
import type { Track } from '#server/media/mp4/movie.ts';
import { readAvcConfig, readHevcConfig } from '#server/media/mp4/sample-entry.ts';

/** How the NAL units of a clip's pictures are told from other bytes. */
export interface UnitRules {
  /** Bytes of a NAL unit length. */
  readonly lengthSize: number;
  /** Bytes of a unit behind its length that `isPart` and `beginsPicture` look at. */
  readonly headBytes: number;
  /** Whether a unit that begins here may belong to a picture. */
  isPart(bytes: Buffer, at: number): boolean;
  /** Whether the unit is the first slice of a picture. */
  beginsPicture(bytes: Buffer, at: number): boolean;
  /** Whether a sample shows no fault without being decoded. */
  isWhole(sample: Buffer): boolean;
}

/**
 * The rules of a track with H.264 or HEVC pictures under one description; null for all others.
 * @throws Mp4Error when the description is damaged
 */
export function unitRulesOf({ entries }: Track): UnitRules | null {
  const boxes = entries[0]?.boxes ?? [];
  if (entries.length > 1) return null;
  const avcC = boxes.find(({ type }) => type === 'avcC');
  if (avcC) return avcRules(readAvcConfig(avcC.payload).lengthSize);
  const hvcC = boxes.find(({ type }) => type === 'hvcC');
  return hvcC ? hevcRules(readHevcConfig(hvcC.payload).lengthSize) : null;
}

const isAvcSlice = (type: number) => type === NAL.slice || type === NAL.idrSlice;

function avcRules(lengthSize: number): UnitRules {
  return {
    lengthSize,
    headBytes: 2,
    isPart: (bytes, at) => {
      const head = bytes[at] ?? 0x80;
      const type = head & 31;
      return (
        (head & 0x80) === 0 && (isAvcSlice(type) || (type >= NAL.sei && type <= NAL.accessUnitDelimiter))
      );
    },
    // `first_mb_in_slice` 0 is a single set bit (ITU-T H.264, 7.3.3).
    beginsPicture: (bytes, at) => isAvcSlice((bytes[at] ?? 0) & 31) && ((bytes[at + 1] ?? 0) & 0x80) !== 0,
    isWhole: (sample) => findSampleFault(sample, lengthSize) === null,
  };
}

const hevcType = (head: number) => (head >> 1) & 63;
/** Trailing and leading pictures, and those of random access (ITU-T H.265, table 7-1). */
const isHevcSlice = (type: number) => type <= 9 || (type >= 16 && type <= 21);
/** Parameter sets, delimiters, end marks, filler and messages. */
const isHevcOther = (type: number) => type >= 32 && type <= 40;

function hevcRules(lengthSize: number): UnitRules {
  return {
    lengthSize,
    headBytes: 3,
    isPart: (bytes, at) => {
      const [first, second] = [bytes[at] ?? 0x80, bytes[at + 1] ?? 0];
      const type = hevcType(first);
      // Forbidden bit 0, base layer, temporal identifier plus one above 0 (7.3.1.2).
      const isHeader = (first & 0x81) === 0 && second >> 3 === 0 && (second & 7) !== 0;
      return isHeader && (isHevcSlice(type) || isHevcOther(type));
    },
    // `first_slice_segment_in_pic_flag` is the first bit behind the header (7.3.6.1).
    beginsPicture: (bytes, at) =>
      isHevcSlice(hevcType(bytes[at] ?? 0xff)) && ((bytes[at + 2] ?? 0) & 0x80) !== 0,
    isWhole: (sample) => findHevcSampleFault(sample, lengthSize) === null,
  };
}
