import { inferReferences } from '#server/media/h264/reference-run.ts';
import type { SliceHeader } from '#server/media/h264/slice-header.ts';
import { wrapped } from '#server/media/order-count.ts';
import type { DisplayOrder } from '#server/media/mp4/display-order.ts';
import type { SmartSource } from '../smart-render-source.ts';
import type { DamagedSample } from './smart-render-exchange-plan.ts';

/** The header numbers that the place of a damaged picture requires. */
export interface PlacedHead {
  readonly head: SliceHeader;
  /** False if the surrounding pictures do not tell whether it is a reference, so that it is only likely. */
  readonly isCertain: boolean;
}

export interface HeadPlacer {
  /** The header that a sample states itself; null if it cannot be read. */
  readonly headOf: (sample: number) => Promise<SliceHeader | null>;
  /** The header that the samples around a damaged one require; null if they do not tell. Not for key pictures. */
  readonly place: (sample: number) => Promise<PlacedHead | null>;
}

type ClipNumbers = Pick<SmartSource, 'samples' | 'sps' | 'head' | 'vacant' | 'countStep'>;

/**
 * Whether a sample is a key picture at which all numbers restart (IDR), as far as known if it is damaged. It is not if
 * pictures decoded after it are shown before it (key picture of an open group), or if its header says otherwise; if
 * that cannot be read, the nearest key pictures decide.
 */
export async function isNewStart(
  { samples, head }: Pick<SmartSource, 'samples' | 'head'>,
  { placeOf }: DisplayOrder,
  sample: number,
): Promise<boolean> {
  if (samples[sample]?.sync !== true) return false;
  const place = placeOf[sample] ?? 0;
  const behind = placeOf.slice(sample + 1, sample + 1 + MOST_LEADING);
  if (behind.some((other) => other < place)) return false;
  const own = await head(sample);
  if (own || sample === 0) return own?.idr !== false;
  for (let away = 1; away < samples.length; away += 1) {
    // The first one of a clip always restarts and says nothing about the others.
    for (const other of [sample + away, sample - away]) {
      const key = other > 0 && samples[other]?.sync === true ? await head(other) : null;
      if (key) return key.idr;
    }
  }
  return true;
}

/** Pictures after a key picture among which those shown before it are searched: as many as a decoder can hold back. */
const MOST_LEADING = 16;

/** Longest row of damaged pictures whose numbers are derived. */
const LONGEST_RUN = 64;

/**
 * Derives the numbers of damaged pictures from intact ones: frame numbers and references from those decoded before and
 * after (ITU-T H.264, 7.4.3), order counts from those shown next to them.
 * @param bad samples whose own headers must not be trusted
 */
export function createHeadPlacer(
  source: ClipNumbers,
  order: DisplayOrder,
  bad: ReadonlySet<number>,
): HeadPlacer {
  const heads = new Map<number, SliceHeader | null>();
  const headOf = async (sample: number) => {
    const known = heads.get(sample);
    if (known !== undefined) return known;
    const head = sample < 0 || sample >= source.samples.length ? null : await source.head(sample);
    heads.set(sample, head);
    return head;
  };
  const isOpen = async (sample: number) => {
    const found = source.samples[sample];
    if (found === undefined || (!bad.has(sample) && (await headOf(sample)) !== null)) return false;
    return !(await isNewStart(source, order, sample));
  };
  const place = async (sample: number): Promise<PlacedHead | null> => {
    let [first, end] = [sample, sample + 1];
    while (end - first < LONGEST_RUN && (await isOpen(first - 1))) first -= 1;
    while (end - first < LONGEST_RUN && (await isOpen(end))) end += 1;
    const before = await headOf(first - 1);
    if (!before) return null;
    const behind = await headOf(end);
    const run = await Promise.all(Array.from({ length: end - first }, (_, at) => headOf(first + at)));
    const { frameNumBits, pocType } = source.sps;
    const inferred = inferReferences(run, before, behind, frameNumBits);
    const numbers = likelyNumbers(inferred, { before, behind, first, order, range: 2 ** frameNumBits });
    const own = numbers?.[sample - first];
    const pocLsb = pocType === 0 ? await placedCount(source, order, sample, bad, headOf) : null;
    if (!own || (pocType === 0 && pocLsb === null)) return null;
    const read = run[sample - first];
    const isTrusted = read && read.frameNum === own.frameNum && read.refIdc > 0;
    const refIdc = own.isReference ? (isTrusted ? read.refIdc : 1) : 0;
    const { frameNum } = own;
    return {
      head: { idr: false, refIdc, firstMb: 0, kind: 'I', ppsId: 0, frameNum, idrPicId: null, pocLsb },
      isCertain: inferred.every(({ isReference }) => isReference !== null),
    };
  };
  return { headOf, place };
}

interface RunPlace {
  readonly before: SliceHeader;
  readonly behind: SliceHeader | null;
  readonly first: number;
  readonly order: DisplayOrder;
  readonly range: number;
}

/**
 * Numbers of a whole run. If it is open which of its pictures are references, those shown after all pictures decoded
 * before them are chosen first, then the earlier ones. Null if the numbers do not add up.
 */
