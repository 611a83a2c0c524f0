import { H264Error } from '#server/media/h264/h264-error.ts';
import { isSlice } from '#server/media/h264/nal.ts';
import { readMarking, SLIDING_WINDOW, type ReferenceMarking } from '#server/media/h264/reference-marking.ts';
import { parseSliceHeader } from '#server/media/h264/slice-header.ts';
import { createReferenceTracker, type ReferenceTracker } from '#server/media/h264/reference-tracker.ts';
import type { DisplayOrder } from '#server/media/mp4/display-order.ts';
import { Mp4Error } from '#server/media/mp4/mp4-error.ts';
import { isNewStart } from './smart-render-exchange-heads.ts';
import type { DamagedSample } from './smart-render-exchange-plan.ts';
import type { SmartSource } from '../smart-render-source.ts';

type Clip = Pick<SmartSource, 'samples' | 'sps' | 'pps' | 'units' | 'head'>;

/** Number of pictures after the last lost one over which references are followed; a wrong marking shows soon. */
const FOLLOWED = 64;
/** Pictures around lost ones whose markings are tried in their place. */
const NEAR = 32;
/** Longest distance from a key picture, and most attempts. */
const LONGEST_WAY = 4000;
const MOST_TRIES = 400;
/** Bytes of a slice that certainly hold its header. */
const HEADER_BYTES = 1024;

/**
 * Infers how lost pictures mark references: like pictures near them, so that all later ones find their references and
 * what they release (ITU-T H.264, 8.2.5). If nothing fits, the usual sliding window.
 * @param damaged pictures whose own data do not count, decode order
 * @param lost those of them whose marking cannot be read
 */
export async function inferMarkings(
  source: Clip,
  order: DisplayOrder,
  damaged: readonly DamagedSample[],
  lost: ReadonlySet<number>,
): Promise<DamagedSample[]> {
  const open = [...lost].sort((a, b) => a - b);
  const [first, last] = [open[0], open.at(-1)];
  if (first === undefined || last === undefined) return [...damaged];
  const from = await startBefore(source, order, first);
  if (from === null) return [...damaged];
  const way: (readonly Buffer[])[] = [];
  const seen: Seen[] = [];
  for (let sample = from; sample < source.samples.length && sample <= last + FOLLOWED; sample += 1) {
    if (sample > last && (await isNewStart(source, order, sample))) break;
    const heads = await headsOf(source, sample);
    way.push(heads);
    const marking = open.some((one) => Math.abs(one - sample) <= NEAR) ? tryMarking(source, heads) : null;
    if (marking && !lost.has(sample)) seen.push({ sample, marking, isAhead: isAhead(order, from, sample) });
  }
  if (seen.every(({ marking }) => marking.commands.length === 0)) return [...damaged];
  const candidates = new Map(
    open.map((sample) => [
      sample,
      likelyMarkings(seen, sample, isAhead(order, from, sample), source.sps.maxRefFrames),
    ]),
  );
  const numbers = new Map(damaged.map((one) => [one.sample, one]));
  const found = search({ source, from, way, numbers, candidates });
  return damaged.map((one) => {
    const marking = found.get(one.sample);
    return marking ? { ...one, head: { ...one.head, marking } } : one;
  });
}

interface Seen {
  readonly sample: number;
  readonly marking: ReferenceMarking;
  /** Whether all pictures decoded before it are shown before it. */
  readonly isAhead: boolean;
}

async function startBefore(source: Clip, order: DisplayOrder, sample: number): Promise<number | null> {
  for (let from = sample; from >= Math.max(0, sample - LONGEST_WAY); from -= 1)
    if (await isNewStart(source, order, from)) return from;
  return null;
}

/** The NAL units of a sample with only the headers of its slices; none if they cannot be read. */
async function headsOf(source: Clip, sample: number): Promise<Buffer[]> {
  try {
    const units = await source.units(sample);
    return units.filter(isSlice).map((unit) => Buffer.from(unit.subarray(0, HEADER_BYTES)));
  } catch (error) {
    if (error instanceof H264Error || error instanceof Mp4Error) return [];
    throw error;
  }
}

