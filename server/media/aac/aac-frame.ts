import { bandsOf, type AacBands } from './aac-bands.ts';
import { AacBits } from './aac-bits.ts';
import type { CodeTree } from './aac-code-tree.ts';
import { createBooks, SCALE_FACTORS } from './aac-codebooks.ts';
import type { AacConfig } from './aac-config.ts';

/** Syntactic elements (ISO/IEC 14496-3, table 4.85). */
const ELEMENT = { single: 0, pair: 1, data: 4, program: 5, fill: 6, end: 7 } as const;
/** Special codebooks of a band (4.6.2.3.2 and 4.6.8): nothing coded, reserved, noise, and positions of intensity. */
const BOOK = { zero: 0, escape: 11, reserved: 12, noise: 13, intensity2: 14, intensity: 15 } as const;
/** Window sequences (table 4.109). */
const ONLY_LONG = 0;
const LONG_START = 1;
const EIGHT_SHORT = 2;
const LONG_STOP = 3;
/** Most elements of a frame: more than one with a single main element needs. */
const MOST_ELEMENTS = 16;

/**
 * What fills the last byte of a frame. The standard demands zeros, but encoders of large services leave any bits there.
 */
export type LastBits = 'zeros' | 'any';

/** Finds the length of frames by reading them. */
export interface AacFrameReader {
  /**
   * Bytes of the frame that begins at `offset`; null where none does, as far as the syntax shows. Random bytes pass at
   * about one place in ten thousand, and at ten times as many where any bits may fill the last byte, so only several
   * consecutive frames are proof.
   */
  frameBytes(bytes: Buffer, offset: number): number | null;
  /** What a frame that fills `bytes` says about itself; null where these are no whole frame. */
  read(bytes: Buffer): AacFrame | null;
}

/**
 * How a frame joins those beside it (ISO/IEC 14496-3, 4.6.11.3.2), in the same way for all channels, and where its
 * gains stand.
 */
export interface AacFrame {
  readonly bytes: Buffer;
  /** Whether the frame fades in over its whole length, as after long windows. */
  readonly beginsLong: boolean;
  /** Whether it fades out over its whole length. */
  readonly endsLong: boolean;
  /** Bit numbers at which the gain of each channel begins: 8 bits, in steps of 1.5 dB. */
  readonly gainsAt: readonly number[];
  /** Bit numbers of the window shape, for each channel or for both together. */
  readonly shapesAt: readonly number[];
}

/**
 * Reads raw frames of AAC with low complexity (ISO/IEC 14496-3, 4.4.2.1), one or two channels, without decoding
 * samples. MP4 stores the frame lengths only in its index.
 * @param fill what `frameBytes` expects in the last byte
 * @returns null for other kinds of AAC
 */
export function createAacFrameReader(
  { objectType, frequencyIndex, channels }: AacConfig,
  fill: LastBits = 'zeros',
): AacFrameReader | null {
  const bands = bandsOf(frequencyIndex);
  const main = { 1: ELEMENT.single, 2: ELEMENT.pair }[channels];
  if (objectType !== 2 || !bands || main === undefined) return null;
  const books = createBooks();
  const readAt = (bytes: Buffer, offset: number): FrameReader | null => {
    const reader: FrameReader = {
      bits: new AacBits(bytes, offset),
      bands,
      books,
      sequences: [],
      gainsAt: [],
      shapesAt: [],
    };
    return readFrame(reader, main) && !reader.bits.isOver() ? reader : null;
  };
  return {
    frameBytes(bytes, offset) {
      const bits = readAt(bytes, offset)?.bits;
      if (!bits || (fill === 'zeros' && !bits.align())) return null;
      return Math.ceil(bits.position / 8) - offset;
    },
    read(bytes) {
      const frame = readAt(bytes, 0);
      // Some encoders leave random bits at the end of the last byte.
      if (!frame || Math.ceil(frame.bits.position / 8) !== bytes.length) return null;
      return {
        bytes,
        gainsAt: frame.gainsAt,
        shapesAt: frame.shapesAt,
        beginsLong: frame.sequences.every((one) => one === ONLY_LONG || one === LONG_START),
        endsLong: frame.sequences.every((one) => one === ONLY_LONG || one === LONG_STOP),
      };
    },
  };
}

