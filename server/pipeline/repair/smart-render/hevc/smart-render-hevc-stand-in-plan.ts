import {
  HEVC_NAL,
  hevcLayer,
  hevcNalType,
  isHevcSlice,
  isSubLayerNonReference,
} from '#server/media/hevc/hevc-nal.ts';
import type { DisplayOrder } from '#server/media/mp4/display-order.ts';
import { readExactly } from '#server/media/mp4/file-bytes.ts';
import type { ChangedSpan, NewPicture, PictureEdit, PixelSource } from '../../picture-edit.ts';
import type { HevcSource } from './smart-render-hevc-source.ts';
import {
  isInStretch,
  cleanStarts,
  planSegments,
  type Cut,
  type PlanInput,
  type Segment,
} from '../smart-render-plan.ts';

/** One coded picture that is exchanged alone. */
export interface HevcStandIn {
  readonly sample: number;
  /** `original` numbers are places in display order, counting hidden pictures. */
  readonly pixels: PixelSource;
  /** The two header bytes before its slices. */
  readonly nalHead: Buffer;
}

export interface HevcCandidate {
  readonly span: ChangedSpan;
  readonly standIns: readonly HevcStandIn[];
  /** Intact samples of the span that keep their data; they show damage of exchanged pictures at most. */
  readonly staying: readonly number[];
  /** Whether others may refer to one of them; these are then exchanged or encoded again as well. */
  readonly isReferred: boolean;
}

/** Pictures exchanged alone that are decoded from the same key picture on. */
export interface StandInGroup {
  readonly candidates: readonly HevcCandidate[];
  readonly start: Cut;
  /** One past the last sample that they may affect, decode order. */
  readonly endSample: number;
}

/** With more new pictures in one span, an encoded stretch is cheaper and smaller. */
const MAX_STAND_INS = 24;
/** Up to this many are exchanged alone even if a stretch would include no other picture. */
const FEW = 4;

/**
 * Splits spans of an edit where a stretch could begin without an undamaged picture. What is shown before that may be
 * exchanged alone, and what is shown after it encoded again.
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
 * Spans that exchange a few pictures, no key pictures, for others at the same times. They are short, or a stretch would
 * include others, undamaged ones or ones with intact data.
 */
export async function findHevcCandidates(source: HevcSource, input: PlanInput): Promise<HevcCandidate[]> {
  const candidates: HevcCandidate[] = [];
  let shift = 0;
  for (const span of input.edit) {
    const found = await toCandidate(source, input.order, span, { shift, keepsWhole: true });
    const isCheap = found && (found.standIns.length <= FEW || found.staying.length > 0);
    if (found && (isCheap || takesOthers(input, span))) candidates.push(found);
    shift += span.shiftAfterTicks;
  }
  return candidates;
}

/**
 * Candidates whose intact pictures could not keep their data, with these exchanged as well. A few pictures that refer
 * to a lost one would otherwise take the rest of their group with them.
 * @param input same as for `findHevcCandidates`
 */
export async function exchangedWhole(
  source: HevcSource,
  input: PlanInput,
  candidates: readonly HevcCandidate[],
): Promise<HevcCandidate[]> {
  const made: HevcCandidate[] = [];
  let shift = 0;
  for (const span of input.edit) {
    const isOne = candidates.some((one) => one.span === span && one.staying.length > 0);
    if (isOne && takesOthers(input, span)) {
      const whole = await toCandidate(source, input.order, span, { shift, keepsWhole: false });
      if (whole) made.push(whole);
    }
    shift += span.shiftAfterTicks;
  }
  return made;
}

/** Whether encoding a span again would include other pictures. */
function takesOthers(input: PlanInput, span: ChangedSpan): boolean {
  const plan = planSegments({ ...input, edit: [span] });
  const changed = span.endFrame - span.firstFrame;
  return !plan.ok || plan.segments.some(({ firstPlace, endPlace }) => endPlace - firstPlace > changed);
}