function likelyNumbers(
  inferred: ReturnType<typeof inferReferences>,
  { before, behind, first, order, range }: RunPlace,
): { frameNum: number; isReference: boolean }[] | null {
  const base = before.frameNum + (before.refIdc > 0 ? 1 : 0);
  const wanted = behind && !behind.idr ? (((behind.frameNum - base) % range) + range) % range : null;
  const surely = inferred.filter(({ isReference }) => isReference === true).length;
  const open = inferred.flatMap(({ isReference }, at) => (isReference === null ? [at] : []));
  let latest = order.placeOf[first - 1] ?? 0;
  const isForward = inferred.map((_, at) => {
    const place = order.placeOf[first + at] ?? 0;
    const forward = place > latest;
    latest = Math.max(latest, place);
    return forward;
  });
  const missing = wanted === null ? open.length : wanted - surely;
  if (missing < 0 || missing > open.length) return null;
  const likely = new Set(
    [...open].sort((a, b) => Number(isForward[b]) - Number(isForward[a]) || a - b).slice(0, missing),
  );
  let references = 0;
  return inferred.map(({ isReference }, at) => {
    const frameNum = (base + references) % range;
    const own = isReference ?? likely.has(at);
    references += own ? 1 : 0;
    return { frameNum, isReference: own };
  });
}

/** Pictures on each side among which a known order count is searched. */
const NEAR = 16;

/** The order count that is as far from its neighbours' counts as the picture is from them in display order. */
async function placedCount(
  { sps, vacant, countStep = 1 }: ClipNumbers,
  order: DisplayOrder,
  sample: number,
  bad: ReadonlySet<number>,
  headOf: (sample: number) => Promise<SliceHeader | null>,
): Promise<number | null> {
  const place = order.placeOf[sample] ?? 0;
  const range = 2 ** sps.pocBits;
  const look = async (side: 1 | -1) => {
    const known: { away: number; count: number }[] = [];
    for (let away = side; Math.abs(away) <= NEAR && known.length < 2; away += side) {
      const other = order.samples[place + away];
      const head = other === undefined || bad.has(other) ? null : await headOf(other);
      // A key picture after it restarts the count.
      if (other === undefined || (side > 0 && head?.idr)) break;
      if (head && head.pocLsb !== null) known.push({ away, count: head.pocLsb });
      if (head?.idr) break;
    }
    return known;
  };
  const [left, right] = [await look(-1), await look(1)];
  const [one, other] = left[0] && right[0] ? [left[0], right[0]] : left.length > 0 ? left : right;
  if (!one) return null;
  if (!other) return wrapped(one.count - 2 * countStep * one.away, range);
  const away = other.away - one.away;
  const rise = wrapped(Math.sign(away) * (other.count - one.count), range);
  const step = rise / Math.abs(away);
  // For a picture that is lost from the file, any count between its neighbours is right.
  const isUsual = step === 1 || step === 2 || step === countStep || step === 2 * countStep;
  const isFree = vacant?.has(sample) === true && step >= 1;
  return isUsual || isFree ? wrapped(one.count - Math.round(step * one.away), range) : null;
}

/**
 * The last reference decoded before each of some lost pictures, by sample. Decoders put it in the place of a lost
 * reference (frame number gaps, ITU-T H.264, 8.2.5.2), so all later pictures refer to it.
 */
export async function referencesBefore(
  { head }: Pick<SmartSource, 'head'>,
  lost: readonly number[],
): Promise<Map<number, number>> {
  const bad = new Set(lost);
  const found = new Map<number, number>();
  for (const sample of lost) {
    for (let before = sample - 1; before >= 0 && !found.has(sample); before -= 1) {
      const known = bad.has(before) ? null : await head(before);
      if (known && known.refIdc > 0) found.set(sample, before);
    }
  }
  return found;
}

/** A picture that another may refer to. */
export interface ReferenceInFront {
  readonly sample: number;
  /** In display order. */
  readonly place: number;
  readonly frameNum: number;
}

/** Samples before a picture among which a reference is searched. */
const MOST_BEFORE = 16;

/**
 * For each of some damaged pictures, the reference shown last before it among those decoded before it, by sample. (B
 * pictures drop those shown earlier first.) None before the key picture that it is decoded from.
 */
export async function referencesInFront(
  { head }: Pick<SmartSource, 'head'>,
  { placeOf }: Pick<DisplayOrder, 'placeOf'>,
  damaged: readonly DamagedSample[],
): Promise<ReadonlyMap<number, ReferenceInFront>> {
  const known = new Map(damaged.map((item) => [item.sample, item.head]));
  const found = new Map<number, ReferenceInFront>();
  for (const { sample } of damaged) {
    for (let before = sample - 1; before >= Math.max(0, sample - MOST_BEFORE); before -= 1) {
      const one = known.get(before) ?? (await head(before));
      const place = placeOf[before];
      const isInFront = place !== undefined && place < (placeOf[sample] ?? 0);
      if (one && one.refIdc > 0 && isInFront && place > (found.get(sample)?.place ?? -1))
        found.set(sample, { sample: before, place, frameNum: one.frameNum });
      if (one && one.idrPicId !== null) break;
    }
  }
  return found;
}
