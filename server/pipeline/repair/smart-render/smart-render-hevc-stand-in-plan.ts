import { HevcError } from '#server/media/hevc/hevc-error.ts';
import { H264Error } from '#server/media/h264/h264-error.ts';
import type { CodingSps } from '#server/media/hevc/hevc-coding-sets.ts';
import { hevcLayer, isHevcSlice, isSubLayerNonReference } from '#server/media/hevc/hevc-nal.ts';
import { createOrderReader, type OrderedPicture } from '#server/media/hevc/hevc-references.ts';
import type { IntraPlace } from '#server/media/hevc/intra-slice.ts';
import type { DisplayOrder } from '#server/media/mp4/display-order.ts';
import { readExactly } from '#server/media/mp4/file-bytes.ts';
import { Mp4Error } from '#server/media/mp4/mp4-error.ts';
import type { ChangedSpan, PictureEdit, PixelSource } from '../picture-edit.ts';
import type { HevcSource } from './smart-render-hevc-source.ts';
import type { Cut, Segment } from './smart-render-plan.ts';

/** One coded picture that is exchanged alone. */
export interface HevcStandIn {
  readonly sample: number;
  /** `original` numbers are places in display order, hidden pictures counted. */
  readonly pixels: PixelSource;
  /** The two bytes in front of its slices. */
  readonly nalHead: Buffer;
}

export interface HevcCandidate {
  readonly span: ChangedSpan;
  readonly standIns: readonly HevcStandIn[];
}

/** Pictures exchanged alone that are decoded from the same key picture on. */
export interface StandInGroup {
  readonly candidates: readonly HevcCandidate[];
  readonly start: Cut;
  /** One past the last sample that may notice them, decode order. */
  readonly endSample: number;
}

/** More pictures than this in one span are cheaper and smaller as one encoded stretch. */
const MAX_STAND_INS = 12;

/** The spans that only exchange pictures to which, by their type, no other of their sub-layer refers. */
export async function findHevcCandidates(
  source: HevcSource,
  order: DisplayOrder,
  edit: PictureEdit,
): Promise<HevcCandidate[]> {
  const candidates: HevcCandidate[] = [];
  let shift = 0;
  for (const span of edit) {
    const standIns = await toStandIns(source, order, span, shift);
    if (standIns) candidates.push({ span, standIns });
    shift += span.shiftAfterTicks;
  }
  return candidates;
}

async function toStandIns(
  source: HevcSource,
  order: DisplayOrder,
  { firstFrame, endFrame, pictures, shiftAfterTicks }: ChangedSpan,
  shift: number,
): Promise<HevcStandIn[] | null> {
  const count = endFrame - firstFrame;
  if (count === 0 || count > MAX_STAND_INS || pictures.length !== count || shiftAfterTicks !== 0) return null;
  const standIns: HevcStandIn[] = [];
  for (const [index, { ptsTicks, pixels }] of pictures.entries()) {
    const sample = order.samples[firstFrame + index + order.firstShown];
    const old = sample === undefined ? undefined : source.samples[sample];
    if (sample === undefined || !old || old.sync) return null;
    if (ptsTicks - source.shownEdit.offsetTicks !== old.pts + shift) return null;
    const nalHead = await sliceHead(source, sample);
    if (!nalHead || hevcLayer(nalHead) > 0 || !isSubLayerNonReference(nalHead)) return null;
    const isOriginal = pixels.kind === 'original';
    standIns.push({
      sample,
      pixels: isOriginal ? { kind: 'original', frame: pixels.frame + order.firstShown } : pixels,
      nalHead,
    });
  }
  return standIns;
}

/** The first two bytes of the first slice of a sample, however damaged the rest is; null where there is none. */
async function sliceHead(source: HevcSource, sample: number): Promise<Buffer | null> {
  const found = source.samples[sample];
  if (!found) return null;
  const bytes = await readExactly(source.file, found.offset, found.sizeBytes);
  for (let at = 0; at + source.lengthSize + 2 <= bytes.length;) {
    const length = bytes.readUIntBE(at, source.lengthSize);
    const unit = bytes.subarray(at + source.lengthSize);
    if (length >= 2 && isHevcSlice(unit)) return unit.subarray(0, 2);
    at += source.lengthSize + length;
  }
  return null;
}

/** Which pictures a stretch that is encoded anyway takes in. */
export function isCovered({ standIns }: HevcCandidate, segments: readonly Segment[]): boolean {
  return standIns.some(({ sample }) =>
    segments.some(
      ({ firstSample, endSample, leaning }) =>
        (sample >= firstSample && sample < endSample) || leaning.includes(sample),
    ),
  );
}

