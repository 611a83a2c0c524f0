import { findBox, needBox, type Box } from './box.ts';
import { Mp4Error } from './mp4-error.ts';

/** One coded picture (or other unit) of a track, in decode order. Times in media timescale ticks. */
export interface Sample {
  /** Position in the file, bytes. */
  readonly offset: number;
  readonly sizeBytes: number;
  readonly dts: number;
  readonly pts: number;
  /** Ticks to the next sample's decode time. */
  readonly durationTicks: number;
  readonly sync: boolean;
  /** Index of the chunk that holds it, from 0. */
  readonly chunk: number;
  /** Index of its sample description, from 1. */
  readonly description: number;
}

/** Media time at which the last shown sample ends, ticks; 0 for no samples. */
export function endOfSamples(
  samples: readonly { readonly pts: number; readonly durationTicks: number }[],
): number {
  return samples.reduce((end, { pts, durationTicks }) => Math.max(end, pts + durationTicks), 0);
}

/** A run of samples that lie end to end in the file. */
export interface Chunk {
  readonly offset: number;
  readonly sizeBytes: number;
  /** Decode time of its first sample, media timescale ticks. */
  readonly dts: number;
}

/** Most samples of a track: three hours at 90 pictures a second. */
export const MAX_SAMPLES = 1_000_000;
/** No coded picture is larger; a larger size in a table is damage. */
export const MAX_SAMPLE_BYTES = 64 << 20;

interface Table {
  readonly bytes: Buffer;
  readonly count: number;
}

function table(stbl: Box, type: string, entryBytes: number, countAt = 4): Table | null {
  const box = findBox(stbl, type);
  if (!box) return null;
  if (box.payload.length < countAt + 4) throw damaged(type);
  const count = box.payload.readUInt32BE(countAt);
  if (countAt + 4 + count * entryBytes > box.payload.length) throw damaged(type);
  return { bytes: box.payload, count };
}

const damaged = (type: string) => new Mp4Error(`The index of the file is damaged: table ${type} is cut off.`);

function need(found: Table | null, type: string): Table {
  if (!found) throw new Mp4Error(`The index of the file is incomplete: table ${type} is missing.`);
  return found;
}

/** Sizes from `stsz` or the compact `stz2`: one number for all, or a reader per sample. */
function sampleSizes(stbl: Box): { count: number; sizeOf: (index: number) => number } {
  const stsz = findBox(stbl, 'stsz');
  if (stsz) {
    const bytes = stsz.payload;
    if (bytes.length < 12) throw damaged('stsz');
    const fixed = bytes.readUInt32BE(4);
    const count = bytes.readUInt32BE(8);
    if (fixed > 0) return { count, sizeOf: () => fixed };
    if (12 + count * 4 > bytes.length) throw damaged('stsz');
    return { count, sizeOf: (index) => bytes.readUInt32BE(12 + 4 * index) };
  }
  const stz2 = needBox(stbl, 'stz2').payload;
  const fieldBits = stz2[7] ?? 0;
  const count = stz2.length >= 12 ? stz2.readUInt32BE(8) : 0;
  if (![4, 8, 16].includes(fieldBits) || 12 + (count * fieldBits) / 8 > stz2.length) throw damaged('stz2');
  if (fieldBits === 16) return { count, sizeOf: (index) => stz2.readUInt16BE(12 + 2 * index) };
  if (fieldBits === 8) return { count, sizeOf: (index) => stz2.readUInt8(12 + index) };
  return {
    count,
    sizeOf: (index) => {
      const pair = stz2.readUInt8(12 + (index >> 1));
      return index % 2 === 0 ? pair >> 4 : pair & 15;
    },
  };
}

function chunkOffsets(stbl: Box): { count: number; offsetOf: (index: number) => number } {
  const short = table(stbl, 'stco', 4);
  if (short) return { count: short.count, offsetOf: (index) => short.bytes.readUInt32BE(8 + 4 * index) };
  const long = need(table(stbl, 'co64', 8), 'stco');
  return { count: long.count, offsetOf: (index) => Number(long.bytes.readBigUInt64BE(8 + 8 * index)) };
}

/** Calls `visit` for each chunk with the samples that it holds, in order, until all samples are placed. */
function eachChunk(
  stbl: Box,
  sampleCount: number,
  visit: (chunk: number, offset: number, first: number, count: number, description: number) => void,
): void {
  const offsets = chunkOffsets(stbl);
  const stsc = need(table(stbl, 'stsc', 12), 'stsc');
  let placed = 0;
  let previousFirst = 0;
  for (let run = 0; run < stsc.count && placed < sampleCount; run++) {
    const first = stsc.bytes.readUInt32BE(8 + 12 * run);
    const perChunk = stsc.bytes.readUInt32BE(12 + 12 * run);
    const description = stsc.bytes.readUInt32BE(16 + 12 * run);
    const next = run + 1 < stsc.count ? stsc.bytes.readUInt32BE(20 + 12 * run) : offsets.count + 1;
    if (first <= previousFirst) throw damaged('stsc');
    previousFirst = first;
    for (let chunk = first - 1; chunk < Math.min(next - 1, offsets.count) && placed < sampleCount; chunk++) {
      const count = Math.min(perChunk, sampleCount - placed);
      visit(chunk, offsets.offsetOf(chunk), placed, count, description);
      placed += count;
    }
  }
  if (placed < sampleCount) throw new Mp4Error('The index of the file is damaged: samples without a place.');
}

