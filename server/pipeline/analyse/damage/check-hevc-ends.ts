import { open, type FileHandle } from 'node:fs/promises';
import { H264Error } from '#server/media/h264/h264-error.ts';
import { annexB, splitSample } from '#server/media/h264/nal.ts';
import { HEVC_NAL, hevcNalType, isHevcParameterSet, isHevcSlice } from '#server/media/hevc/hevc-nal.ts';
import { readUpTo } from '#server/media/mp4/file-bytes.ts';
import { Mp4Error } from '#server/media/mp4/mp4-error.ts';
import { shared, sideBySide } from '#server/media/side-by-side.ts';
import { isToolFailure } from '#server/media/ffmpeg/tools.ts';
import type { SliceEndInput } from './check-slice-ends.ts';
import { readHevcSettings } from './read-hevc-settings.ts';
import { dataOf, hashPictures, hashPlan, OTHER_ENDS, stumpOf, withOtherEnd } from './slice-variants.ts';

const END_BYTES = 16;
/** Shorter slices are left out, because a changed one proves nothing. */
const MIN_HEVC_SLICE_BYTES = 40;
/** Put after the last byte of a slice; the decoder of an intact slice never reads it. */
const TAIL = Buffer.from([0x5b, 0xe7, 0x96, 0x3a, 0xc5, 0x5b, 0xe7, 0x96, 0x3a, 0xc5, 0x5b, 0xe7]);
const TAILS = [TAIL, Buffer.from([...TAIL].reverse())];
/** Access unit delimiter for any kind of picture (ITU-T H.265, 7.3.2.5). */
const DELIMITER = Buffer.from([0, 0, 0, 1, 0x46, 0x01, 0x50]);

// From version 8 on, ffmpeg only decodes pictures with missing references when told to.
const OPTIONS = '-threads 1 -skip_loop_filter all -flags +output_corrupt'.split(' ');
const PLAN = hashPlan('check the ends of slices', 'hevc', OPTIONS);

/** End of sequence (ITU-T H.265, 7.3.2.6): what follows is decoded as the beginning of a stream. */
const END = Buffer.from([0, 0, 0, 1, 0x48, 0x01]);
/**
 * Black pictures of 16 x 16, each a stream of its own. When data run out, a decoder shows what an earlier picture left
 * in its memory. Another picture size makes it start with empty memory, so that the next picture depends on its own
 * data alone.
 *
 * The parameter sets and the second picture were made by `ffmpeg -f lavfi -i color=black:s=16x16 -frames:v 1 -c:v
 * libx265 -x265-params info=0:repeat-headers=1:wpp=0:log2-max-poc-lsb=16 -f hevc`. The first picture is the same with
 * type BLA_N_LP and picture order count 50000. From version 7 on, ffmpeg invents missing references and then refuses
 * the next picture with the same count. A suspect near count 0 refers to none near 50000, and the second picture brings
 * the count back to 0.
 */
const SMALL_SETS =
  '0000000140010c01ffff01600000030090000003000003001eba02400000000142010101600000030090000003000003' +
  '001ea088458dba5bc2f0168080000003008000000c84000000014401c073c08900000001';
const FAR = Buffer.from(`${SMALL_SETS}2401af0d418760079fff0dd7`, 'hex');
const NEAR = Buffer.from(`${SMALL_SETS}2801ac76079fff0dd7`, 'hex');
const WIPE = Buffer.concat([FAR, END, NEAR]);
/** Pictures that come out for each one that goes in. */
const OUT_EACH = 3;

/**
 * Finds HEVC pictures that decode without a complaint although their data are damaged. The decoder of an intact slice
 * ends exactly where its data end (end_of_slice_segment_flag, ITU-T H.265, 9.3.2.5): changing the last bytes changes
 * the picture, and adding bytes does not. A damaged slice ends too early, so its last bytes are never read, or too
 * late, so the added bytes are read. Parsing does not depend on reference pictures, so each suspect is decoded alone:
 * three times for each slice, and eight times when the first result looks like damage.
 *
 * Of 438 pictures of five clips with 20 to 200 random bytes each, 377 were found, and of 438 intact ones none (x265,
 * one and two slices, with and without wavefronts, `checkHevcEnds` on every picture). The others are shorter than the
 * damage or got back into step.
 * @returns places in `packets`, ascending; none when the clip is no MP4 with HEVC pictures
 * @throws MediaToolError when ffmpeg cannot run or the job is cancelled
 */
export async function checkHevcEnds(input: SliceEndInput): Promise<number[]> {
  const stream = input.info.video[0];
  if (input.info.format !== 'mov' || stream?.codec !== 'hevc' || input.suspects.length === 0) return [];
  const file = await open(input.inputPath, 'r');
  try {
    const settings = await readHevcSettings(file, stream.index);
    if (!settings || settings.fragmented) return [];
    const { lengthSize, parameterSets } = settings;
    const slicesOf = createReader(input, file, lengthSize);
    const sets = annexB(parameterSets.filter(isHevcParameterSet));
    const first = await judge(input, input.suspects, {
      slicesOf,
      sets,
      changes: FIRST_CHANGES,
      isAstray: looksAstray,
    });
    return await judge(input, first, { slicesOf, sets, changes: CHANGES, isAstray });
  } catch (error) {
    if (error instanceof Mp4Error || error instanceof H264Error) return [];
    throw error;
  } finally {
    await file.close();
  }
}

type SliceReader = (packet: number) => Promise<Buffer[] | null>;

