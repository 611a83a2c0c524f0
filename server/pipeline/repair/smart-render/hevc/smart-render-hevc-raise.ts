import path from 'node:path';
import { joinSample } from '#server/media/h264/nal.ts';
import { baseSlices } from '#server/media/hevc/hevc-nal.ts';
import {
  countsForOrder,
  createOrderReader,
  readHevcSets,
  type HevcSets,
} from '#server/media/hevc/hevc-references.ts';
import { scaleOrders } from '#server/media/hevc/scale-orders.ts';
import { otherShares } from '#server/media/hevc/vector-shares.ts';
import { writeFully, type ByteRange } from '#server/media/mp4/file-bytes.ts';
import type { RunOptions } from '#server/media/ffmpeg/run-ffmpeg.ts';
import { areToldByLowBits, wrapped } from '#server/media/order-count.ts';
import { hashClip } from '../smart-render-hashes.ts';
import {
  factorFor,
  groupsAround,
  holesOf,
  MOST_RECOUNTED,
  type CountedPlace,
} from '../smart-render-holes.ts';
import { spoolFrom } from '../smart-render-encoder.ts';
import { writeTrialPart, type Part } from '../smart-render-part.ts';
import { firstAlike, type RaisedClip, type Roomless, type Written } from '../smart-render-raised.ts';
import type { CountedClip } from '../smart-render-room.ts';
import { withReplacedHevc, type HevcSource } from './smart-render-hevc-source.ts';
import { isUnfit } from '../../unfit.ts';

export interface HevcRaiseInput extends Roomless<HevcSource>, Pick<RunOptions, 'tools' | 'signal'> {
  readonly workDir: string;
  readonly pixelFormat: string;
}

/** A picture in its group. */
interface Counted extends CountedPlace {
  readonly units: readonly Buffer[];
  /** Whether later counts derive from its own. */
  readonly isCountedFrom: boolean;
  /** Distances in order counts to the pictures that it may refer to. */
  readonly distances: readonly number[];
}

/**
 * Makes room in the order counts of HEVC pictures for some that their encoder never counted. All counts between two
 * restarts are multiplied, and so are the distances to references, so that vectors scale by the same ratios. The
 * pictures must decode to exactly the same samples as before.
 * @returns null if that fails
 * @throws MediaToolError when ffmpeg fails or the run is cancelled
 */
export async function multiplyCounts(input: HevcRaiseInput): Promise<RaisedClip<HevcSource> | null> {
  const { source, order, uncounted } = input;
  const moved = new Map<number, ByteRange>();
  const take = spoolFrom(0);
  try {
    const sets = readHevcSets(source.parameterSets);
    for (const part of await groupsWith(source, uncounted)) {
      const group = part.end - part.from > MOST_RECOUNTED ? null : await readGroup(input, part);
      const holes = group && holesOf(group, order, source.vacant ?? new Set());
      const { pocBits } = [...sets.sps.values()][0] ?? { pocBits: 0 };
      if (!group || !holes) return null;
      const found = await firstAlike(
        factorsFor(group, factorFor(holes), 2 ** pocBits),
        (times) => writeGroup(input, group, sets, times, take),
        (written) => hashesOf(input, part, written),
      );
      if (!found) return null;
      for (const [sample, bytes] of found.written) moved.set(sample, bytes);
    }
  } catch (error) {
    if (isUnfit(error)) return null;
    throw error;
  }
  return { source: withReplacedHevc(source, moved), moved };
}

/** The facts of an HEVC clip that tell whether its order counts leave room. */
export function countedClip(source: HevcSource): CountedClip {
  const { samples, shownEdit, parameterSets } = source;
  const sets = readHevcSets(parameterSets);
  const { pocBits } = [...sets.sps.values()][0] ?? { pocBits: 0 };
  const range = 2 ** pocBits;
  return {
    samples,
    shownEdit,
    sps: { pocType: 0, pocBits },
    async head(sample) {
      const [slice, ...others] = await slicesOf(source, sample);
      const read = createOrderReader(parameterSets);
      const picture = slice && read?.(slice, others.length === 0);
      return picture ? { idr: picture.restarts, pocLsb: wrapped(picture.order, range) } : null;
    },
  };
}

