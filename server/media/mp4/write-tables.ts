import { container, findBox, fullBox, needBox, replaceBox, serializeBox, type Box } from './box.ts';
import type { ByteRange } from './file-bytes.ts';

/** A sample of a rebuilt track: where its bytes are now and when it is shown. Media timescale ticks. */
export interface NewSample {
  readonly bytes: ByteRange;
  readonly dts: number;
  readonly pts: number;
  readonly durationTicks: number;
  readonly sync: boolean;
}

/** Runs of equal values as (count, value) pairs. */
function runs(values: readonly number[]): [number, number][] {
  const out: [number, number][] = [];
  for (const value of values) {
    const last = out.at(-1);
    if (last && last[1] === value) last[0]++;
    else out.push([1, value]);
  }
  return out;
}

/** 32-bit numbers, one after another. */
export function words(values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  values.forEach((value, index) => bytes.writeUInt32BE(value >>> 0, index * 4));
  return bytes;
}

/** Box `stco`, or `co64` when an offset needs more than 32 bits. */
export function chunkOffsetBox(offsets: readonly number[]): Box {
  if (offsets.every((offset) => offset <= 0xffffffff)) {
    return fullBox('stco', 0, 0, words([offsets.length, ...offsets]));
  }
  const bytes = Buffer.alloc(4 + offsets.length * 8);
  bytes.writeUInt32BE(offsets.length, 0);
  offsets.forEach((offset, index) => bytes.writeBigUInt64BE(BigInt(offset), 4 + index * 8));
  return fullBox('co64', 0, 0, bytes);
}

/** Box `stsc` for chunks that hold `perChunk[i]` samples each, all of sample description 1. */
function sampleToChunkBox(perChunk: readonly number[]): Box {
  const entries: number[] = [];
  perChunk.forEach((count, chunk) => {
    if (chunk === 0 || perChunk[chunk - 1] !== count) entries.push(chunk + 1, count, 1);
  });
  return fullBox('stsc', 0, 0, words([entries.length / 3, ...entries]));
}

/** Tables that list samples one by one; they become wrong when samples are added or removed. */
const PER_SAMPLE_BOXES = new Set([
  'stts',
  'ctts',
  'cslg',
  'stss',
  'stps',
  'stsz',
  'stz2',
  'stsc',
  'stco',
  'co64',
  'sdtp',
  'sbgp',
  'sgpd',
  'subs',
  'saiz',
  'saio',
  'padb',
  'stdp',
  'stsh',
]);

/**
 * The `stbl` of a rebuilt track: `stsd` and unknown boxes of the old one, with new sample tables. Chunk offsets are
 * left out; the writer adds them when it knows the place of each chunk.
 */
export function rebuildSampleTables(
  old: Box,
  samples: readonly NewSample[],
  perChunk: readonly number[],
): Box {
  const kept = (old.children ?? []).filter((box) => !PER_SAMPLE_BOXES.has(box.type));
  const durations = runs(samples.map((sample) => sample.durationTicks));
  const shifts = samples.map((sample) => sample.pts - sample.dts);
  const tables: Box[] = [fullBox('stts', 0, 0, words([durations.length, ...durations.flat()]))];
  if (shifts.some((shift) => shift !== 0)) {
    const entries = runs(shifts);
    const version = shifts.some((shift) => shift < 0) ? 1 : 0;
    tables.push(fullBox('ctts', version, 0, words([entries.length, ...entries.flat()])));
  }
  const sync = samples.flatMap((sample, index) => (sample.sync ? [index + 1] : []));
  if (sync.length < samples.length) tables.push(fullBox('stss', 0, 0, words([sync.length, ...sync])));
  const sizes = samples.map((sample) => sample.bytes.sizeBytes);
  tables.push(fullBox('stsz', 0, 0, words([0, sizes.length, ...sizes])));
  tables.push(sampleToChunkBox(perChunk));
  const description = kept.filter((box) => box.type === 'stsd');
  const others = kept.filter((box) => box.type !== 'stsd');
  return container('stbl', [...description, ...tables, ...others]);
}

/** A copy of `stbl` with its chunk offsets replaced. */
export function withChunkOffsets(stbl: Box, offsets: readonly number[]): Box {
  const others = (stbl.children ?? []).filter((box) => box.type !== 'stco' && box.type !== 'co64');
  return container('stbl', [...others, chunkOffsetBox(offsets)]);
}

/**
 * A copy of a header box (`mvhd`, `tkhd`, `mdhd`) with its duration replaced; version 1 is chosen when the
 * number needs 64 bits.
 */
