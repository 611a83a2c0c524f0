import { H264Error } from '#server/media/h264/h264-error.ts';
import type { PcmHead } from '#server/media/h264/slice-data/stand-in-head.ts';
import { createReferenceTracker, type PictureNumbers } from '#server/media/h264/reference-tracker.ts';
import type { DisplayOrder } from '#server/media/mp4/display-order.ts';
import { Mp4Error } from '#server/media/mp4/mp4-error.ts';
import type { ChangedSpan, PictureEdit, PixelSource } from '../../picture-edit.ts';
import { damagedSamples, readNumbers, type DamagedSample } from '../exchange/smart-render-exchange-plan.ts';
import { isNewStart } from '../exchange/smart-render-exchange-heads.ts';
import type { Part } from '../smart-render-part.ts';
import { cleanStarts, type Cut } from '../smart-render-plan.ts';
import { hasForeignParameterSets, type SmartSource } from '../smart-render-source.ts';

/** A coded picture that gets new content in its own place. */
export interface FreshSample {
  readonly sample: number;
  readonly head: PcmHead;
  /** Null for a picture that stays as decoded but cannot keep its coded data. */
  readonly pixels: PixelSource | null;
}

/**
 * A group of pictures in which some get new content and all others keep their bytes. Between the two, a few pictures
 * that the rest refers to are coded verbatim, so that the rest decodes to exactly the same samples.
 */
export interface BridgePlan {
  readonly spans: readonly ChangedSpan[];
  /** From the key picture to where nothing refers to replaced pictures any more. */
  readonly part: Part;
  /** One past the last sample of the group, decode order. */
  readonly endSample: number;
  readonly fresh: readonly FreshSample[];
  readonly verbatim: readonly DamagedSample[];
  /** Samples of the spans; they may change a little if their references were lost. */
  readonly inSpans: ReadonlySet<number>;
}

/** If fewer pictures would stay, encoding the rest of a group again costs less than proving that it can stay. */
const LEAST_KEPT = 48;
/**
 * If damage is repaired, what stays must stay exact: a bridge is worth it for one picture, and for this many for each
 * verbatim one.
 */
const LEAST_KEPT_A_VERBATIM = 2;
const LEAST_KEPT_EXACT = 1;
/** More pictures than this in one group are better encoded as a stretch. */
const MOST_FRESH = 48;
const MOST_VERBATIM = 8;
/** The same if damage is repaired. */
const MOST_FRESH_EXACT = 96;
const MOST_VERBATIM_EXACT = 24;

export interface Slots {
  readonly span: ChangedSpan;
  readonly samples: readonly number[];
  readonly changed: ReadonlyMap<number, PixelSource | 'decoded'>;
}

/** Spans between two cuts, all of which keep the number and times of their pictures. */
export interface BridgeGroup {
  readonly slots: readonly Slots[];
  readonly group: Part;
}

/**
 * Groups of an edit that may be bridged.
 * @param cuts where decoding can start, ascending
 * @param isWanted whether to bridge a group with such spans
 */
export async function groupsToBridge(
  source: SmartSource,
  order: DisplayOrder,
  cuts: readonly Cut[],
  edit: PictureEdit,
  isWanted: IsWanted,
): Promise<BridgeGroup[]> {
  if (source.sps.bitDepthLuma !== 8) return [];
  const slots: (Slots | null)[] = [];
  let shift = 0;
  for (const span of edit) {
    slots.push(await slotsOf(source, order, span, shift));
    shift += span.shiftAfterTicks;
  }
  const groups: BridgeGroup[] = [];
  for (const [from, end] of groupsOf(slots, cuts, source.samples.length)) {
    const meets = edit.flatMap((span, at) =>
      overlaps(span, order, from, end) ? [{ span, slot: slots[at] }] : [],
    );
    const behind = meets.find(({ slot }) => !slot);
    const at = behind ? meets.indexOf(behind) : meets.length;
    const own = (some: typeof meets) => some.flatMap(({ slot }) => slot ?? []);
    const whole = { slots: own(meets.slice(0, at)), group: { from, end } };
    const found = behind ? upTo(order, whole, behind.span) : whole;
    if (found && isWanted(found.slots)) groups.push(found);
    // What follows is encoded again as the clip shows it; for damage, a bridge is better.
    const rest = { slots: own(meets.slice(at)), group: { from, end } };
    if (hasDecoded(rest.slots) && isWanted(rest.slots)) groups.push(rest);
  }
  return groups;
}

/** The group up to the point from which a span is encoded again; null if other spans reach beyond that. */
function upTo(order: DisplayOrder, { slots, group }: BridgeGroup, span: ChangedSpan): BridgeGroup | null {
  const end = cleanStarts(order)[span.firstFrame + order.firstShown] ?? 0;
  if (slots.some(({ samples }) => samples.some((sample) => sample >= end || sample < group.from)))
    return null;
  return { slots, group: { ...group, end } };
}

