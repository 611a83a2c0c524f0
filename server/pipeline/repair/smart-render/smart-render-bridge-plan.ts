import { H264Error } from '#server/media/h264/h264-error.ts';
import type { PcmHead } from '#server/media/h264/pcm-picture.ts';
import { createReferenceTracker, type PictureNumbers } from '#server/media/h264/reference-tracker.ts';
import type { DisplayOrder } from '#server/media/mp4/display-order.ts';
import { Mp4Error } from '#server/media/mp4/mp4-error.ts';
import type { ChangedSpan, PictureEdit, PixelSource } from '../picture-edit.ts';
import { damagedSamples, readNumbers, type DamagedSample } from './smart-render-exchange-plan.ts';
import type { Part } from './smart-render-part.ts';
import type { Cut } from './smart-render-plan.ts';
import { hasForeignParameterSets, type SmartSource } from './smart-render-source.ts';

/** A coded picture that gets new content in its own place. */
export interface FreshSample {
  readonly sample: number;
  readonly head: PcmHead;
  /** Null for a picture that stays as it decodes, but cannot stay as it is coded. */
  readonly pixels: PixelSource | null;
}

/**
 * A group of pictures in which some get new content while all others stay byte for byte: between the new ones and the
 * rest a few pictures that the rest refers to are coded verbatim, so that it decodes to the very same samples.
 */
export interface BridgePlan {
  readonly spans: readonly ChangedSpan[];
  /** From the key picture to where nothing that was replaced can be referred to any more. */
  readonly part: Part;
  /** One past the last sample of the group, decode order. */
  readonly endSample: number;
  readonly fresh: readonly FreshSample[];
  readonly verbatim: readonly DamagedSample[];
}

/** Below so many pictures that stay, coding the rest of a group anew costs less than proving that it can stay. */
const LEAST_KEPT = 48;
/** Where damage is mended, what stays shall stay exact: so many pictures are worth a verbatim one, and none less a bridge. */
const LEAST_KEPT_A_VERBATIM = 8;
const LEAST_KEPT_EXACT = 4;
/** More pictures than these in one group are better coded as a stretch. */
const MOST_FRESH = 48;
const MOST_VERBATIM = 8;

interface Slots {
  readonly span: ChangedSpan;
  readonly samples: readonly number[];
  readonly changed: ReadonlyMap<number, PixelSource | 'decoded'>;
}

/**
 * The groups of an edit that can be bridged: those with new pictures among them.
 * @param cuts where decoding can start, rising
 */
export async function planBridges(
  source: SmartSource,
  order: DisplayOrder,
  cuts: readonly Cut[],
  edit: PictureEdit,
): Promise<BridgePlan[]> {
  const slots: (Slots | null)[] = [];
  let shift = 0;
  for (const span of edit) {
    slots.push(slotsOf(source, order, span, shift));
    shift += span.shiftAfterTicks;
  }
  const plans: BridgePlan[] = [];
  for (const [from, end] of groupsOf(slots, cuts, source.samples.length)) {
    const own = slots.filter((item) => item?.samples.some((sample) => sample >= from && sample < end));
    const meets = edit.filter((span) => overlaps(span, order, from, end));
    const whole = own.flatMap((item) => (item ? [item] : []));
    if (meets.length !== whole.length || meets.some((span) => !whole.some((item) => item.span === span)))
      continue;
    const plan = await planGroup(source, order, whole, { from, end });
    if (plan) plans.push(plan);
  }
  return plans;
}

/** The samples of a span that keeps number and times of its pictures, and what becomes of them. */
function slotsOf(source: SmartSource, order: DisplayOrder, span: ChangedSpan, shift: number): Slots | null {
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
    if (changed.has(sample) && old.sync) return null;
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
  // Before a cut as many samples as places lie.
  const first = span.firstFrame + order.firstShown;
  const behind = Math.max(span.endFrame, span.firstFrame + 1) + order.firstShown;
  return first < end && behind > from;
}