interface FrameReader {
  readonly bits: AacBits;
  readonly bands: AacBands;
  readonly books: readonly (CodeTree | null)[];
  /** Window sequence of each channel so far, or of both together. */
  readonly sequences: number[];
  readonly gainsAt: number[];
  readonly shapesAt: number[];
}

/** Reads one main element and what may accompany it. */
function readFrame(reader: FrameReader, main: number): boolean {
  const { bits } = reader;
  let isRead = false;
  for (let count = 0; count < MOST_ELEMENTS && !bits.isOver(); count += 1) {
    const element = bits.bits(3);
    if (element === ELEMENT.end) return isRead;
    if (element === ELEMENT.fill) skipFill(bits);
    else if (element === ELEMENT.data) skipData(bits);
    else if (isRead || element !== main) return false;
    else {
      bits.skip(4);
      isRead = main === ELEMENT.pair ? readPair(reader) : readChannel(reader, null);
      if (!isRead) return false;
    }
  }
  return false;
}

function skipFill(bits: AacBits): void {
  let count = bits.bits(4);
  if (count === 15) count += bits.bits(8) - 1;
  bits.skip(8 * count);
}

function skipData(bits: AacBits): void {
  bits.skip(4);
  const isAligned = bits.bit() === 1;
  let count = bits.bits(8);
  if (count === 255) count += bits.bits(8);
  if (isAligned) bits.skip((8 - (bits.position & 7)) & 7);
  bits.skip(8 * count);
}

/** `channel_pair_element()` behind its tag. */
function readPair(reader: FrameReader): boolean {
  const { bits } = reader;
  const isCommon = bits.bit() === 1;
  const info = isCommon ? readInfo(reader) : null;
  if (isCommon) {
    if (!info) return false;
    const sides = bits.bits(2);
    if (sides === 3) return false;
    if (sides === 1) bits.skip(info.groups.length * info.mostBands);
  }
  return readChannel(reader, info) && readChannel(reader, info);
}

interface ChannelInfo {
  readonly isShort: boolean;
  /** Windows in each group. */
  readonly groups: readonly number[];
  /** Number of coded bands. */
  readonly mostBands: number;
  readonly widths: readonly number[];
}

/** `ics_info()`; null for what low complexity does not allow. */
function readInfo({ bits, bands, sequences, shapesAt }: FrameReader): ChannelInfo | null {
  if (bits.bit() !== 0) return null;
  const sequence = bits.bits(2);
  sequences.push(sequence);
  const isShort = sequence === EIGHT_SHORT;
  shapesAt.push(bits.position);
  bits.skip(1);
  const mostBands = bits.bits(isShort ? 4 : 6);
  const widths = isShort ? bands.short : bands.long;
  if (mostBands > widths.length) return null;
  if (!isShort) return bits.bit() === 0 ? { isShort, groups: [1], mostBands, widths } : null;
  const groups = [1];
  for (let window = 1; window < 8; window += 1) {
    if (bits.bit() === 1) groups[groups.length - 1] = (groups.at(-1) ?? 0) + 1;
    else groups.push(1);
  }
  return { isShort, groups, mostBands, widths };
}

/** `individual_channel_stream()`. */
function readChannel(reader: FrameReader, common: ChannelInfo | null): boolean {
  const { bits } = reader;
  reader.gainsAt.push(bits.position);
  bits.skip(8);
  const info = common ?? readInfo(reader);
  const sections = info && readSections(bits, info);
  if (!info || !sections || !skipScaleFactors(reader, sections)) return false;
  if (bits.bit() === 1 && !skipPulses(bits, info)) return false;
  if (bits.bit() === 1) skipNoiseShaping(bits, info);
  // Gain control belongs to another profile.
  return bits.bit() === 0 && skipSpectrum(reader, info, sections);
}

/** Codebook of each band, group by group (`section_data()`); null where sections run over the end. */
function readSections(bits: AacBits, { isShort, groups, mostBands }: ChannelInfo): Uint8Array[] | null {
  const lengthBits = isShort ? 3 : 5;
  const more = 2 ** lengthBits - 1;
  const tables: Uint8Array[] = [];
  for (let group = 0; group < groups.length; group += 1) {
    const books = new Uint8Array(mostBands);
    for (let band = 0; band < mostBands;) {
      const book = bits.bits(4);
      let length = 0;
      let part = more;
      while (part === more && !bits.isOver()) {
        part = bits.bits(lengthBits);
        length += part;
      }
      if (book === BOOK.reserved || length === 0 || band + length > mostBands) return null;
      books.fill(book, band, band + length);
      band += length;
    }
    tables.push(books);
  }
  return tables;
}