/** Reads a table of (count, value) runs such as `stts`; the reader must be asked for ascending sample numbers. */
function runReader(found: Table, valueOf: (bytes: Buffer, at: number) => number): (index: number) => number {
  let run = -1;
  let end = 0;
  let value = 0;
  return (index) => {
    while (index >= end && run + 1 < found.count) {
      run++;
      end += found.bytes.readUInt32BE(8 + 8 * run);
      value = valueOf(found.bytes, 12 + 8 * run);
    }
    return value;
  };
}

function decodeDurations(stbl: Box): (index: number) => number {
  // A delta with the top bit set is a negative number of a broken writer; players take it as 1 tick.
  return runReader(need(table(stbl, 'stts', 8), 'stts'), (bytes, at) => {
    const delta = bytes.readInt32BE(at);
    return delta < 0 ? 1 : delta;
  });
}

/** Number of samples that a track declares. */
export function sampleCount(stbl: Box): number {
  return sampleSizes(stbl).count;
}

/**
 * All samples of a track in decode order.
 * @throws Mp4Error when tables are missing, cut off or contradict each other, or there are absurdly many.
 */
export function readSamples(stbl: Box): Sample[] {
  const sizes = sampleSizes(stbl);
  if (sizes.count > MAX_SAMPLES) throw new Mp4Error('The file declares too many pictures.');
  const durationOf = decodeDurations(stbl);
  const ctts = table(stbl, 'ctts', 8);
  // Signed in both versions: QuickTime wrote negative offsets long before version 1 allowed them.
  const shiftOf = ctts ? runReader(ctts, (bytes, at) => bytes.readInt32BE(at)) : () => 0;
  const stss = table(stbl, 'stss', 4);
  const sync = new Set<number>();
  for (let index = 0; stss && index < stss.count; index++) {
    sync.add(stss.bytes.readUInt32BE(8 + 4 * index) - 1);
  }
  const samples: Sample[] = [];
  let dts = 0;
  eachChunk(stbl, sizes.count, (chunk, start, first, count, description) => {
    let offset = start;
    for (let index = first; index < first + count; index++) {
      const sizeBytes = sizes.sizeOf(index);
      const durationTicks = durationOf(index);
      samples.push({
        offset,
        sizeBytes,
        dts,
        pts: dts + shiftOf(index),
        durationTicks,
        sync: stss === null || sync.has(index),
        chunk,
        description,
      });
      offset += sizeBytes;
      dts += durationTicks;
    }
  });
  return samples;
}

/**
 * The chunks of a track in decode order, without a record per sample: an hour of PCM has 10^8 samples.
 * @throws Mp4Error as `readSamples`.
 */
export function readChunks(stbl: Box): Chunk[] {
  const sizes = sampleSizes(stbl);
  const fixed = sizes.count > 0 && (findBox(stbl, 'stsz')?.payload.readUInt32BE(4) ?? 0) > 0;
  const stts = need(table(stbl, 'stts', 8), 'stts');
  const chunks: Chunk[] = [];
  let run = 0;
  let runStart = 0;
  let runDts = 0;
  const dtsOf = (sample: number) => {
    while (run < stts.count) {
      const count = stts.bytes.readUInt32BE(8 + 8 * run);
      const delta = Math.max(0, stts.bytes.readInt32BE(12 + 8 * run));
      if (sample < runStart + count || run === stts.count - 1) return runDts + (sample - runStart) * delta;
      runStart += count;
      runDts += count * delta;
      run++;
    }
    return runDts;
  };
  eachChunk(stbl, sizes.count, (chunk, offset, first, count) => {
    let sizeBytes = fixed ? sizes.sizeOf(first) * count : 0;
    if (!fixed) for (let index = first; index < first + count; index++) sizeBytes += sizes.sizeOf(index);
    chunks[chunk] = { offset, sizeBytes, dts: dtsOf(first) };
  });
  // Chunks beyond the last sample stay in the table, but are empty.
  const total = chunkOffsets(stbl).count;
  return Array.from({ length: total }, (_, chunk) => chunks[chunk] ?? { offset: 0, sizeBytes: 0, dts: 0 });
}
