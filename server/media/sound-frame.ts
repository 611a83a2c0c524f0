import { readAacConfig } from './aac/aac-config.ts';
import { createAacFrameReader, type LastBits } from './aac/aac-frame.ts';
import { readSoundShape } from './mp4/sound-entry.ts';

/** Finds the length of coded sound frames by reading them. */
export interface SoundFrameReader {
  /** Bytes of the frame that begins at `offset`; null where none does, or where its end is not among the bytes. */
  frameBytes(bytes: Buffer, offset: number): number | null;
}

/**
 * A reader for the frames of a sound description (`stsd` entry): AAC of low complexity, MPEG audio (MP3), AC-3 and
 * E-AC-3.
 * @param fill what fills the last byte of an AAC frame; zeros where left out
 * @returns null for other sound
 */
export function createSoundFrameReader(entry: Buffer, fill?: LastBits): SoundFrameReader | null {
  const coding = entry.toString('latin1', 4, 8);
  const { rateHz } = readSoundShape(entry);
  const config = coding === 'mp4a' ? readAacConfig(entry) : null;
  if (config) return createAacFrameReader(config, fill);
  if (['mp4a', '.mp3', 'ms\0\x55', 'ms\0\x50'].includes(coding)) return marked(mpegFrameBytes, rateHz);
  if (['ac-3', 'sac3', 'ec-3', 'ms\x20\x00'].includes(coding)) return marked(ac3FrameBytes, rateHz);
  return null;
}

/** Reads a frame's length, and the samples per second, from its header. */
type ReadHeader = (header: Buffer) => { readonly sizeBytes: number; readonly rateHz: number } | null;

/** Bytes needed to find the length of a frame. */
const HEADER_BYTES = 6;

function marked(read: ReadHeader, rateHz: number): SoundFrameReader {
  return {
    frameBytes(bytes, offset) {
      if (offset + HEADER_BYTES > bytes.length) return null;
      const frame = read(bytes.subarray(offset, offset + HEADER_BYTES));
      if (!frame || frame.rateHz !== rateHz || offset + frame.sizeBytes > bytes.length) return null;
      return frame.sizeBytes;
    },
  };
}

const MPEG_RATES = [44_100, 48_000, 32_000];
/**
 * kbit/s of MPEG-1 layers I, II and III, and of MPEG-2 layer I and layers II and III (ISO/IEC 11172-3, 2.4.2.3;
 * 13818-3, 2.4.2.3).
 */
const MPEG_KBITS = {
  first: [0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448],
  second: [0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
  third: [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  lowFirst: [0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256],
  low: [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
};

/** Versions in the header: 1, 2 and 2.5; one is reserved. */
const DIVISORS: Readonly<Record<number, number>> = { 3: 1, 2: 2, 0: 4 };

function mpegFrameBytes(header: Buffer): ReturnType<ReadHeader> {
  const word = header.readUInt32BE(0);
  const version = (word >>> 19) & 3;
  const layer = 4 - ((word >>> 17) & 3);
  const divisor = DIVISORS[version];
  const rate = MPEG_RATES[(word >>> 10) & 3];
  if (word >>> 21 !== 0x7ff || divisor === undefined || layer === 4 || rate === undefined) return null;
  const kbits = mpegKbits(divisor > 1, layer)[(word >>> 12) & 15];
  // Zero stands for a rate of the writer's own, with unknown lengths.
  if (kbits === undefined || kbits === 0) return null;
  const rateHz = rate / divisor;
  const padding = (word >>> 9) & 1;
  const bits = kbits * 1000;
  if (layer === 1) return { sizeBytes: 4 * (Math.floor((12 * bits) / rateHz) + padding), rateHz };
  const slots = layer === 3 && divisor > 1 ? 72 : 144;
  return { sizeBytes: Math.floor((slots * bits) / rateHz) + padding, rateHz };
}

function mpegKbits(isLow: boolean, layer: number): readonly number[] {
  if (isLow) return layer === 1 ? MPEG_KBITS.lowFirst : MPEG_KBITS.low;
  if (layer === 1) return MPEG_KBITS.first;
  return layer === 2 ? MPEG_KBITS.second : MPEG_KBITS.third;
}

const AC3_SYNC = 0x0b77;
const AC3_RATES = [48_000, 44_100, 32_000];
/** kbit/s of AC-3 (ETSI TS 102 366, table 4.13). */
const AC3_KBITS = [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 448, 512, 576, 640];
/** Last stream identification of AC-3 itself, and of its enhancement. */
const LAST_AC3 = 10;
const LAST_ENHANCED = 16;
const SAMPLES_PER_FRAME = 1536;

function ac3FrameBytes(header: Buffer): ReturnType<ReadHeader> {
  if (header.readUInt16BE(0) !== AC3_SYNC) return null;
  const streamId = header.readUInt8(5) >> 3;
  const rateHz = AC3_RATES[header.readUInt8(4) >> 6];
  if (rateHz === undefined || streamId > LAST_ENHANCED) return null;
  if (streamId > LAST_AC3) return { sizeBytes: 2 * ((header.readUInt16BE(2) & 0x7ff) + 1), rateHz };
  const code = header.readUInt8(4) & 63;
  const kbits = AC3_KBITS[code >> 1];
  if (kbits === undefined) return null;
  // At 44.1 kHz every second code has one word more.
  const words = Math.floor((kbits * 1000 * SAMPLES_PER_FRAME) / (16 * rateHz));
  return { sizeBytes: 2 * (words + (rateHz === 44_100 ? code & 1 : 0)), rateHz };
}
