import type { FileHandle } from 'node:fs/promises';
import { readUpTo } from '#server/media/mp4/file-bytes.ts';

interface Range {
  readonly offset: number;
  readonly sizeBytes: number;
}

/** Layout of uncompressed sound samples. */
export interface PcmShape {
  readonly sampleBytes: number;
  readonly channels: number;
}

/** Number of samples judged together. */
const WINDOW_SAMPLES = 512;
/** Bytes of a stretch that are read at once; recorders write at most a second of sound in one piece. */
const MOST_BYTES = 16 << 20;

/**
 * Finds the parts at both ends of a stretch that are sound, if coded pictures stand between or after them. Coded
 * pictures look like the loudest possible noise, in which no value predicts the next. A stretch of nothing but sound is
 * one part.
 */
export async function soundEnds(file: FileHandle, stretch: Range, shape: PcmShape): Promise<Range[]> {
  const bytes = await readUpTo(file, stretch.offset, Math.min(stretch.sizeBytes, MOST_BYTES));
  const windowBytes = WINDOW_SAMPLES * shape.sampleBytes;
  const ahead = soundBytes(bytes, windowBytes, shape);
  const whole = Math.floor(bytes.length / shape.sampleBytes) * shape.sampleBytes;
  if (ahead >= whole) return [{ offset: stretch.offset, sizeBytes: whole }];
  let behind = 0;
  while (whole - behind - windowBytes >= ahead) {
    const from = bytes.length - behind - windowBytes;
    if (isCoded(bytes.subarray(from, from + windowBytes), shape)) break;
    behind += windowBytes;
  }
  const end = stretch.offset + bytes.length;
  return [
    ...(ahead > 0 ? [{ offset: stretch.offset, sizeBytes: ahead }] : []),
    ...(behind > 0 ? [{ offset: end - behind, sizeBytes: behind }] : []),
  ];
}

/** Bytes from the start that are sound, in whole windows; to the end if nothing else follows. */
function soundBytes(bytes: Buffer, windowBytes: number, shape: PcmShape): number {
  for (let at = 0; at < bytes.length; at += windowBytes) {
    if (isCoded(bytes.subarray(at, at + windowBytes), shape)) return at;
  }
  return bytes.length;
}

/**
 * Bytes of sound at the end of coded data: the longest usual piece of the device in which nothing looks coded.
 * @param most upper limit
 */
export function soundBehind(
  bytes: Buffer,
  most: number,
  { shape, isUsual }: { readonly shape: PcmShape; isUsual(pieceBytes: number): boolean },
): number {
  const windowBytes = WINDOW_SAMPLES * shape.sampleBytes;
  let longest = 0;
  let checked = 0;
  for (let length = shape.sampleBytes; length <= most; length += shape.sampleBytes) {
    while (checked + windowBytes <= length) {
      const end = bytes.length - checked;
      if (isCoded(bytes.subarray(end - windowBytes, end), shape, LOUD)) return shortestNear(longest);
      checked += windowBytes;
    }
    if (isUsual(length)) longest = length;
  }
  return shortestNear(longest);

  /** Devices vary by single samples. A lost sample is not audible, but bytes missing from a picture are visible. */
  function shortestNear(length: number): number {
    let least = length;
    for (let near = length; near > 0 && near >= length - ALIKE_BYTES; near -= shape.sampleBytes) {
      if (isUsual(near)) least = near;
    }
    return least;
  }
}

/** Pieces of one device that differ by no more than this have the same length, bytes. */
const ALIKE_BYTES = 64;

/** Fewest bytes for a judgement, and most that are examined. */
const [FEWEST_TOLD, MOST_TOLD] = [128, 4096];

/** Whether bytes are coded data, as far as can be told: false for few bytes, and for sound samples. */
export function looksCoded(bytes: Buffer): boolean {
  if (bytes.length < FEWEST_TOLD) return false;
  return isCoded(bytes.subarray(0, MOST_TOLD), { sampleBytes: 2, channels: 1 });
}

/**
 * Coded data read as samples have a root mean square of 0.58 of full scale; the loudest compressed music has about
 * 0.35.
 */
const LOUDEST = 0.45;
/**
 * Variable-length codes (MPEG-4, part 2) are less even than that; speech and music this loud are similar from value to
 * value.
 */
const LOUD = 0.3;
/** Correlation of a value with the next one of its channel; there is almost none in coded data. */
const LEAST_LIKE = 0.25;

/** Whether samples look like coded data, in either byte order. */
function isCoded(bytes: Buffer, { sampleBytes, channels }: PcmShape, loudest = LOUDEST): boolean {
  const valueBytes = sampleBytes / channels;
  if (!Number.isInteger(valueBytes) || valueBytes < 2) return false;
  const high = Array.from({ length: Math.floor(bytes.length / valueBytes) }, (_, at) => at * valueBytes);
  const littleEnd = high.map((at) => bytes.readInt16LE(at + valueBytes - 2) / 32_768);
  const bigEnd = high.map((at) => bytes.readInt16BE(at) / 32_768);
  return isNoise(littleEnd, channels, loudest) && isNoise(bigEnd, channels, loudest);
}

function isNoise(values: readonly number[], channels: number, loudest: number): boolean {
  let power = 0;
  let like = 0;
  for (const [at, value] of values.entries()) {
    power += value * value;
    like += value * (values[at - channels] ?? 0);
  }
  return Math.sqrt(power / values.length) > loudest && Math.abs(like) < LEAST_LIKE * power;
}