async function slicesOf(source: HevcSource, sample: number): Promise<Buffer[]> {
  return baseSlices(await unitsOf(source, sample));
}

/** None for a lost or damaged sample. */
async function unitsOf(source: HevcSource, sample: number): Promise<Buffer[]> {
  try {
    return source.vacant?.has(sample) ? [] : await source.units(sample);
  } catch (error) {
    if (isUnfit(error)) return [];
    throw error;
  }
}

/** The groups, from one restart of the counts to the next, that contain some samples. */
async function groupsWith(source: HevcSource, samples: readonly number[]): Promise<Part[]> {
  const read = createOrderReader(source.parameterSets);
  const starts: number[] = [];
  for (const [sample, { sync }] of source.samples.entries()) {
    const [slice] = sync ? await slicesOf(source, sample) : [];
    if (sample === 0 || (slice && read?.(slice, false)?.restarts)) starts.push(sample);
  }
  return groupsAround(samples, starts, source.samples.length);
}

async function readGroup({ source, order }: HevcRaiseInput, { from, end }: Part): Promise<Counted[] | null> {
  const read = createOrderReader(source.parameterSets);
  if (!read) return null;
  const group: Counted[] = [];
  for (let sample = from; sample < end; sample += 1) {
    const units = await unitsOf(source, sample);
    const [slice, ...others] = baseSlices(units);
    const picture = slice ? read(slice, others.length === 0) : null;
    const isCountedFrom = slice !== undefined && picture !== null && countsForOrder(slice);
    const place = order.placeOf[sample] ?? 0;
    const count = picture?.order ?? null;
    const distances = (picture?.refersTo ?? picture?.holds ?? []).map((other) => other - (count ?? 0));
    group.push({ sample, place, units, count, isCountedFrom, distances });
  }
  return group;
}

/** Most factors that are tried, and how far they exceed the least one. */
const MOST_TRIES = 3;
const FARTHEST = 12;

/** Factors by which all counts may be multiplied; those that can change the fewest vectors come first. */
function factorsFor(group: readonly Counted[], least: number, range: number): number[] {
  const all = Array.from({ length: FARTHEST }, (_, at) => least + at);
  const told = all.filter((times) => areTold(group, times, range));
  const distances = group.flatMap((one) => one.distances);
  const changes = new Map(told.map((times) => [times, otherShares(distances, times)]));
  return told.sort((a, b) => (changes.get(a) ?? 0) - (changes.get(b) ?? 0)).slice(0, MOST_TRIES);
}

/** Whether a decoder can derive the multiplied counts from their low bits. */
const areTold = (group: readonly Counted[], times: number, range: number): boolean =>
  areToldByLowBits(
    group.map(({ count, isCountedFrom }, at) => ({
      count: count === null ? null : count * times,
      isCountedFrom,
      restarts: at === 0,
    })),
    range,
  );

async function writeGroup(
  { source, spool }: HevcRaiseInput,
  group: readonly Counted[],
  sets: HevcSets,
  times: number,
  take: (bytes: number) => number,
): Promise<Written> {
  const written = new Map<number, ByteRange>();
  for (const { sample, count, units } of group) {
    if (count === null) continue;
    const bytes = joinSample(scaleOrders(units, sets, count, times), source.lengthSize);
    const offset = take(bytes.length);
    await writeFully(spool, bytes, offset);
    written.set(sample, { file: spool, offset, sizeBytes: bytes.length });
  }
  return written;
}

/** Hashes of the pictures of a group in which some samples have other bytes. */
async function hashesOf(
  { source, order, workDir, pixelFormat, tools, signal }: HevcRaiseInput,
  part: Part,
  replaced: Written,
): Promise<string[]> {
  const outputPath = path.join(workDir, 'raised.mp4');
  const coded = new Map([...replaced].map(([sample, bytes]) => [sample, { bytes }]));
  await writeTrialPart({ source, order, part, coded, entry: source.entry.bytes, outputPath, signal });
  const label = 'decode pictures with other order counts';
  const onLine = () => {};
  return hashClip(outputPath, { label, pixelFormat, codec: 'hevc', tools, signal, onLine });
}
