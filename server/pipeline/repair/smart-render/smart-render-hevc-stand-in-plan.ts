import { hevcLayer, hevcNalType, isHevcSlice, isSubLayerNonReference } from '#server/media/hevc/hevc-nal.ts';
import type { DisplayOrder } from '#server/media/mp4/display-order.ts';
import { readExactly } from '#server/media/mp4/file-bytes.ts';
import type { ChangedSpan, PictureEdit, PixelSource } from '../picture-edit.ts';
import type { HevcSource } from './smart-render-hevc-source.ts';
import { cleanStarts, planSegments, type Cut, type PlanInput, type Segment } from './smart-render-plan.ts';

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
  /** Others may refer to one of them, which then are exchanged or encoded anew as well. */
  readonly isReferred: boolean;
}

/** Pictures exchanged alone that are decoded from the same key picture on. */
export interface StandInGroup {
  readonly candidates: readonly HevcCandidate[];
  readonly start: Cut;
  /** One past the last sample that may notice them, decode order. */
  readonly endSample: number;
}

/** More pictures than this in one span are cheaper and smaller as one encoded stretch. */
const MAX_STAND_INS = 24;
/** So many are exchanged alone also where a stretch would cost no undamaged picture, as it changes a key picture behind it. */
const FEW = 4;

/**
 * The edit with spans parted where a stretch could begin without an undamaged picture: what is shown before that may
 * be exchanged alone, what is shown behind it encoded anew.
 */
export function partAtCleanStarts(order: DisplayOrder, edit: PictureEdit): PictureEdit {
  const starts = cleanStarts(order);
  return edit.flatMap((span) => {
    const { firstFrame, endFrame, pictures } = span;
    const [first, end] = [firstFrame + order.firstShown, endFrame + order.firstShown];
    const isExchange = pictures.length === end - first && span.shiftAfterTicks === 0;
    if (!isExchange || starts[first] === first) return [span];
    const at = starts.findIndex((start, place) => place > first && start === place);
    if (at < 0 || at >= end) return [span];
    return [
      { ...span, endFrame: at - order.firstShown, pictures: pictures.slice(0, at - first) },
      { ...span, firstFrame: at - order.firstShown, pictures: pictures.slice(at - first) },
    ];
  });
}

/**
 * The spans that exchange a few pictures for others at the same times, and are no key pictures: those that a stretch would take
 * undamaged pictures with, and short ones.
 */
export async function findHevcCandidates(source: HevcSource, input: PlanInput): Promise<HevcCandidate[]> {
  const candidates: HevcCandidate[] = [];
  let shift = 0;
  for (const span of input.edit) {
    const standIns = await toStandIns(source, input.order, span, shift);
    const isReferred = standIns?.some(({ nalHead }) => !isSubLayerNonReference(nalHead)) ?? false;
    const isFew = span.pictures.length <= FEW;
    if (standIns && (isFew || takesOthers(input, span))) candidates.push({ span, standIns, isReferred });
    shift += span.shiftAfterTicks;
  }
  return candidates;
}

/** Whether encoding a span anew would take other pictures with it. */
function takesOthers(input: PlanInput, span: ChangedSpan): boolean {
  const plan = planSegments({ ...input, edit: [span] });
  const changed = span.endFrame - span.firstFrame;
  return !plan.ok || plan.segments.some(({ firstPlace, endPlace }) => endPlace - firstPlace > changed);
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
    if (!nalHead || !isPlainHead(nalHead)) return null;
    const isOriginal = pixels.kind === 'original';
    standIns.push({
      sample,
      pixels: isOriginal ? { kind: 'original', frame: pixels.frame + order.firstShown } : pixels,
      nalHead,
    });
  }
  return standIns;
}

/** Trailing and leading pictures of the base layer (ITU-T H.265, table 7-1); the types between them and key pictures are reserved. */
const LAST_PLAIN = 9;

const isPlainHead = (head: Buffer): boolean =>
  hevcLayer(head) === 0 && hevcNalType(head) <= LAST_PLAIN && ((head[1] ?? 0) & 7) > 0;

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