/** `scale_factor_data()`: the first energy of noise is a number, all others are differences. */
function skipScaleFactors({ bits, books }: FrameReader, sections: readonly Uint8Array[]): boolean {
  const tree = books[SCALE_FACTORS];
  if (!tree) return false;
  let isFirstNoise = true;
  for (const group of sections) {
    for (const book of group) {
      if (book === BOOK.zero) continue;
      if (book === BOOK.noise && isFirstNoise) {
        isFirstNoise = false;
        bits.skip(9);
      } else bits.word(tree);
    }
    if (bits.isOver()) return false;
  }
  return true;
}

function skipPulses(bits: AacBits, { isShort, widths }: ChannelInfo): boolean {
  const count = bits.bits(2) + 1;
  const firstBand = bits.bits(6);
  bits.skip(9 * count);
  return !isShort && firstBand < widths.length;
}

/** `tns_data()`. */
function skipNoiseShaping(bits: AacBits, { isShort }: ChannelInfo): void {
  for (let windows = isShort ? 8 : 1; windows > 0; windows -= 1) {
    const filters = bits.bits(isShort ? 1 : 2);
    if (filters === 0) continue;
    const resolution = bits.bit();
    for (let left = filters; left > 0; left -= 1) {
      bits.skip(isShort ? 4 : 6);
      const order = bits.bits(isShort ? 3 : 5);
      if (order === 0) continue;
      bits.skip(1);
      const isCompressed = bits.bit();
      bits.skip(order * (3 + resolution - isCompressed));
    }
  }
}

/**
 * How the words of a codebook encode values: `size` values per word, as digits to the base `base`, with 0 in the middle
 * or at the start.
 */
interface BookShape {
  readonly size: 2 | 4;
  readonly base: number;
  /** Whether a sign follows each value that is not 0. */
  readonly isUnsigned: boolean;
}

const shape = (size: 2 | 4, base: number, isUnsigned: boolean): BookShape => ({ size, base, isUnsigned });
const SHAPES: readonly (BookShape | null)[] = [
  null,
  shape(4, 3, false),
  shape(4, 3, false),
  shape(4, 3, true),
  shape(4, 3, true),
  shape(2, 9, false),
  shape(2, 9, false),
  shape(2, 8, true),
  shape(2, 8, true),
  shape(2, 13, true),
  shape(2, 13, true),
  shape(2, 17, true),
];
/** The value behind which the true size is written, and the longest prefix of that. */
const ESCAPED = 16;
const MOST_ESCAPE_BITS = 8;

/** `spectral_data()`. */
function skipSpectrum(
  reader: FrameReader,
  { groups, widths }: ChannelInfo,
  sections: readonly Uint8Array[],
): boolean {
  for (const [group, tables] of sections.entries()) {
    for (const [band, book] of tables.entries()) {
      const shaped = SHAPES[book];
      if (!shaped) continue;
      const lines = (widths[band] ?? 0) * (groups[group] ?? 0);
      for (let line = 0; line < lines; line += shaped.size)
        if (!skipLines(reader, book, shaped)) return false;
      if (reader.bits.isOver()) return false;
    }
  }
  return true;
}

/** Two or four lines of the spectrum. */
function skipLines(
  { bits, books }: FrameReader,
  book: number,
  { size, base, isUnsigned }: BookShape,
): boolean {
  const tree = books[book];
  if (!tree) return false;
  let word = bits.word(tree);
  if (!isUnsigned) return true;
  let escapes = 0;
  for (let left = size; left > 0; left -= 1) {
    const value = word % base;
    word = (word - value) / base;
    if (value > 0) bits.skip(1);
    if (value === ESCAPED && book === BOOK.escape) escapes += 1;
  }
  for (; escapes > 0; escapes -= 1) {
    let prefix = 0;
    while (bits.bit() === 1) if (++prefix > MOST_ESCAPE_BITS) return false;
    bits.skip(prefix + 4);
  }
  return true;
}