async function toCandidate(
  source: HevcSource,
  order: DisplayOrder,
  span: ChangedSpan,
  { shift, keepsWhole }: { readonly shift: number; readonly keepsWhole: boolean },
): Promise<HevcCandidate | null> {
  const { firstFrame, endFrame, pictures, shiftAfterTicks } = span;
  const count = endFrame - firstFrame;
  if (count === 0 || pictures.length !== count || shiftAfterTicks !== 0) return null;
  // They refer to damaged hidden pictures and stay as they are.
  if (span.hiddenFrames !== undefined) return null;
  const isInPlace = ({ pixels }: NewPicture, index: number) =>
    pixels.kind === 'original' && pixels.frame === firstFrame + index;
  const isIntact = (picture: NewPicture, index: number) =>
    isInPlace(picture, index) && picture.pixels.kind === 'original' && picture.pixels.intact === true;
  const isExchange = pictures.every((picture, at) => picture.pixels.kind === 'raw' || isInPlace(picture, at));
  const standIns: HevcStandIn[] = [];
  const staying: number[] = [];
  for (const [index, picture] of pictures.entries()) {
    const { ptsTicks, pixels } = picture;
    const sample = order.samples[firstFrame + index + order.firstShown];
    const old = sample === undefined ? undefined : source.samples[sample];
    if (sample === undefined || !old) return null;
    if (ptsTicks - source.shownEdit.offsetTicks !== old.pts + shift) return null;
    const isOriginal = pixels.kind === 'original';
    if (keepsWhole && isExchange && isIntact(picture, index)) {
      staying.push(sample);
      continue;
    }
    if (old.sync || standIns.length === MAX_STAND_INS) return null;
    const own = await sliceHead(source, sample);
    // Noise in place of a picture may begin with anything.
    const nalHead = own && isPlainHead(own) ? own : await lostHead(source, order, sample);
    if (!nalHead || !isPlainHead(nalHead)) return null;
    standIns.push({
      sample,
      pixels: isOriginal ? { kind: 'original', frame: pixels.frame + order.firstShown } : pixels,
      nalHead,
    });
  }
  const isReferred = standIns.some(({ nalHead }) => !isSubLayerNonReference(nalHead));
  return { span, standIns, staying, isReferred };
}

/**
 * Trailing and leading pictures of the base layer (ITU-T H.265, table 7-1); the types up to key pictures are reserved.
 */
const LAST_PLAIN = 9;

const isPlainHead = (head: Buffer): boolean =>
  hevcLayer(head) === 0 && hevcNalType(head) <= LAST_PLAIN && ((head[1] ?? 0) & 7) > 0;

/** The first two bytes of the first slice of a sample, however damaged the rest is; null if there is none. */
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

/** Pictures on each side, decode order, that tell how a lost one is coded. */
const NEAR = 8;

/**
 * A slice header start for a picture of which nothing is left. It marks a picture that others may refer to, because
 * they might, and one that trails or leads its key picture as its neighbours do (ITU-T H.265, 7.4.2.2).
 * @returns null for a leading picture whose kind no neighbour tells
 */
async function lostHead(
  source: HevcSource,
  { placeOf }: DisplayOrder,
  sample: number,
): Promise<Buffer | null> {
  const keyOf = (one: number) => source.samples.findLastIndex(({ sync }, at) => sync && at <= one);
  const key = keyOf(sample);
  const leads = (one: number) => (placeOf[one] ?? 0) < (placeOf[key] ?? 0);
  if (!leads(sample)) return Buffer.from([HEVC_NAL.trailR << 1, LOWEST_SUB_LAYER]);
  for (let away = 1; away <= NEAR; away += 1) {
    for (const other of [sample - away, sample + away]) {
      if (other <= key || keyOf(other) !== key || !leads(other)) continue;
      const type = hevcNalType((await sliceHead(source, other)) ?? Buffer.alloc(0));
      const reference = type | 1;
      if (reference === HEVC_NAL.radlR || reference === HEVC_NAL.raslR) {
        return Buffer.from([reference << 1, LOWEST_SUB_LAYER]);
      }
    }
  }
  return null;
}