async function planGroup(
  source: SmartSource,
  order: DisplayOrder,
  slots: readonly Slots[],
  group: Part,
): Promise<BridgePlan | null> {
  const changed = new Map(slots.flatMap((item) => [...item.changed]));
  const samples = [...changed.keys()].sort((a, b) => a - b);
  const [first] = samples;
  if (first === undefined || samples.length > MOST_FRESH || group.end - first < LEAST_KEPT_EXACT) return null;
  if (source.sps.bitDepthLuma !== 8) return null;
  if (![...changed.values()].some((content) => content !== 'decoded')) return null;
  // Heads of whole pictures say themselves where they stand, those of damaged ones are worked out.
  const read = async (numbers: readonly DamagedSample[] | null) => {
    if (!numbers) return null;
    try {
      return await walk(source, order, { slots, changed, numbers, group });
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

interface Group {
  readonly slots: readonly Slots[];
  readonly changed: ReadonlyMap<number, PixelSource | 'decoded'>;
  readonly numbers: readonly DamagedSample[];
  readonly group: Part;
}

/** Follows the references through a group: what do the new pictures reach, and from where on is all as it was. */
async function walk(
  source: SmartSource,
  order: DisplayOrder,
  { slots, changed, numbers, group }: Group,
): Promise<BridgePlan | null> {
  const tracker = createReferenceTracker(source.sps, source.pps);
  const headOf = new Map(numbers.map(({ sample, head }) => [sample, head]));
  const first = Math.min(...changed.keys());
  const last = Math.max(...changed.keys());
  const unseen = new Set<number>();
  const fresh: FreshSample[] = [];
  const verbatim: DamagedSample[] = [];
  /** Pictures that decode to other samples, and all whose motion is gone. */
  const unlike = new Set<number>();
  const replaced = new Set<number>();
  const orders: { place: number; order: number }[] = [];
  let end = group.end;
  for (let sample = group.from; sample < end; sample += 1) {
    const place = order.placeOf[sample] ?? 0;
    const content = changed.get(sample);
    const head = headOf.get(sample);
    if (content !== undefined && head) {
      const known: PictureNumbers = { head: { ...head, idr: false }, marking: head.marking };
      orders.push({ place, order: tracker.put(sample, known) });
      replaced.add(sample);
      if (content === 'decoded') verbatim.push({ sample, head });
      else {
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
      if (touches(use.references, unlike) || touches(use.colocated, replaced)) {
        const own = { sample, head: { ...use.head, marking: use.marking } };
        replaced.add(sample);
        if (use.head.refIdc > 0) verbatim.push(own);
        else fresh.push({ ...own, pixels: null });
      }
    }
    if (fresh.length > MOST_FRESH || verbatim.length > MOST_VERBATIM) return null;
    if (sample >= last && !tracker.held().some((held) => replaced.has(held))) end = sample + 1;
  }
  const least = slots.every(({ span }) => span.mendsDamage)
    ? Math.max(LEAST_KEPT_EXACT, LEAST_KEPT_A_VERBATIM * verbatim.length)
    : LEAST_KEPT;
  // Without a bridge all from the first new picture on would be coded anew.
  if (!isInOrder(orders) || group.end - first - replaced.size < least) return null;
  const part = { from: group.from, end, ...(canOmit(changed) && { omitted: unseen }) };
  return { spans: slots.map(({ span }) => span), part, endSample: group.end, fresh, verbatim };
}

/** What the decoder makes of lost data may depend on any picture before. */
const canOmit = (changed: Group['changed']): boolean =>
  ![...changed.values()].some((content) => content === 'decoded');

/** Whether the pictures are shown in the order that their own numbers say. */
function isInOrder(orders: readonly { readonly place: number; readonly order: number }[]): boolean {
  const shown = [...orders].sort((a, b) => a.place - b.place);
  return shown.every(({ order }, at) => at === 0 || order > (shown[at - 1]?.order ?? Infinity));
}
