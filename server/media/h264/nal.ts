import { H264Error } from './h264-error.ts';

/** NAL unit types that matter here (ITU-T H.264, table 7-1). */
export const NAL = {
  slice: 1,
  partitionA: 2,
  idrSlice: 5,
  sei: 6,
  sps: 7,
  pps: 8,
  accessUnitDelimiter: 9,
  filler: 12,
  prefix: 14,
} as const;

/** Type of a NAL unit, 0 to 31. */
export function nalType(unit: Buffer): number {
  return (unit[0] ?? 0) & 31;
}

/** True for the NAL units that carry coded pictures in streams without data partitioning. */
export function isSlice(unit: Buffer): boolean {
  const type = nalType(unit);
  return type === NAL.slice || type === NAL.idrSlice;
}

/** Whether a slice is the first of its picture: `first_mb_in_slice` 0 is a single set bit (ITU-T H.264, 7.3.3). */
export function opensPicture(slice: Buffer): boolean {
  return ((slice[1] ?? 0) & 0x80) !== 0;
}

/** Filler bytes, and the last byte of a filler unit (`filler_data_rbsp`, ITU-T H.264, 7.3.2.7). */
const FILLER_BYTE = 0xff;
const FILLER_END = 0x80;

/** Whether a unit holds only filler, which encoders of constant rates put behind pictures that are too small. */
export function isFiller(unit: Buffer): boolean {
  if (nalType(unit) !== NAL.filler || unit.at(-1) !== FILLER_END) return false;
  return unit.subarray(1, -1).every((byte) => byte === FILLER_BYTE);
}

/**
 * The NAL units of an MP4 sample, also those that share a length (`unwrapped`).
 * @throws H264Error when the lengths do not fill the sample exactly.
 */
export function splitSample(sample: Buffer, lengthSize: number): Buffer[] {
  const units: Buffer[] = [];
  let at = 0;
  while (at < sample.length) {
    if (at + lengthSize > sample.length) throw new H264Error('A NAL unit length is cut off.');
    const length = sample.readUIntBE(at, lengthSize);
    at += lengthSize;
    if (at + length > sample.length) throw new H264Error('A NAL unit is longer than its picture.');
    if (length > 0) units.push(...unwrapped(sample.subarray(at, at + length)));
    at += length;
  }
  return units;
}

/** Bytes of a prefix unit up to the end of its extension (ITU-T H.264, 7.3.1), and of an access unit delimiter. */
const PREFIX_BYTES = 4;
const DELIMITER_BYTES = 2;

/**
 * The units behind one length. Some phones write a whole picture behind one, with start codes between its units: a
 * prefix unit, which says to which layer of slow motion the picture belongs, or a delimiter, and what follows. Decoders
 * read that, and no intact unit is like it: a start code stands where this one ends.
 */
export function unwrapped(unit: Buffer): Buffer[] {
  const type = nalType(unit);
  // The first bit of the extension; no HEVC unit of the base layer has it set.
  const isPrefix = type === NAL.prefix && ((unit[1] ?? 0) & 0x80) !== 0;
  const isDelimiter = unit[0] === NAL.accessUnitDelimiter;
  const end = isPrefix ? PREFIX_BYTES : DELIMITER_BYTES;
  const wraps = (isPrefix || isDelimiter) && startsWithCode(unit.subarray(end));
  if (!wraps) return [unit];
  const splitter = createAnnexBSplitter();
  return [unit.subarray(0, end), ...splitter.push(unit.subarray(end)), ...splitter.end()];
}

const startsWithCode = (bytes: Buffer): boolean =>
  [4, 3].some((size) => bytes.length > size && bytes.readUIntBE(0, size) === 1);

/** The bytes of a sample made of `units`, each behind its length. */
export function joinSample(units: readonly Buffer[], lengthSize: number): Buffer {
  return Buffer.concat(
    units.flatMap((unit) => {
      if (unit.length >= 2 ** (8 * lengthSize)) throw new H264Error('A NAL unit is too long for this file.');
      const length = Buffer.alloc(lengthSize);
      length.writeUIntBE(unit.length, 0, lengthSize);
      return [length, unit];
    }),
  );
}