export type IsWanted = (slots: readonly Slots[]) => boolean;

const isKept = ({ changed }: Slots): boolean =>
  [...changed.values()].every((content) => content === 'decoded');

/** Whether any of them has damaged pictures that stay as decoded. */
const hasDecoded: IsWanted = (slots) =>
  slots.some(({ changed }) => [...changed.values()].includes('decoded'));

/** Whether any of them has new pictures. */
export const hasNew: IsWanted = (slots) => !slots.every(isKept);

/** Whether any of them stays as decoded. */
export const hasKept: IsWanted = (slots) => slots.some(isKept);

/**
 * A group without trailing spans that are damaged themselves and stay as decoded, because an exchange conceals these
 * better. Spans that only refer to damage depend on the new pictures and stay. If nothing would be left, the group
 * itself.
 */
export function upToNew(order: DisplayOrder, group: BridgeGroup): BridgeGroup {
  const isOwn = (slots: Slots | undefined) => slots && slots.changed.size > 0 && isKept(slots);
  let found: BridgeGroup | null = group;
  while (found && isOwn(found.slots.at(-1))) found = withoutLast(order, found, hasNew);
  return found ?? group;
}

/** A group without its last span, up to the point from which that is encoded again; null if nothing wanted is left. */
export function withoutLast(
  order: DisplayOrder,
  { slots, group }: BridgeGroup,
  isWanted: IsWanted,
): BridgeGroup | null {
  const last = slots.at(-1);
  const left = slots.slice(0, -1);
  return last && isWanted(left) ? upTo(order, { slots: left, group }, last.span) : null;
}

/** The samples of a span that keeps number and times of its pictures, and what happens to them. */
async function slotsOf(
  source: SmartSource,
  order: DisplayOrder,
  span: ChangedSpan,
  shift: number,
): Promise<Slots | null> {
  const count = span.endFrame - span.firstFrame;
  if (count === 0 || span.pictures.length !== count || span.shiftAfterTicks !== 0) return null;
  const samples: number[] = [];
  const changed = new Map<number, PixelSource | 'decoded'>();
  for (const [index, { ptsTicks, pixels }] of span.pictures.entries()) {
    const frame = span.firstFrame + index;
    const sample = order.samples[frame + order.firstShown];
    const old = sample === undefined ? undefined : source.samples[sample];
    if (sample === undefined || !old || ptsTicks - source.shownEdit.offsetTicks !== old.pts + shift)
      return null;
    samples.push(sample);
    if (pixels.kind === 'raw') changed.set(sample, pixels);
    else if (pixels.frame !== frame) return null;
    else if (pixels.intact !== true) changed.set(sample, 'decoded');
    if (changed.has(sample) && (await isNewStart(source, order, sample))) return null;
  }
  return { span, samples, changed };
}

/** Groups of pictures that hold the spans, as first sample and one past the last. */
function groupsOf(
  slots: readonly (Slots | null)[],
  cuts: readonly Cut[],
  count: number,
): Map<number, number> {
  const groups = new Map<number, number>();
  for (const item of slots) {
    if (!item) continue;
    const start = cuts.findLast(({ sample }) => sample <= Math.min(...item.samples));
    const last = Math.max(...item.samples);
    if (!start || item.samples.includes(start.sample)) continue;
    const end = cuts.find(({ sample }) => sample > last)?.sample ?? count;
    groups.set(start.sample, Math.max(end, groups.get(start.sample) ?? 0));
  }
  return groups;
}

function overlaps(span: ChangedSpan, order: DisplayOrder, from: number, end: number): boolean {
  // The number of samples before a cut equals the number of places before it.
  const first = span.firstFrame + order.firstShown;
  const behind = Math.max(span.endFrame, span.firstFrame + 1) + order.firstShown;
  return first < end && behind > from;
}

/**
 * Plans the bridge of a group; null if it is impossible, or too little would stay.
 * @param also samples that must stay as decoded too, although their own data are intact
 * @param most verbatim pictures; if more are needed, damaged ones that stay as decoded are coded with losses instead
 */
export async function planBridge(
  source: SmartSource,
  order: DisplayOrder,
  { slots, group }: BridgeGroup,
  also: ReadonlySet<number>,
  most: number,
): Promise<BridgePlan | null> {
  const changed = new Map(slots.flatMap((item) => [...item.changed]));
  const samples = [...changed.keys()].sort((a, b) => a - b);
  const [first] = samples;
  if (first === undefined || samples.length > MOST_FRESH_EXACT) return null;
  // Intact pictures state their numbers in their headers; those of damaged ones are derived.
  const read = async (numbers: readonly DamagedSample[] | null) => {
    if (!numbers) return null;
    try {
      const way = { slots, changed, numbers, group, also };
      const exact = await walk(source, order, { ...way, isSparing: false });
      const isSparing =
        slots.every(({ span }) => span.mendsDamage) && (exact?.verbatim.length ?? most + 1) > most;
      const found = isSparing ? await walk(source, order, { ...way, isSparing }) : exact;
      return found && found.verbatim.length <= most ? found : null;
    } catch (error) {
      if (error instanceof H264Error || error instanceof Mp4Error) return null;
      throw error;
    }
  };
  return (
    (await read(await readNumbers(source, samples))) ??
    (await read(await damagedSamples(source, order, samples)))
  );
}

