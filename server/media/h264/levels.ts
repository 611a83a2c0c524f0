import { pcmMacroblockBytes } from './pcm-picture.ts';
import type { Sps } from './sps.ts';

/** The limits of a level (ITU-T H.264, table A-1). */
interface Level {
  readonly idc: number;
  /** Macroblocks a second (MaxMBPS). */
  readonly macroblocks: number;
  /** Least compression of a picture relative to its samples (MinCR). */
  readonly compression: number;
  /** Coded picture buffer, bits (MaxCPB, 1000 bits per unit as for Baseline and Main; High has a quarter more). */
  readonly bufferBits: number;
}

const LEVELS: readonly Level[] = [
  { idc: 10, macroblocks: 1_485, compression: 2, bufferBits: 175e3 },
  { idc: 11, macroblocks: 3_000, compression: 2, bufferBits: 500e3 },
  { idc: 12, macroblocks: 6_000, compression: 2, bufferBits: 1e6 },
  { idc: 13, macroblocks: 11_880, compression: 2, bufferBits: 2e6 },
  { idc: 20, macroblocks: 11_880, compression: 2, bufferBits: 2e6 },
  { idc: 21, macroblocks: 19_800, compression: 2, bufferBits: 4e6 },
  { idc: 22, macroblocks: 20_250, compression: 2, bufferBits: 4e6 },
  { idc: 30, macroblocks: 40_500, compression: 2, bufferBits: 10e6 },
  { idc: 31, macroblocks: 108_000, compression: 4, bufferBits: 14e6 },
  { idc: 32, macroblocks: 216_000, compression: 4, bufferBits: 20e6 },
  { idc: 40, macroblocks: 245_760, compression: 4, bufferBits: 25e6 },
  { idc: 41, macroblocks: 245_760, compression: 2, bufferBits: 62.5e6 },
  { idc: 42, macroblocks: 522_240, compression: 2, bufferBits: 62.5e6 },
  { idc: 50, macroblocks: 589_824, compression: 2, bufferBits: 135e6 },
  { idc: 51, macroblocks: 983_040, compression: 2, bufferBits: 240e6 },
  { idc: 52, macroblocks: 2_073_600, compression: 2, bufferBits: 240e6 },
];

/** Bytes of a verbatim macroblock in addition to its samples: its type, aligned, and room for emulation prevention. */
const BESIDE = 4;
/** Bytes per macroblock by which the limit is counted, luma and chroma (ITU-T H.264, A.3.1 j). */
const COUNTED_BYTES = 384;

/**
 * The level needed by a sequence with single pictures coded verbatim, one byte per sample. A picture may not be larger
 * than 384 x MaxMBPS x interval / MinCR bytes (ITU-T H.264, A.3.1 and A.3.3), nor than the coded picture buffer.
 * @param intervalSeconds usual distance between two pictures
 * @returns level_idc, its own where that is enough; null when no level up to 5.2 is
 */
export function verbatimLevel(sps: Sps, intervalSeconds: number): number | null {
  const bytes = sps.widthMbs * sps.heightMbs * (pcmMacroblockBytes(sps) + BESIDE);
  const fits = ({ macroblocks, compression, bufferBits }: Level) =>
    bytes <= (COUNTED_BYTES * macroblocks * intervalSeconds) / compression && bytes * 8 <= bufferBits;
  return LEVELS.find((level) => level.idc >= sps.level && fits(level))?.idc ?? null;
}

/** A sequence parameter set with another level. */
export function withLevel(spsUnit: Buffer, level: number): Buffer {
  const unit = Buffer.from(spsUnit);
  // The level follows the NAL header, profile_idc and the constraint flags (7.3.2.1.1).
  unit.writeUInt8(level, 3);
  return unit;
}
