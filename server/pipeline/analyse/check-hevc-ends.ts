import { open, type FileHandle } from 'node:fs/promises';
import { H264Error } from '#server/media/h264/h264-error.ts';
import { splitSample } from '#server/media/h264/nal.ts';
import { isHevcParameterSet, isHevcSlice } from '#server/media/hevc/hevc-nal.ts';
import { readUpTo } from '#server/media/mp4/file-bytes.ts';
import { findVideoTrack, readMovie } from '#server/media/mp4/movie.ts';
import { Mp4Error } from '#server/media/mp4/mp4-error.ts';
import { readHevcConfig } from '#server/media/mp4/sample-entry.ts';
import type { SliceEndInput } from './check-slice-ends.ts';
import {
  annexB,
  dataOf,
  hashPlan,
  judgePictures,
  MIN_SLICE_BYTES,
  OTHER_ENDS,
  stumpOf,
  type Variants,
  withOtherEnd,
} from './slice-variants.ts';

const END_BYTES = 16;
/** Put behind the last byte of a slice, where a whole one is never read. */
const TAIL = Buffer.from([0x5b, 0xe7, 0x96, 0x3a, 0xc5, 0x5b, 0xe7, 0x96, 0x3a, 0xc5, 0x5b, 0xe7]);
const TAILS = [TAIL, Buffer.from([...TAIL].reverse())];
/** Pictures decoded for one suspect: twice as it is, its stump, with other ends, with more behind, and as it is again; a key picture before each. */
const PICTURES_EACH = 2 * (4 + OTHER_ENDS.length + TAILS.length);

/** Access unit delimiter for any kind of picture (ITU-T H.265, 7.3.2.5). */
const DELIMITER = Buffer.from([0, 0, 0, 1, 0x46, 0x01, 0x50]);

const PLAN = hashPlan('check the ends of slices', 'hevc', ['-threads', '1', '-skip_loop_filter', 'all']);

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
  return judgePictures(PLAN, input, variants(), { suspects: fed, each: PICTURES_EACH, judge: isAstray });
}

type Change = (slice: Buffer) => Buffer;
const asItIs: Change = (slice) => slice;
const CHANGES: readonly Change[] = [
  asItIs,
  asItIs,
  stumpOf,
  ...OTHER_ENDS.map(
    (pattern): Change =>
      (slice) =>
        // The mark of the end stays.
        withOtherEnd(slice, pattern, END_BYTES, 1),
  ),
  ...TAILS.map(
    (tail): Change =>
      (slice) =>
        Buffer.concat([slice, tail]),
  ),
  asItIs,
];

function isAstray({ key, pictures }: Variants): boolean {
  const [whole, again, stump, ...others] = pictures;
  const atLast = others.pop();
  if (whole === key || whole !== again || stump === whole) return false;
  const endsEarly = others.slice(0, OTHER_ENDS.length).every((hash) => hash === whole);
  // Motion of a missing reference is not always the same: then a change tells nothing.
  const endsLate = atLast === whole && others.slice(OTHER_ENDS.length).every((hash) => hash !== whole);
  return endsEarly || endsLate;
}

const unit = (slices: readonly Buffer[]) => Buffer.concat([DELIMITER, annexB(slices)]);