interface Group extends BridgeGroup {
  readonly changed: ReadonlyMap<number, PixelSource | 'decoded'>;
  readonly numbers: readonly DamagedSample[];
  readonly also: ReadonlySet<number>;
  /** Whether no damaged picture may be verbatim. */
  readonly isSparing: boolean;
}

/** Follows the references through a group: what do the new pictures affect, and from where is everything unchanged? */
async function walk(
  source: SmartSource,
  order: DisplayOrder,
  { slots, changed, numbers, group, also, isSparing }: Group,
): Promise<BridgePlan | null> {
  const tracker = createReferenceTracker(source.sps, source.pps);
  const headOf = new Map(numbers.map(({ sample, head }) => [sample, head]));
  const first = Math.min(...changed.keys());
  const last = Math.max(...changed.keys(), ...also);
  const isDamage = slots.every(({ span }) => span.mendsDamage);
  const mostVerbatim = isDamage ? MOST_VERBATIM_EXACT : MOST_VERBATIM;
  const mostFresh = isDamage ? MOST_FRESH_EXACT : MOST_FRESH;
  const inSpans = new Set(slots.flatMap(({ samples }) => samples));
  const unseen = new Set<number>();
  const fresh: FreshSample[] = [];
  const verbatim: DamagedSample[] = [];
  /** Pictures that decode to other samples, and all whose motion is lost. */
  const unlike = new Set<number>();
  const replaced = new Set<number>();
  const orders: { place: number; order: number }[] = [];
  // Damaged pictures need not be exact if no picture refers to them, or if their own references have changed.
  const keep = (own: DamagedSample) => {
    replaced.add(own.sample);
    const isReference = own.head.refIdc > 0;
    const isLossy = inSpans.has(own.sample)
      ? isSparing || !isReference || also.has(own.sample)
      : !isReference && !isDamage;
    if (isLossy) fresh.push({ ...own, pixels: null });
    else verbatim.push(own);
  };
  let end = group.end;
  for (let sample = group.from; sample < end; sample += 1) {
    const place = order.placeOf[sample] ?? 0;
    const content = changed.get(sample);
    const head = headOf.get(sample);
    if (content !== undefined && head) {
      const known: PictureNumbers = { head: { ...head, idr: false }, marking: head.marking };
      orders.push({ place, order: tracker.put(sample, known) });
      if (content === 'decoded') keep({ sample, head });
      else {
        replaced.add(sample);
        fresh.push({ sample, head, pixels: content });
        unlike.add(sample);
      }
    } else {
      const units = await source.units(sample);
      if (hasForeignParameterSets(source, units)) return null;
      const use = tracker.take(sample, units);
      if (sample < first && use.head.refIdc === 0) unseen.add(sample);
      orders.push({ place, order: use.order });
      const touches = (set: ReadonlySet<number>, others: ReadonlySet<number>) =>
        [...set].some((other) => others.has(other));
      if (also.has(sample) || touches(use.references, unlike) || touches(use.colocated, replaced))
        keep({ sample, head: { ...use.head, marking: use.marking } });
    }
    if (fresh.length > mostFresh || verbatim.length > mostVerbatim) return null;
    if (sample >= last && !tracker.held().some((held) => replaced.has(held))) end = sample + 1;
  }
  const least = isDamage ? Math.max(LEAST_KEPT_EXACT, LEAST_KEPT_A_VERBATIM * verbatim.length) : LEAST_KEPT;
  // Without a bridge, everything from the first span on would be encoded again.
  const firstPlace = Math.min(...slots.map(({ span }) => span.firstFrame)) + order.firstShown;
  const anew = Math.min(first, cleanStarts(order)[firstPlace] ?? first);
  if (!isInOrder(orders) || group.end - anew - replaced.size < least) return null;
  const part = { from: group.from, end, ...(canOmit(changed) && { omitted: unseen }) };
  const spans = slots.map(({ span }) => span);
  return { spans, part, endSample: group.end, fresh, verbatim, inSpans };
}

/** What the decoder makes of lost data may depend on any earlier picture. */
const canOmit = (changed: Group['changed']): boolean =>
  ![...changed.values()].some((content) => content === 'decoded');

/** Whether the pictures are shown in the order of their own counts. */
function isInOrder(orders: readonly { readonly place: number; readonly order: number }[]): boolean {
  const shown = [...orders].sort((a, b) => a.place - b.place);
  return shown.every(({ order }, at) => at === 0 || order > (shown[at - 1]?.order ?? Infinity));
}
