import type { CodingSps } from '#server/media/hevc/hevc-coding-sets.ts';
import { baseSlices } from '#server/media/hevc/hevc-nal.ts';
import { createOrderReader, type OrderedPicture } from '#server/media/hevc/hevc-references.ts';
import type { IntraPlace } from '#server/media/hevc/intra-slice.ts';
import { wrapped } from '#server/media/order-count.ts';
import type { DisplayOrder } from '#server/media/mp4/display-order.ts';
import type { HevcSource } from './smart-render-hevc-source.ts';
import type { HevcCandidate, StandInGroup } from './smart-render-hevc-stand-in-plan.ts';
import { isUnfit } from '../../unfit.ts';

/** Order counts of a group, by sample. */
export interface GroupOrders {
  /** Pictures that stay, with the references in their headers. */
  readonly kept: ReadonlyMap<number, OrderedPicture>;
  /** Pictures that are exchanged. */
  readonly exchanged: ReadonlyMap<number, number>;
}

/**
 * Reads the order counts of the pictures of a group. Those of exchanged pictures are derived from the surrounding ones,
 * because their own headers may be damaged.
 * @returns null if the surrounding pictures do not tell them
 */
export async function readGroupOrders(
  source: HevcSource,
  order: DisplayOrder,
  { candidates, start, endSample }: StandInGroup,
): Promise<GroupOrders | null> {
  const standIns = candidates.flatMap((candidate) => candidate.standIns);
  const lost = new Set(standIns.map(({ sample }) => sample));
  const kept = await readOrders(source, lost, start.sample, endSample);
  if (!kept) return null;
  const orderAt = orderBetween(
    new Map([...kept].map(([sample, picture]) => [order.placeOf[sample] ?? 0, picture.order])),
  );
  const exchanged = new Map<number, number>();
  for (const sample of lost) {
    const own = orderAt(order.placeOf[sample] ?? 0);
    if (own === null) return null;
    exchanged.set(sample, own);
  }
  return { kept, exchanged };
}

/** Order counts by place in display order, where pictures on both sides determine them. */
function orderBetween(known: ReadonlyMap<number, number>): (place: number) => number | null {
  const firstPlace = Math.min(...known.keys());
  const lastPlace = Math.max(...known.keys());
  return (place) => {
    let [left, right] = [place - 1, place + 1];
    while (left >= firstPlace && !known.has(left)) left -= 1;
    while (right <= lastPlace && !known.has(right)) right += 1;
    const [before, behind] = [known.get(left), known.get(right)];
    if (before === undefined) return behind === undefined ? null : behind - (right - place);
    if (behind === undefined) return before + (place - left);
    if (behind - before < right - left) return null;
    return before + Math.floor(((place - left) * (behind - before)) / (right - left));
  };
}

/** Candidates that an undamaged picture refers to, or may refer to; they cannot be exchanged. */
export function stillReferred(
  { kept, exchanged }: GroupOrders,
  candidates: readonly HevcCandidate[],
): HevcCandidate[] {
  const staying = new Set(candidates.flatMap((candidate) => candidate.staying));
  const pictures = [...kept].flatMap(([sample, picture]) => (staying.has(sample) ? [] : [picture]));
  const isOpen = pictures.some(({ refersTo }) => refersTo === null);
  const named = new Set(pictures.flatMap(({ refersTo }) => refersTo ?? []));
  return candidates.filter(
    ({ standIns, isReferred }) =>
      (isReferred && isOpen) || standIns.some(({ sample }) => named.has(exchanged.get(sample) ?? NaN)),
  );
}

/**
 * Order counts for the replaced pictures of a group, and the pictures to hold for later ones, as required by the next
 * picture that stays.
 * @returns one for each, in the order of the candidates; null if unknown
 */
export function placeStandIns(
  { kept, exchanged }: GroupOrders,
  sps: Pick<CodingSps, 'pocBits'>,
  candidates: readonly HevcCandidate[],
): IntraPlace[] | null {
  const range = 2 ** sps.pocBits;
  const orders = [...[...kept].map(([sample, picture]) => [sample, picture.order] as const), ...exchanged];
  const places: IntraPlace[] = [];
  for (const { sample, nalHead } of candidates.flatMap(({ standIns }) => standIns)) {
    const own = exchanged.get(sample);
    const next = [...kept].find(([other]) => other > sample)?.[1];
    if (own === undefined || next?.holds === null) return null;
    const earlier = new Set(orders.flatMap(([other, count]) => (other < sample ? [count] : [])));
    const held = (next?.holds ?? []).filter((count) => earlier.has(count)).map((count) => count - own);
    if (held.includes(0)) return null;
    const heldLong = (next?.holdsLong ?? []).map((count) => ({
      pocLsb: wrapped(count, range),
      cyclesBelow: (own - wrapped(own, range) - (count - wrapped(count, range))) / range,
    }));
    places.push({ nalHead, pocLsb: wrapped(own, range), held, ...(heldLong.length > 0 && { heldLong }) });
  }
  return places;
}

/** By sample, from the start up to a key picture at the end; null if order counts restart in between. */
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
    // A stretch that is encoded again begins there.
    if (lost.has(sample) || (sample === end && !source.samples[sample]?.sync)) continue;
    const [slice, ...others] = await slicesOf(source, sample);
    const picture = slice && read(slice, others.length === 0);
    if (picture?.restarts && sample > start) return sample === end ? known : null;
    if (picture) known.set(sample, picture);
  }
  return known;
}

async function slicesOf(source: HevcSource, sample: number): Promise<Buffer[]> {
  try {
    return baseSlices(await source.units(sample));
  } catch (error) {
    // A damaged sample says nothing about its neighbours.
    if (isUnfit(error)) return [];
    throw error;
  }
}
