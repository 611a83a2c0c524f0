import { open, type FileHandle } from 'node:fs/promises';
import type { FfmpegPlan } from '#server/media/ffmpeg-plan.ts';
import { H264Error } from '#server/media/h264/h264-error.ts';
import { splitSample } from '#server/media/h264/nal.ts';
import { isHevcParameterSet, isHevcSlice } from '#server/media/hevc/hevc-nal.ts';
import { readUpTo } from '#server/media/mp4/file-bytes.ts';
import { findVideoTrack, readMovie } from '#server/media/mp4/movie.ts';
import { Mp4Error } from '#server/media/mp4/mp4-error.ts';
import { readHevcConfig } from '#server/media/mp4/sample-entry.ts';
import { runFfmpeg } from '#server/media/run-ffmpeg.ts';
import type { SliceEndInput } from './check-slice-ends.ts';

/** Written over the last bytes of a slice; no zeros, which emulation prevention would change. */
const OTHER_ENDS = [0x5b, 0xe7, 0x96];
const END_BYTES = 16;
/** Put behind the last byte of a slice, where a whole one is never read. */
const TAIL = Buffer.from([0x5b, 0xe7, 0x96, 0x3a, 0xc5, 0x5b, 0xe7, 0x96, 0x3a, 0xc5, 0x5b, 0xe7]);
const TAILS = [TAIL, Buffer.from([...TAIL].reverse())];
/** Slices shorter than this are left out: what is changed of them says nothing. */
const MIN_SLICE_BYTES = 96;
/** Share of a slice that surely holds blocks that are read: without the rest the picture must change. */
const READ_SHARE = 1 / 8;
/** Pictures decoded for one suspect: twice as it is, its stump, with other ends, with more behind, and as it is again; a key picture before each. */
const PICTURES_EACH = 2 * (4 + OTHER_ENDS.length + TAILS.length);

const START_CODE = Buffer.from([0, 0, 0, 1]);
/** Access unit delimiter for any kind of picture (ITU-T H.265, 7.3.2.5). */
const DELIMITER = Buffer.from([0, 0, 0, 1, 0x46, 0x01, 0x50]);

const PLAN: FfmpegPlan = {
  label: 'check the ends of slices',
  inputs: [{ path: 'pipe:0', format: 'hevc', options: ['-threads', '1', '-skip_loop_filter', 'all'] }],
  outputs: [
    {
      path: 'pipe:1',
      options: ['-map', '0:v:0', '-vsync', 'passthrough', '-f', 'framehash', '-hash', 'md5'],
    },
  ],
  expectedDurationMs: null,
};

/**
 * HEVC pictures that decode in silence although their data are damaged. The decoder of a whole slice ends exactly
 * where its data end (end_of_slice_segment_flag, ITU-T H.265, 9.3.2.5): other last bytes change the picture, and
 * bytes behind the end do not. A slice whose data went astray is over too early, so that its last bytes are never
 * read, or too late, so that what stands behind is read as well. Reading does not depend on the pictures referred to, so
 * each suspect is decoded behind one key picture alone. Of 32 pictures of two clips with 1 to 200 random bytes 23 were
 * named, of 229 whole ones none (x265 with and without wavefronts, `checkHevcEnds` on every picture).
 * @returns places in `packets`, rising; none when the clip is no MP4 with HEVC pictures
 * @throws MediaToolError when ffmpeg cannot run or the job is cancelled
 */
export async function checkHevcEnds(input: SliceEndInput): Promise<number[]> {
  const stream = input.info.video[0];
  if (input.info.format !== 'mov' || stream?.codec !== 'hevc' || input.suspects.length === 0) return [];
  const file = await open(input.inputPath, 'r');
  try {
    const movie = await readMovie(file);
    const track = findVideoTrack(movie, stream.index);
    const hvcC = track.entries[0]?.boxes.find((box) => box.type === 'hvcC');
    if (movie.fragmented || !hvcC || track.entries.length > 1) return [];
    const { lengthSize, parameterSets } = readHevcConfig(hvcC.payload);
    const slicesOf = createReader(input, file, lengthSize);
    const key = await findKey(input, slicesOf);
    if (!key) return [];
    return await compare(input, key, slicesOf, annexB(parameterSets.filter(isHevcParameterSet)));
  } catch (error) {
    if (error instanceof Mp4Error || error instanceof H264Error) return [];
    throw error;
  } finally {
    await file.close();
  }
}

type SliceReader = (packet: number) => Promise<Buffer[] | null>;

