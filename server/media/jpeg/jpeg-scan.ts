import type { HuffmanTable } from './jpeg-huffman.ts';

export interface ScanComponent {
  /** Number of blocks in a coded unit. */
  readonly blocks: number;
  readonly dc: HuffmanTable;
  readonly ac: HuffmanTable;
  /** Largest absolute mean value as coded. */
  readonly mostMean: number;
}

export interface Scan {
  readonly components: readonly ScanComponent[];
  /** Number of coded units (MCU). */
  readonly units: number;
  /** Units between restart markers; 0 for none. */
  readonly restartInterval: number;
}

/** Sizes of differences and coefficients in pictures of 8 bits (ISO/IEC 10918-1, tables F.1 and F.2). */
const MOST_DC_BITS = 11;
const MOST_AC_BITS = 10;
const LAST = 63;

/**
 * Reads the coded data of a scan without decoding a picture.
 * @param start place behind the header of the scan
 * @returns the place of the marker behind the data; null where they do not end with the last unit, or hold what no
 * encoder writes
 */
export function readScan(bytes: Uint8Array, start: number, scan: Scan): number | null {
  const reader = { bytes, at: start, held: 0, count: 0, beyond: 0 };
  const means = scan.components.map(() => 0);
  for (let unit = 0; unit < scan.units; unit += 1) {
    if (scan.restartInterval > 0 && unit > 0 && unit % scan.restartInterval === 0) {
      if (!restart(reader, unit / scan.restartInterval - 1)) return null;
      means.fill(0);
    }
    for (const [index, component] of scan.components.entries()) {
      for (let block = 0; block < component.blocks; block += 1) {
        const step = readBlock(reader, component);
        const mean = (means[index] ?? 0) + (step ?? 0);
        if (step === null || Math.abs(mean) > component.mostMean) return null;
        means[index] = mean;
      }
    }
  }
  return isUsedUp(reader) ? reader.at : null;
}

interface Reader {
  readonly bytes: Uint8Array;
  /** The next byte to be read; stays in front of a marker. */
  at: number;
  held: number;
  count: number;
  /** Number of bits that were made up because a marker or the end was reached. */
  beyond: number;
}

function fill(reader: Reader): void {
  const { bytes } = reader;
  while (reader.count <= 16) {
    const byte = bytes[reader.at] ?? 0xff;
    let next = byte;
    if (byte !== 0xff) reader.at += 1;
    else if (bytes[reader.at + 1] === 0) reader.at += 2;
    else {
      next = 0;
      reader.beyond += 8;
    }
    reader.held = (reader.held << 8) | next;
    reader.count += 8;
  }
}

/** The next value of a table; -1 where no code fits. */
function value(reader: Reader, table: HuffmanTable): number {
  fill(reader);
  const entry = table[(reader.held >>> (reader.count - 16)) & 0xffff] ?? 0;
  const length = entry & 31;
  if (length === 0) return -1;
  reader.count -= length;
  return entry >> 5;
}

function skip(reader: Reader, bits: number): void {
  if (reader.count < bits) fill(reader);
  reader.count -= bits;
}

/** The difference of a number of bits, whose first one tells its sign (ISO/IEC 10918-1, F.2.2.1). */
function difference(reader: Reader, bits: number): number {
  if (bits === 0) return 0;
  skip(reader, bits);
  const raw = (reader.held >>> reader.count) & ((1 << bits) - 1);
  return raw < 1 << (bits - 1) ? raw - (1 << bits) + 1 : raw;
}

/**
 * Reads a block; returns the difference of its mean from the one before, or null where no encoder writes such a block.
 */
function readBlock(reader: Reader, { dc, ac }: ScanComponent): number | null {
  const size = value(reader, dc);
  if (size < 0 || size > MOST_DC_BITS) return null;
  const step = difference(reader, size);
  for (let at = 1; at <= LAST;) {
    const code = value(reader, ac);
    if (code < 0) return null;
    const bits = code & 15;
    const run = code >> 4;
    if (bits === 0) {
      if (run === 0) break;
      if (run !== 15) return null;
      at += 16;
      if (at > LAST + 1) return null;
    } else {
      at += run + 1;
      if (at > LAST + 1 || bits > MOST_AC_BITS) return null;
      skip(reader, bits);
    }
  }
  return reader.count >= reader.beyond ? step : null;
}

/** Whether only the padding of the last byte is left in front of a marker or the end. */
function isUsedUp({ bytes, at, count, beyond }: Reader): boolean {
  const isEnd = at >= bytes.length || (bytes[at] === 0xff && bytes[at + 1] !== 0);
  return isEnd && count - beyond >= 0 && count - beyond < 8;
}

/** Continues behind a restart marker; false where the right one is not there. */
function restart(reader: Reader, index: number): boolean {
  // The bits held belong in front of the marker; they may not be more than its padding.
  if (reader.beyond === 0) fill(reader);
  if (!isUsedUp(reader)) return false;
  const { bytes } = reader;
  while (bytes[reader.at] === 0xff && bytes[reader.at + 1] === 0xff) reader.at += 1;
  if (bytes[reader.at + 1] !== 0xd0 + (index & 7)) return false;
  reader.at += 2;
  reader.held = 0;
  reader.count = 0;
  reader.beyond = 0;
  return true;
}