/** nuh_temporal_id_plus1 of pictures that all sub-layers may refer to. */
const LOWEST_SUB_LAYER = 1;

/**
 * Least score of rebuilt pictures that others may refer to, dB; of 12 clips, those at 36 to 54 gained and those at 21
 * to 22 lost.
 */
const REFERENCE_DB = 33;

/**
 * Whether pictures that keep their data may refer to the new pictures of a candidate; they were coded for the true
 * ones. A picture encoded from the decoder's view of damage is worse than the damaged data, which also hold its motion.
 */
export function isGoodReference({ span, standIns, isReferred }: HevcCandidate): boolean {
  if (!isReferred) return true;
  return (span.scoredDb ?? 0) >= REFERENCE_DB && standIns.every(({ pixels }) => pixels.kind === 'raw');
}

/**
 * Splits a group into damaged pictures that stay as decoded, which can be concealed, and rebuilt pictures that no other
 * refers to. A fault of one kind must not prevent the repair of the other.
 * @returns none to conceal if one candidate needs both, or if rebuilt pictures are referred to
 */
export function partByKind(
  group: StandInGroup,
  { placeOf }: Pick<DisplayOrder, 'placeOf'>,
): { readonly concealed: StandInGroup; readonly rebuilt: StandInGroup } {
  const isTorn = ({ standIns }: HevcCandidate) =>
    standIns.every(({ sample, pixels }) => pixels.kind === 'original' && pixels.frame === placeOf[sample]);
  const isRebuilt = ({ standIns, staying }: HevcCandidate) =>
    staying.length === 0 && standIns.every(({ pixels }) => pixels.kind === 'raw');
  const of = (candidates: readonly HevcCandidate[]) => ({ ...group, candidates });
  const torn = group.candidates.filter(isTorn);
  const rebuilt = group.candidates.filter((one) => !torn.includes(one));
  return rebuilt.every(isRebuilt)
    ? { concealed: of(torn), rebuilt: of(rebuilt) }
    : { concealed: of([]), rebuilt: of(group.candidates) };
}

const samplesOf = ({ standIns, staying }: HevcCandidate): number[] => [
  ...standIns.map(({ sample }) => sample),
  ...staying,
];

/** Whether a stretch that is encoded anyway includes a candidate. */
export function isCovered(candidate: HevcCandidate, segments: readonly Segment[]): boolean {
  return samplesOf(candidate).some((sample) => segments.some((segment) => isInStretch(segment, sample)));
}

/**
 * Candidates by the key picture that they are decoded from, up to the next one or the next stretch that is encoded
 * again.
 */
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
    const last = Math.max(...own.flatMap(samplesOf));
    const nextKey = source.samples.findIndex(({ sync }, sample) => sync && sample > last);
    const ends = segments.flatMap(({ firstSample }) => (firstSample > last ? [firstSample] : []));
    const behind = nextKey < 0 ? source.samples.length : behindLeading(source, order, cuts, nextKey);
    const endSample = Math.min(behind, ...ends);
    return { candidates: own, start, endSample };
  });
}

/**
 * One past the pictures that follow a key picture but are shown before it, and may refer to pictures before both (ITU-T
 * H.265, 7.4.2.2); the key picture itself if there are none.
 */
function behindLeading(
  { samples }: Pick<HevcSource, 'samples'>,
  order: DisplayOrder,
  cuts: readonly Cut[],
  key: number,
): number {
  const cut = cuts.find(({ sample }) => sample === key);
  if (cut) return cut.leaning.length === 0 ? key : Math.max(...cut.leaning) + 1;
  const isLeading = (sample: number) => (order.placeOf[sample] ?? 0) < (order.placeOf[key] ?? 0);
  let end = key + 1;
  while (end < samples.length && isLeading(end)) end += 1;
  return end === key + 1 ? key : end;
}
