import { EACH_PICTURE, KEEP_SIZES } from '#server/media/ffmpeg/ffmpeg-names.ts';
import type { FfmpegPlan } from '#server/media/ffmpeg/ffmpeg-plan.ts';
import { readHashes } from '#server/media/ffmpeg/frame-hashes.ts';
import { runFfmpeg } from '#server/media/ffmpeg/run-ffmpeg.ts';
import type { ToolPaths } from '#server/media/ffmpeg/tools.ts';

/** Shorter slices are left out, because a changed one proves nothing. */
export const MIN_SLICE_BYTES = 96;
/**
 * Written over the ends of slices: no pattern that could be read as skipped macroblocks, and no zeros, which emulation
 * prevention would change.
 */
export const OTHER_ENDS = [0x5b, 0xe7, 0x96];
/** Share of a slice that surely holds data that are read; without the rest the picture must change. */
const READ_SHARE = 1 / 8;

/**
 * A slice up to its last byte of data, without the zero words after it (cabac_zero_words: H.264 7.3.2.10, H.265
 * 7.3.2.12).
 */
export function dataOf(slice: Buffer): Buffer {
  let end = slice.length;
  while (end > 0 && (slice[end - 1] === 0 || (slice[end - 1] === 3 && slice[end - 2] === 0))) end -= 1;
  return slice.subarray(0, end);
}

/** The first part of a slice, too short for its picture, but at least half of the shortest slice that is checked. */
export const stumpOf = (slice: Buffer, shortest = MIN_SLICE_BYTES): Buffer =>
  slice.subarray(0, Math.max(shortest / 2, Math.floor(slice.length * READ_SHARE)));

/**
 * A slice whose last bytes are overwritten with a pattern, so that each differs from before.
 * @param length where the change begins, bytes before the end of the data
 * @param kept bytes at the very end that stay
 */
export function withOtherEnd(slice: Buffer, pattern: number, length: number, kept = 0): Buffer {
  const data = Buffer.from(dataOf(slice));
  for (let at = Math.max(0, data.length - length); at < data.length - kept; at += 1) {
    data[at] = data[at] === pattern ? pattern ^ 0x24 : pattern;
  }
  return data;
}

/** Decodes a byte stream and gives the hash of each picture, in the decoder's order. */
export function hashPlan(label: string, format: 'h264' | 'hevc', options: readonly string[]): FfmpegPlan {
  // Pictures of other sizes among them stay as they are.
  const output = [KEEP_SIZES, '-map', '0:v:0', ...EACH_PICTURE, '-f', 'framehash', '-hash', 'md5'];
  return {
    label,
    inputs: [{ path: 'pipe:0', format, options: [...options] }],
    outputs: [{ path: 'pipe:1', options: output }],
    expectedDurationMs: null,
  };
}

type Tools = { readonly tools: ToolPaths; readonly signal?: AbortSignal };

/**
 * Hashes of the pictures that a plan of `hashPlan` decodes from a stream, in the decoder's order.
 * @throws MediaToolError when ffmpeg cannot run or the job is cancelled
 */
export async function hashPictures(
  plan: FfmpegPlan,
  { tools, signal }: Tools,
  stream: AsyncIterable<Buffer>,
): Promise<string[]> {
  let listing = '';
  await runFfmpeg(plan, {
    tools,
    signal,
    stdin: stream,
    onStdout: (chunk) => {
      listing += chunk.toString('latin1');
    },
  });
  return readHashes(listing);
}

/**
 * The suspects whose pictures `judge` takes for damaged.
 * @param stream the pictures of each suspect, always the same number
 * @returns none when the decoder gave another number of pictures
 * @throws MediaToolError when ffmpeg cannot run or the job is cancelled
 */
export async function judgePictures(
  plan: FfmpegPlan,
  io: Tools,
  stream: AsyncIterable<Buffer>,
  { suspects, each, judge }: Judgement,
): Promise<number[]> {
  const hashes = await hashPictures(plan, io, stream);
  if (hashes.length !== each * suspects.length) return [];
  return suspects.filter((_, index) => {
    const seen = variantsOf(hashes.slice(each * index, each * (index + 1)));
    return seen !== null && judge(seen);
  });
}

export interface Judgement {
  /** In the order of the stream; may be filled while the stream is read. */
  readonly suspects: readonly number[];
  /** Pictures of the stream for each suspect: each variant has a key picture in front. */
  readonly each: number;
  readonly judge: (variants: Variants) => boolean;
}

export interface Variants {
  /** Hash of the key picture. */
  readonly key: string;
  /** Hashes of the suspect's variants, in the order of the stream. */
  readonly pictures: readonly string[];
}

/** Separates the pictures of one suspect: pairs of the key picture and a variant, in either order. */
function variantsOf(hashes: readonly string[]): Variants | null {
  const pairs = Array.from({ length: hashes.length / 2 }, (_, at) => hashes.slice(2 * at, 2 * at + 2));
  const keys = (pairs[0] ?? []).filter((hash) => pairs.every((pair) => pair.includes(hash)));
  const [key] = keys;
  // Unless exactly one key picture came out the same every time, the hashes mean nothing.
  if (key === undefined || keys.length > 1) return null;
  return { key, pictures: pairs.map((pair) => pair.find((hash) => hash !== key) ?? key) };
}