/** Reads the slices of a picture; null when it cannot be told apart from its neighbours. */
function createReader(input: SliceEndInput, file: FileHandle, lengthSize: number): SliceReader {
  return async (place) => {
    const packet = input.packets[place];
    if (!packet || packet.offsetBytes === null) return null;
    try {
      const bytes = await readUpTo(file, packet.offsetBytes, packet.sizeBytes);
      const slices = splitSample(bytes, lengthSize).filter(isHevcSlice).map(dataOf);
      return slices.length > 0 ? slices : null;
    } catch (error) {
      if (error instanceof H264Error) return null;
      throw error;
    }
  };
}

interface Trial {
  readonly slicesOf: SliceReader;
  readonly sets: Buffer;
  readonly changes: readonly Change[];
  /** Whether the hashes of pictures with one changed slice, in the order of the changes, show damage. */
  readonly isAstray: (pictures: readonly string[]) => boolean;
}

/** Most and fewest pictures that one process decodes; if one does not come out, the group is halved and tried again. */
const MOST_TOGETHER = 64;
const LEAST_TOGETHER = 8;

/** Judges all suspects; two decoders share the work when there are many. */
async function judge(input: SliceEndInput, suspects: readonly number[], trial: Trial): Promise<number[]> {
  const works = shared(suspects, MOST_TOGETHER).map((half) => async (signal: AbortSignal) => {
    const found: number[] = [];
    for (let at = 0; at < half.length; at += MOST_TOGETHER) {
      found.push(...(await judgeGroup({ ...input, signal }, half.slice(at, at + MOST_TOGETHER), trial)));
    }
    return found;
  });
  return (await sideBySide(input.signal, works)).flat();
}

async function judgeGroup(input: SliceEndInput, group: readonly number[], trial: Trial): Promise<number[]> {
  const { slicesOf, sets, changes } = trial;
  /** The packet of each slice whose variants go in. */
  const fed: number[] = [];
  async function* variants(): AsyncGenerator<Buffer> {
    for (const packet of group) {
      const slices = await slicesOf(packet);
      if (!slices) continue;
      const alone = slices.map(asFirst);
      const tried = alone.filter((slice) => slice.length >= MIN_HEVC_SLICE_BYTES);
      for (const changed of tried) {
        fed.push(packet);
        for (const change of changes) {
          const picture = alone.map((slice) => (slice === changed ? change(slice) : slice));
          yield Buffer.concat([sets, DELIMITER, annexB(picture), END, WIPE, END]);
        }
      }
    }
  }
  const all = await hashPictures(PLAN, input, variants()).catch(unlessUndecodable);
  const hashes = all.filter((_, at) => at % OUT_EACH === 0);
  const each = changes.length;
  if (all.length === OUT_EACH * each * fed.length) {
    const told = fed.filter((_, at) => trial.isAstray(hashes.slice(each * at, each * (at + 1))));
    return [...new Set(told)];
  }
  if (group.length <= LEAST_TOGETHER) return [];
  const half = group.length >> 1;
  return [
    ...(await judgeGroup(input, group.slice(0, half), trial)),
    ...(await judgeGroup(input, group.slice(half), trial)),
  ];
}

/** A decoder that ends with an error gave no pictures. */
function unlessUndecodable(error: unknown): string[] {
  if (isToolFailure(error)) return [];
  throw error;
}

/**
 * Changes a slice's type so that it may stand first in a stream. Decoders leave out leading pictures whose references
 * come earlier, and a clean random access picture after an end of sequence drops the one before it. The data read the
 * same under the other type.
 */
function asFirst(slice: Buffer): Buffer {
  const type = hevcNalType(slice);
  const trailing = {
    [HEVC_NAL.raslN]: HEVC_NAL.trailN,
    [HEVC_NAL.raslR]: HEVC_NAL.trailR,
    [HEVC_NAL.cra]: HEVC_NAL.blaWithLeading,
  }[type];
  if (trailing === undefined) return slice;
  const renamed = Buffer.from(slice);
  renamed[0] = ((slice[0] ?? 0) & 0x81) | (trailing << 1);
  return renamed;
}

type Change = (slice: Buffer) => Buffer;
const asItIs: Change = (slice) => slice;
const stump: Change = (slice) => stumpOf(slice, MIN_HEVC_SLICE_BYTES);
const OTHERS = OTHER_ENDS.map(
  (pattern): Change =>
    (slice) =>
      // The end-of-slice bits stay.
      withOtherEnd(slice, pattern, END_BYTES, 1),
);
const LONGER = TAILS.map(
  (tail): Change =>
    (slice) =>
      Buffer.concat([slice, tail]),
);
/** Enough to clear most intact slices. */
const FIRST_CHANGES: readonly Change[] = [asItIs, ...OTHERS.slice(0, 1), ...LONGER.slice(0, 1)];
const CHANGES: readonly Change[] = [asItIs, stump, asItIs, ...OTHERS, ...LONGER];

const looksAstray = ([whole, otherEnd, longer]: readonly string[]) => otherEnd === whole || longer !== whole;

function isAstray([whole, stump, again, ...others]: readonly string[]): boolean {
  // If the stump without most of the data gives the same picture, the test proves nothing; nor does it if the decoder
  // kept its memory.
  if (stump === whole || again !== whole) return false;
  const longer = others.splice(OTHERS.length);
  return others.every((hash) => hash === whole) || longer.some((hash) => hash !== whole);
}
