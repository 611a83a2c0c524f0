import path from 'node:path';
import { H264Error } from '#server/media/h264/h264-error.ts';
import { isSlice, joinSample } from '#server/media/h264/nal.ts';
import { areTold, orderCounts, withOrderCount } from '#server/media/h264/order-counts.ts';
import { readMarking } from '#server/media/h264/reference-marking.ts';
import { parseSliceHeader, type SliceHeader } from '#server/media/h264/slice-header.ts';
import { type ByteRange, writeFully } from '#server/media/mp4/file-bytes.ts';
import type { RunOptions } from '#server/media/ffmpeg/run-ffmpeg.ts';
import { wrapped } from '#server/media/order-count.ts';
import {
  factorFor,
  groupsAround,
  holesOf,
  MOST_RECOUNTED,
  type CountedPlace,
  type Hole,
} from './smart-render-holes.ts';
import { firstAlike, type RaisedClip, type Roomless, type Written } from './smart-render-raised.ts';
import { spoolFrom } from './smart-render-encoder.ts';
import { hashClip } from './smart-render-hashes.ts';
import { writeTrialClip, type Part } from './smart-render-part.ts';
import { type SmartSource, withReplaced } from './smart-render-source.ts';

export interface RaiseInput extends Roomless<SmartSource>, Pick<RunOptions, 'tools' | 'signal'> {
  readonly workDir: string;
  readonly pixelFormat: string;
}

interface Counted extends CountedPlace {
  readonly head: SliceHeader | null;
}

/**
 * Makes room in the order counts for pictures that their encoder never counted. It raises the counts of all pictures
 * shown after a hole. If B pictures across the hole are weighted by their counts, it multiplies all counts of the group
 * instead, which keeps the ratios. The groups must decode to exactly the same pictures as before.
 * @returns null if that fails
 * @throws MediaToolError when ffmpeg fails or the run is cancelled
 */
export async function raiseCounts(input: RaiseInput): Promise<RaisedClip<SmartSource> | null> {
  const { source, order, uncounted } = input;
  const { pocType, pocBits } = source.sps;
  if (pocType !== 0) return null;
  const take = spoolFrom(0);
  const moved = new Map<number, ByteRange>();
  let countStep = 1;
  for (const part of await groupsWith(source, uncounted)) {
    const group = part.end - part.from > MOST_RECOUNTED ? null : await readGroup(input, part);
    const holes = group && holesOf(group, order, source.vacant ?? new Set());
    if (!holes) return null;
    const ways = [
      { scale: 1, counts: raisedBehind(group, holes) },
      ...scalesFor(group, holes).map((scale) => ({ scale, counts: multiplied(group, scale) })),
    ];
    const heads = group.map(({ head }) => head);
    const found = await firstAlike(
      ways.filter(({ counts }) => areTold(counts, heads, pocBits)),
      ({ counts }) => writeCounts(input, group, counts, take),
      (written) => hashesOf(input, part, written),
    );
    if (!found) return null;
    countStep = Math.max(countStep, found.way.scale);
    for (const [sample, bytes] of found.written) moved.set(sample, bytes);
  }
  return { source: { ...withReplaced(source, moved, []), countStep }, moved };
}

/** The groups, from one IDR picture to the next, that contain some samples. */
async function groupsWith(source: SmartSource, samples: readonly number[]): Promise<Part[]> {
  const starts: number[] = [];
  for (const [sample, { sync }] of source.samples.entries()) {
    if (sample === 0 || (sync && (await source.head(sample))?.idr)) starts.push(sample);
  }
  return groupsAround(samples, starts, source.samples.length);
}

/** Null if the counts restart within the group. */
async function readGroup({ source, order }: RaiseInput, { from, end }: Part): Promise<Counted[] | null> {
  const { sps, pps } = source;
  const read = async (sample: number): Promise<{ head: SliceHeader; startsAnew: boolean } | null> => {
    try {
      const slice = (await source.units(sample)).find(isSlice);
      const head = slice && parseSliceHeader(slice, sps);
      const set = pps.find(({ id }) => id === head?.ppsId);
      if (!slice || !head || !set) return null;
      const { commands } = readMarking(slice, { sps, pps: set });
      return { head, startsAnew: commands.some(({ operation }) => operation === 5) };
    } catch (error) {
      if (error instanceof H264Error) return null;
      throw error;
    }
  };
  const heads: (SliceHeader | null)[] = [];
  for (let sample = from; sample < end; sample += 1) {
    const found = source.vacant?.has(sample) ? null : await read(sample);
    if (found?.startsAnew) return null;
    heads.push(found?.head ?? null);
  }
  const counts = orderCounts(heads, sps.pocBits);
  return heads.map((head, at) => {
    const sample = from + at;
    return { sample, place: order.placeOf[sample] ?? 0, head, count: counts[at] ?? null };
  });
}

function raisedBehind(group: readonly Counted[], holes: readonly Hole[]): (number | null)[] {
  return group.map(({ count, place }) => {
    const before = holes.filter(({ behind }) => behind <= place);
    const rise = before.reduce((sum, hole) => sum + Math.max(0, hole.lost + 1 - hole.rise), 0);
    return count === null ? null : count + rise;
  });
}

/**
 * Factors that make room for all pictures of a group's holes, the least first. Most encoders count frames by two, so
 * half a factor keeps counts whole. Counts of six bits, as x264 writes them, allow B pyramids a factor of up to two and
 * a half.
 */
function scalesFor(group: readonly Counted[], holes: readonly Hole[]): number[] {
  const times = factorFor(holes);
  const half = times - 0.5;
  const isRoom = holes.every(({ lost, rise }) => half * rise >= lost + 1);
  const isWhole = group.every(({ count }) => count === null || Number.isInteger(half * count));
  return isRoom && isWhole ? [half, times, times + 1] : [times, times + 1];
}

const multiplied = (group: readonly Counted[], times: number): (number | null)[] =>
  group.map(({ count }) => (count === null ? null : count * times));

/** Writes the samples whose counts change. */
async function writeCounts(
  { source, spool }: RaiseInput,
  group: readonly Counted[],
  counts: readonly (number | null)[],
  take: (bytes: number) => number,
): Promise<Written> {
  const { sps, config } = source;
  const written = new Map<number, ByteRange>();
  for (const [at, { sample, count }] of group.entries()) {
    const now = counts[at] ?? null;
    if (now === null || now === count) continue;
    const lsb = wrapped(now, 2 ** sps.pocBits);
    const units = await source.units(sample);
    const changed = units.map((unit) => (isSlice(unit) ? withOrderCount(unit, sps, lsb) : unit));
    const bytes = joinSample(changed, config.lengthSize);
    const offset = take(bytes.length);
    await writeFully(spool, bytes, offset);
    written.set(sample, { file: spool, offset, sizeBytes: bytes.length });
  }
  return written;
}

/** Hashes of the pictures of a group in which some samples have other bytes. */
async function hashesOf(
  { source, order, workDir, pixelFormat, tools, signal }: RaiseInput,
  part: Part,
  written: Written,
): Promise<string[]> {
  const outputPath = path.join(workDir, 'raised.mp4');
  const coded = new Map([...written].map(([sample, bytes]) => [sample, { bytes }]));
  await writeTrialClip({ source, order, part, replaced: { coded, pps: [] }, outputPath, signal });
  const label = 'decode pictures with other order counts';
  const onLine = () => {};
  return hashClip(outputPath, { label, pixelFormat, codec: 'h264', tools, signal, onLine });
}
