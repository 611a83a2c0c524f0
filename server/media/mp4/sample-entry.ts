import { withLength16 } from '../h264/nal.ts';
import { type Box, needBox } from './box.ts';
import { Mp4Error } from './mp4-error.ts';

/** AVCDecoderConfigurationRecord (ISO/IEC 14496-15, 5.3.3.1). */
export interface AvcConfig {
  readonly profile: number;
  readonly compatibility: number;
  readonly level: number;
  /** Bytes of the length in front of each NAL unit: 1, 2 or 4. */
  readonly lengthSize: number;
  readonly sps: readonly Buffer[];
  readonly pps: readonly Buffer[];
  /** Bytes behind the parameter sets (chroma format and bit depth of high profiles), kept as they are. */
  readonly tail: Buffer;
}

/** HEVCDecoderConfigurationRecord, as far as samples need it to be read. */
export interface HevcConfig {
  readonly lengthSize: number;
  /** Parameter set NAL units of all arrays, in order. */
  readonly parameterSets: readonly Buffer[];
}

/** One entry of a sample description table. */
export interface SampleEntry {
  /** Coding name: avc1, hvc1, mp4a... */
  readonly coding: string;
  /** The whole entry, size and name included. */
  readonly bytes: Buffer;
  /** Boxes inside a visual entry with their position in `bytes`; empty for other handlers. */
  readonly boxes: readonly { readonly type: string; readonly at: number; readonly payload: Buffer }[];
}

/** Fields of a VisualSampleEntry before its boxes: 8 of the box, 8 of the entry, 70 of the picture. */
const VISUAL_HEAD_BYTES = 86;

/**
 * All readable sample descriptions of a track, whatever number their table states.
 * @throws Mp4Error when the table is cut off before the end of the first.
 */
export function readSampleEntries(stbl: Box, visual: boolean): SampleEntry[] {
  const bytes = needBox(stbl, 'stsd').payload;
  const broken = () => new Mp4Error('A sample description of the file is damaged.');
  if (bytes.length < 8) throw broken();
  const count = bytes.readUInt32BE(4);
  const entries: SampleEntry[] = [];
  let at = 8;
  for (let index = 0; index < count; index++) {
    const sizeBytes = at + 8 > bytes.length ? 0 : bytes.readUInt32BE(at);
    if (sizeBytes < 16 || at + sizeBytes > bytes.length) {
      if (index === 0) throw broken();
      break;
    }
    const entry = bytes.subarray(at, at + sizeBytes);
    entries.push({
      coding: entry.toString('latin1', 4, 8),
      bytes: entry,
      boxes: visual ? entryBoxes(entry) : [],
    });
    at += sizeBytes;
  }
  return entries;
}

function entryBoxes(entry: Buffer): SampleEntry['boxes'] {
  const boxes: { type: string; at: number; payload: Buffer }[] = [];
  let at = VISUAL_HEAD_BYTES;
  while (at + 8 <= entry.length) {
    const sizeBytes = entry.readUInt32BE(at);
    // QuickTime may end the list with a zero. Other impossible sizes also end it, as players read up to there.
    if (sizeBytes < 8 || at + sizeBytes > entry.length) break;
    boxes.push({
      type: entry.toString('latin1', at + 4, at + 8),
      at,
      payload: entry.subarray(at + 8, at + sizeBytes),
    });
    at += sizeBytes;
  }
  return boxes;
}

/** Positions of width and height in a description (VisualSampleEntry, ISO/IEC 14496-12, 12.1.3). */
const SIZE_AT = { width: 32, height: 34 } as const;

/** Picture size that a description states, pixels; null where it is cut off. */
export function readPictureSize({ bytes }: SampleEntry) {
  if (bytes.length < SIZE_AT.height + 2) return null;
  return { width: bytes.readUInt16BE(SIZE_AT.width), height: bytes.readUInt16BE(SIZE_AT.height) };
}

/** A copy of a visual entry with the box `type` replaced by `payload`, or added behind the others. */
export function withEntryBox(entry: SampleEntry, type: string, payload: Buffer): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(payload.length + 8, 0);
  head.write(type, 4, 'latin1');
  const box = Buffer.concat([head, payload]);
  const old = entry.boxes.find((candidate) => candidate.type === type);
  const last = entry.boxes.at(-1);
  const end = last ? last.at + 8 + last.payload.length : Math.min(VISUAL_HEAD_BYTES, entry.bytes.length);
  const from = old ? old.at : end;
  const to = old ? old.at + 8 + old.payload.length : end;
  const bytes = Buffer.concat([entry.bytes.subarray(0, from), box, entry.bytes.subarray(to)]);
  bytes.writeUInt32BE(bytes.length, 0);
  return bytes;
}

/** Box `stsd` with exactly one entry. */
export function singleEntryStsd(entry: Buffer): Box {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(1, 4);
  return { type: 'stsd', payload: Buffer.concat([head, entry]), children: null };
}

/**
 * Reads an `avcC` payload.
 * @throws Mp4Error when it is cut off or of an unknown version.
 */
export function readAvcConfig(bytes: Buffer): AvcConfig {
  const broken = () => new Mp4Error('The decoder settings of the video track are damaged.');
  if (bytes.length < 7 || bytes[0] !== 1) throw broken();
  let at = 6;
  const take = (count: number) => {
    const units: Buffer[] = [];
    for (let index = 0; index < count; index++) {
      if (at + 2 > bytes.length) throw broken();
      const length = bytes.readUInt16BE(at);
      if (length === 0 || at + 2 + length > bytes.length) throw broken();
      units.push(bytes.subarray(at + 2, at + 2 + length));
      at += 2 + length;
    }
    return units;
  };
  const sps = take(bytes.readUInt8(5) & 31);
  if (at >= bytes.length) throw broken();
  const ppsCount = bytes.readUInt8(at++);
  const pps = take(ppsCount);
  return {
    profile: bytes.readUInt8(1),
    compatibility: bytes.readUInt8(2),
    level: bytes.readUInt8(3),
    lengthSize: (bytes.readUInt8(4) & 3) + 1,
    sps,
    pps,
    tail: bytes.subarray(at),
  };
}

/** The payload of `avcC` for a configuration. */
export function writeAvcConfig(config: AvcConfig): Buffer {
  return Buffer.concat([
    Buffer.from([1, config.profile, config.compatibility, config.level, 0xfc | (config.lengthSize - 1)]),
    Buffer.from([0xe0 | config.sps.length]),
    ...config.sps.map(withLength16),
    Buffer.from([config.pps.length]),
    ...config.pps.map(withLength16),
    config.tail,
  ]);
}

/**
 * Reads an `hvcC` payload (ISO/IEC 14496-15, 8.3.3.1).
 * @throws Mp4Error when it is cut off.
 */
export function readHevcConfig(bytes: Buffer): HevcConfig {
  const broken = () => new Mp4Error('The decoder settings of the video track are damaged.');
  if (bytes.length < 23) throw broken();
  const parameterSets: Buffer[] = [];
  let at = 23;
  for (let array = 0; array < bytes.readUInt8(22); array++) {
    if (at + 3 > bytes.length) throw broken();
    const units = bytes.readUInt16BE(at + 1);
    at += 3;
    for (let unit = 0; unit < units; unit++) {
      if (at + 2 > bytes.length) throw broken();
      const length = bytes.readUInt16BE(at);
      if (at + 2 + length > bytes.length) throw broken();
      parameterSets.push(bytes.subarray(at + 2, at + 2 + length));
      at += 2 + length;
    }
  }
  return { lengthSize: (bytes.readUInt8(21) & 3) + 1, parameterSets };
}