/** Reads the slices of a picture; null when it cannot be told apart from its neighbours or is too small. */
function createReader(input: SliceEndInput, file: FileHandle, lengthSize: number): SliceReader {
  return async (place) => {
    const packet = input.packets[place];
    if (!packet || packet.offsetBytes === null) return null;
    try {
      const bytes = await readUpTo(file, packet.offsetBytes, packet.sizeBytes);
      const slices = splitSample(bytes, lengthSize).filter(isHevcSlice).map(dataOf);
      return slices.length > 0 && slices.every((unit) => unit.length >= MIN_SLICE_BYTES) ? slices : null;
    } catch (error) {
      if (error instanceof H264Error) return null;
      throw error;
    }
  };
}

/** The first key picture that can be read and is not known to be damaged, as those that are no suspects may be. */
async function findKey(input: SliceEndInput, slicesOf: SliceReader) {
  const suspects = new Set(input.suspects);
  const places = input.packets.flatMap((packet, place) => (packet.keyframe ? [place] : []));
  const trusted = places.filter((place) => suspects.has(place));
  for (const place of [...trusted, ...places]) {
    const slices = await slicesOf(place);
    if (slices) return { place, slices };
  }
  return null;
}

async function compare(
  input: SliceEndInput,
  key: { readonly place: number; readonly slices: readonly Buffer[] },
  slicesOf: SliceReader,
  sets: Buffer,
): Promise<number[]> {
  const fed: number[] = [];
  async function* variants(): AsyncGenerator<Buffer> {
    for (const packet of input.suspects) {
      const slices = packet === key.place ? null : await slicesOf(packet);
      if (!slices) continue;
      fed.push(packet);
      for (const change of CHANGES) yield Buffer.concat([sets, unit(key.slices), unit(slices.map(change))]);
    }
  }
  let listing = '';
  await runFfmpeg(PLAN, {
    tools: input.tools,
    signal: input.signal,
    stdin: variants(),
    onStdout: (chunk) => {
      listing += chunk.toString('latin1');
    },
  });
  const rows = listing.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const hashes = rows.map((row) => row.slice(row.lastIndexOf(',') + 1).trim());
  if (hashes.length !== PICTURES_EACH * fed.length) return [];
  return fed.filter((_, index) => {
    return isAstray(hashes.slice(PICTURES_EACH * index, PICTURES_EACH * (index + 1)));
  });
}

type Change = (slice: Buffer) => Buffer;
const asItIs: Change = (slice) => slice;
const CHANGES: readonly Change[] = [
  asItIs,
  asItIs,
  (slice) => slice.subarray(0, Math.max(MIN_SLICE_BYTES / 2, Math.floor(slice.length * READ_SHARE))),
  ...OTHER_ENDS.map(
    (pattern): Change =>
      (slice) =>
        withOtherEnd(slice, pattern),
  ),
  ...TAILS.map(
    (tail): Change =>
      (slice) =>
        Buffer.concat([slice, tail]),
  ),
  asItIs,
];

/** Judges the pictures of one suspect, in pairs of the key picture and a variant (in either order). */
function isAstray(hashes: readonly string[]): boolean {
  const pairs = Array.from({ length: hashes.length / 2 }, (_, at) => hashes.slice(2 * at, 2 * at + 2));
  const keys = (pairs[0] ?? []).filter((hash) => pairs.every((pair) => pair.includes(hash)));
  const [key] = keys;
  // Without one key picture that came out alike every time nothing here means anything.
  if (key === undefined || keys.length > 1) return false;
  const [whole, again, stump, ...others] = pairs.map((pair) => pair.find((hash) => hash !== key) ?? key);
  const atLast = others.pop();
  if (whole === key || whole !== again || stump === whole) return false;
  const endsEarly = others.slice(0, OTHER_ENDS.length).every((hash) => hash === whole);
  // Motion of a missing reference is not always the same: then a change tells nothing.
  const endsLate = atLast === whole && others.slice(OTHER_ENDS.length).every((hash) => hash !== whole);
  return endsEarly || endsLate;
}

/** A slice up to its last byte of data; zero words behind it (cabac_zero_words, 7.3.2.12) are left out. */
function dataOf(slice: Buffer): Buffer {
  let end = slice.length;
  while (end > 0 && (slice[end - 1] === 0 || (slice[end - 1] === 3 && slice[end - 2] === 0))) end -= 1;
  return slice.subarray(0, end);
}

/** A slice whose last bytes hold a pattern, each different from what stood there; its end mark stays. */
function withOtherEnd(slice: Buffer, pattern: number): Buffer {
  const data = Buffer.from(slice);
  for (let at = Math.max(0, data.length - END_BYTES); at < data.length - 1; at += 1) {
    data[at] = data[at] === pattern ? pattern ^ 0x24 : pattern;
  }
  return data;
}

const annexB = (units: readonly Buffer[]) => Buffer.concat(units.flatMap((slice) => [START_CODE, slice]));
const unit = (slices: readonly Buffer[]) => Buffer.concat([DELIMITER, annexB(slices)]);