function tryMarking({ sps, pps }: Clip, [slice]: readonly Buffer[]): ReferenceMarking | null {
  try {
    const head = slice && parseSliceHeader(slice, sps);
    const set = pps.find(({ id }) => id === head?.ppsId);
    return slice && head && set && head.refIdc > 0 && !head.idr
      ? readMarking(slice, { sps, pps: set })
      : null;
  } catch (error) {
    if (error instanceof H264Error) return null;
    throw error;
  }
}

function isAhead({ placeOf }: DisplayOrder, from: number, sample: number): boolean {
  const place = placeOf[sample] ?? 0;
  for (let other = Math.max(from, sample - NEAR); other < sample; other += 1)
    if ((placeOf[other] ?? 0) > place) return false;
  return true;
}

/** Markings of the surrounding pictures, those of the same kind and the nearest first; the usual one is among them. */
function likelyMarkings(
  seen: readonly Seen[],
  sample: number,
  ahead: boolean,
  maxRefFrames: number,
): ReferenceMarking[] {
  const near = [...seen].sort(
    (a, b) =>
      Number(b.isAhead === ahead) - Number(a.isAhead === ahead) ||
      Math.abs(a.sample - sample) - Math.abs(b.sample - sample),
  );
  const found = new Map<string, ReferenceMarking>();
  for (const { marking } of [...near, { marking: SLIDING_WINDOW }, ...released(maxRefFrames)]) {
    const name = JSON.stringify(marking.commands);
    if (!found.has(name)) found.set(name, marking);
  }
  return [...found.values()];
}

/** Distance in frame numbers to what is released, for each reference that a decoder may hold. */
const STEPS_BACK = 2;

/**
 * All ways to release one or two references (operation 1); if group lengths vary, no picture nearby may have released
 * the same ones.
 */
function released(maxRefFrames: number): { readonly marking: ReferenceMarking }[] {
  const steps = Array.from({ length: STEPS_BACK * maxRefFrames }, (_, step) => step);
  const sets = steps.flatMap((one) => [[one], ...steps.slice(0, one).map((other) => [one, other])]);
  return sets.map((values) => ({
    marking: {
      longTermReference: false,
      commands: values.map((value) => ({ operation: 1, values: [value] })),
    },
  }));
}

interface Search {
  readonly source: Clip;
  readonly from: number;
  /** Slice headers of each sample from there on. */
  readonly way: readonly (readonly Buffer[])[];
  readonly numbers: ReadonlyMap<number, DamagedSample>;
  readonly candidates: ReadonlyMap<number, readonly ReferenceMarking[]>;
}

/** The markings with which references can be followed farthest; of equal ones, the likelier. */
function search({ source, from, way, numbers, candidates }: Search): Map<number, ReferenceMarking> {
  let best: { at: number; choice: Map<number, ReferenceMarking> } = { at: -1, choice: new Map() };
  let tries = 0;
  const follow = (
    tracker: ReferenceTracker,
    start: number,
    choice: Map<number, ReferenceMarking>,
  ): boolean => {
    for (let at = start; at < way.length; at += 1) {
      const sample = from + at;
      const known = numbers.get(sample);
      const open = candidates.get(sample);
      if (known && open) {
        for (const marking of open) {
          const next = tracker.fork();
          tries += 1;
          if (tries > MOST_TRIES) return true;
          const chosen = new Map([...choice, [sample, marking]]);
          if (stepped(next, sample, { ...known, marking }) && follow(next, at + 1, chosen)) return true;
        }
        if (at > best.at) best = { at, choice };
        return false;
      }
      if (!stepped(tracker, sample, known ? { ...known, marking: known.head.marking } : (way[at] ?? []))) {
        if (at > best.at) best = { at, choice };
        return false;
      }
    }
    best = { at: way.length, choice };
    return true;
  };
  follow(createReferenceTracker(source.sps, source.pps), 0, new Map());
  return best.choice;
}

type Step = readonly Buffer[] | (DamagedSample & { readonly marking: ReferenceMarking });

/** Whether the references can be followed over a sample. */
function stepped(tracker: ReferenceTracker, sample: number, step: Step): boolean {
  try {
    if ('head' in step) {
      const { head, marking } = step;
      tracker.put(sample, { head: { ...head, idr: head.idrPicId !== null }, marking });
    } else tracker.take(sample, step);
    return true;
  } catch (error) {
    if (error instanceof H264Error) return false;
    throw error;
  }
}