/** Candidates by the key picture that they are decoded from, up to the next one or the next stretch that is encoded anew. */
export function toGroups(
  source: HevcSource,
  order: DisplayOrder,
  cuts: readonly Cut[],
  candidates: readonly HevcCandidate[],
  segments: readonly Segment[],
): StandInGroup[] {
  const byStart = new Map<Cut, HevcCandidate[]>();
  for (const candidate of candidates) {
    const place = candidate.span.firstFrame + order.firstShown;
    const start = cuts.findLast((cut) => cut.place <= place);
    if (start) byStart.set(start, [...(byStart.get(start) ?? []), candidate]);
  }
  return [...byStart].map(([start, own]) => {
    const last = Math.max(...own.flatMap(({ standIns }) => standIns.map(({ sample }) => sample)));
    const nextKey = source.samples.findIndex(({ sync }, sample) => sync && sample > last);
    const ends = segments.flatMap(({ firstSample }) => (firstSample > last ? [firstSample] : []));
    const endSample = Math.min(nextKey < 0 ? source.samples.length : nextKey, ...ends);
    return { candidates: own, start, endSample };
  });
}

/**
 * Order counts of the pictures of a group, and what must be held for later ones, told by the pictures around them: their
 * own headers may be damaged. Only their order matters, as nobody refers to them.
 * @returns one for each, in the order of the candidates; null where the pictures around do not tell it
 */
export async function placeStandIns(
  source: HevcSource,
  order: DisplayOrder,
  sps: CodingSps,
  { candidates, start, endSample }: StandInGroup,
): Promise<IntraPlace[] | null> {
  const standIns = candidates.flatMap((candidate) => candidate.standIns);
  const lost = new Set(standIns.map(({ sample }) => sample));
  const known = await readOrders(source, lost, start.sample, endSample);
  if (!known) return null;
  const atPlace = new Map([...known].map(([sample, picture]) => [order.placeOf[sample] ?? 0, picture.order]));
  const firstPlace = Math.min(...atPlace.keys());
  const lastPlace = Math.max(...atPlace.keys());
  const orderAt = (place: number): number | null => {
    let [left, right] = [place - 1, place + 1];
    while (left >= firstPlace && !atPlace.has(left)) left -= 1;
    while (right <= lastPlace && !atPlace.has(right)) right += 1;
    const [before, behind] = [atPlace.get(left), atPlace.get(right)];
    if (before === undefined) return behind === undefined ? null : behind - (right - place);
    if (behind === undefined) return before + (place - left);
    if (behind - before < right - left) return null;
    return before + Math.floor(((place - left) * (behind - before)) / (right - left));
  };
  const places: IntraPlace[] = [];
  for (const { sample, nalHead } of standIns) {
    const own = orderAt(order.placeOf[sample] ?? 0);
    const next = [...known].find(([other]) => other > sample)?.[1];
    if (own === null || next?.holds === null) return null;
    const earlier = new Set(
      [...known].flatMap(([other, picture]) => (other < sample ? [picture.order] : [])),
    );
    const held = (next?.holds ?? []).filter((count) => earlier.has(count)).map((count) => count - own);
    if (held.includes(0)) return null;
    const range = 2 ** sps.pocBits;
    places.push({ nalHead, pocLsb: ((own % range) + range) % range, held });
  }
  return places;
}

/** By sample, from the start up to the one behind the end; null where order counts start anew between. */
async function readOrders(
  source: HevcSource,
  lost: ReadonlySet<number>,
  start: number,
  end: number,
): Promise<Map<number, OrderedPicture> | null> {
  const read = createOrderReader(source.parameterSets);
  if (!read) return null;
  const known = new Map<number, OrderedPicture>();
  for (let sample = start; sample <= end && sample < source.samples.length; sample += 1) {
    if (lost.has(sample)) continue;
    const slice = await firstSlice(source, sample);
    const picture = slice && read(slice, false);
    if (picture?.restarts && sample > start) return sample === end ? known : null;
    if (picture) known.set(sample, picture);
  }
  return known;
}

async function firstSlice(source: HevcSource, sample: number): Promise<Buffer | null> {
  try {
    return (await source.units(sample)).find((unit) => isHevcSlice(unit) && hevcLayer(unit) === 0) ?? null;
  } catch (error) {
    // A damaged sample tells nothing of those around it.
    if (error instanceof Mp4Error || error instanceof H264Error || error instanceof HevcError) return null;
    throw error;
  }
}