/** Removes emulation prevention bytes (ITU-T H.264, 7.4.1): `00 00 03` becomes `00 00`. */
export function toRbsp(unit: Buffer): Buffer {
  const out = Buffer.allocUnsafe(unit.length);
  let length = 0;
  let zeros = 0;
  for (const byte of unit) {
    if (zeros >= 2 && byte === 3) {
      zeros = 0;
      continue;
    }
    out[length++] = byte;
    zeros = byte === 0 ? zeros + 1 : 0;
  }
  return out.subarray(0, length);
}

/** Inserts emulation prevention bytes, so that no start code appears inside the unit. */
export function fromRbsp(rbsp: Buffer): Buffer {
  const out = Buffer.allocUnsafe(Math.ceil(rbsp.length * 1.5) + 2);
  let length = 0;
  let from = 0;
  for (let at = rbsp.indexOf(ZEROS); at >= 0;) {
    const next = rbsp[at + 2];
    if (next !== undefined && next <= 3) {
      length += rbsp.copy(out, length, from, at + 2);
      out[length++] = 3;
      from = at + 2;
      at = rbsp.indexOf(ZEROS, from);
    } else at = next === undefined ? -1 : rbsp.indexOf(ZEROS, at + 1);
  }
  length += rbsp.copy(out, length, from);
  // A unit must not end in a zero byte, or the next start code would swallow it.
  if (rbsp.at(-1) === 0) out[length++] = 3;
  return Buffer.from(out.subarray(0, length));
}

/** Two zero bytes must not precede a byte below 4 (ITU-T H.264, 7.4.1.1): a 3 goes between. */
const ZEROS = Buffer.from([0, 0]);

const START_CODE = Buffer.from([0, 0, 0, 1]);

/** Units as a byte stream, each behind a start code (ITU-T H.264 and H.265, annex B). */
export const annexB = (units: readonly Buffer[]): Buffer =>
  Buffer.concat(units.flatMap((unit) => [START_CODE, unit]));

/** Finds NAL units in a byte stream (ITU-T H.264, annex B) that arrives in pieces. */
export interface AnnexBSplitter {
  /** Takes the next bytes and returns the units that are now complete. */
  push(chunk: Buffer): Buffer[];
  /** The unit still open at the end of the stream, if any. */
  end(): Buffer[];
}

/** A splitter at the start of a stream; bytes before the first start code are ignored. */
export function createAnnexBSplitter(): AnnexBSplitter {
  const startCode = Buffer.from([0, 0, 1]);
  let rest = Buffer.alloc(0);
  let searched = 0;
  let started = false;
  const trim = (unit: Buffer) => {
    let end = unit.length;
    while (end > 0 && unit[end - 1] === 0) end--;
    return unit.subarray(0, end);
  };
  return {
    push(chunk) {
      rest = rest.length === 0 ? Buffer.from(chunk) : Buffer.concat([rest, chunk]);
      const units: Buffer[] = [];
      let from = 0;
      for (;;) {
        const at = rest.indexOf(startCode, Math.max(from, searched));
        if (at < 0) break;
        if (started) {
          const unit = trim(rest.subarray(from, at));
          if (unit.length > 0) units.push(unit);
        }
        started = true;
        from = at + 3;
        searched = from;
      }
      rest = rest.subarray(started ? from : Math.max(0, rest.length - 2));
      // A start code may begin in the last two bytes.
      searched = Math.max(0, rest.length - 2);
      return units;
    },
    end() {
      const unit = started ? trim(rest) : Buffer.alloc(0);
      rest = Buffer.alloc(0);
      return unit.length > 0 ? [unit] : [];
    },
  };
}

/** A NAL unit behind its length in 16 bits, as `avcC` and `hvcC` hold parameter sets. */
export function withLength16(unit: Buffer): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(unit.length, 0);
  return Buffer.concat([length, unit]);
}