export function withDuration(header: Box, durationTicks: number): Box {
  const bytes = Buffer.from(header.payload);
  // tkhd holds track id and a reserved word before its duration; mvhd and mdhd only the timescale.
  const between = header.type === 'tkhd' ? 8 : 4;
  if (bytes[0] === 1) {
    bytes.writeBigUInt64BE(BigInt(durationTicks), 4 + 16 + between);
    return { ...header, payload: bytes };
  }
  if (durationTicks <= 0xffffffff) {
    bytes.writeUInt32BE(durationTicks, 4 + 8 + between);
    return { ...header, payload: bytes };
  }
  const wide = Buffer.alloc(bytes.length + 12);
  bytes.copy(wide, 0, 0, 4);
  wide.writeUInt8(1, 0);
  wide.writeBigUInt64BE(BigInt(bytes.readUInt32BE(4)), 4);
  wide.writeBigUInt64BE(BigInt(bytes.readUInt32BE(8)), 12);
  bytes.copy(wide, 20, 12, 12 + between);
  wide.writeBigUInt64BE(BigInt(durationTicks), 20 + between);
  bytes.copy(wide, 28 + between, 16 + between);
  return { ...header, payload: wide };
}

/** A copy of a header box (`mvhd`, `mdhd`) with so many ticks a second; the number of its duration stays. */
export function withTimescale(header: Box, timescale: number): Box {
  const payload = Buffer.from(header.payload);
  payload.writeUInt32BE(timescale, payload[0] === 1 ? 20 : 12);
  return { ...header, payload };
}

/** A track's box with this number. */
export function withTrackId(trak: Box, trackId: number): Box {
  return replaceBox(trak, 'tkhd', (header) => {
    const payload = Buffer.from(header.payload);
    payload.writeUInt32BE(trackId, trackIdAt(payload));
    return { ...header, payload };
  });
}

/** Stands for: search for a free number. */
const MOST = 0xffffffff;

/**
 * A movie header (`mvhd`) whose number for the next new track, its last field, is beyond those of these tracks
 * (ISO/IEC 14496-12, 8.2.2.3).
 */
export function withNextTrackId(header: Box, traks: readonly Box[]): Box {
  const payload = Buffer.from(header.payload);
  const at = payload.length - 4;
  const last = Math.max(0, ...traks.map((trak) => readTrackId(needBox(trak, 'tkhd'))));
  payload.writeUInt32BE(Math.min(MOST, Math.max(payload.readUInt32BE(at), last + 1)), at);
  return { ...header, payload };
}

const readTrackId = ({ payload }: Box): number => payload.readUInt32BE(trackIdAt(payload));

const trackIdAt = (payload: Buffer) => (payload[0] === 1 ? 20 : 12);

/** Duration field of `mvhd`, `tkhd` or `mdhd`, in the ticks of that header. */
export function readDuration(header: Box): number {
  const bytes = header.payload;
  const between = header.type === 'tkhd' ? 8 : 4;
  return bytes[0] === 1 ? Number(bytes.readBigUInt64BE(20 + between)) : bytes.readUInt32BE(12 + between);
}

/** Whether the track's media lie in this file, as in every clip from a camera. */
export function isSelfContained(minf: Box): boolean {
  const dref = findBox(minf, 'dinf/dref')?.payload;
  if (!dref || dref.length < 8) return true;
  let at = 8;
  for (let index = 0; index < dref.readUInt32BE(4); index++) {
    if (at + 12 > dref.length) return true;
    const sizeBytes = dref.readUInt32BE(at);
    // Flag 1: the data are in the same file. QuickTime's empty alias means the same.
    const local = (dref.readUInt32BE(at + 8) & 1) === 1 || sizeBytes <= 20;
    if (!local) return false;
    if (sizeBytes < 12) return true;
    at += sizeBytes;
  }
  return true;
}

/** Flag of a data reference: the media are in the same file (ISO/IEC 14496-12, 8.7.2). */
const SAME_FILE = 1;

/** A track's box stating that its media are in its own file. */
export function withOwnMedia(trak: Box): Box {
  const count = Buffer.from([0, 0, 0, 1]);
  const own = fullBox('url ', 0, SAME_FILE, Buffer.alloc(0));
  const dref = fullBox('dref', 0, 0, Buffer.concat([count, serializeBox(own)]));
  return replaceBox(trak, 'mdia/minf/dinf', () => container('dinf', [dref]));
}
