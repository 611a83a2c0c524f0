import { wrapped } from '../order-count.ts';
import { firstAbove, median } from '../statistics.ts';
import { ROOM_FOR_ANOTHER } from '../time-base.ts';
import { H264Error } from './h264-error.ts';
import { isSlice } from './nal.ts';
import type { Pps } from './pps.ts';
import { readMarking } from './reference-marking.ts';
import { parseSliceHeader, type SliceHeader } from './slice-header.ts';
import { readReferences, type ListStep, type ReferenceList } from './slice-references.ts';
import type { Sps } from './sps.ts';

/** What a coded picture says about the references in front of it. */
export interface ReferenceLink extends Pick<SliceHeader, 'idr' | 'refIdc' | 'kind' | 'frameNum' | 'pocLsb'> {
  /**
   * Frame numbers of references that it names: in the steps of its lists, or as the first of a P picture's list without
   * steps.
   */
  readonly named: readonly number[];
  /**
   * Lists of a B picture without steps: the first of list 0 is the reference shown directly before it, the first of
   * list 1 the one directly behind.
   */
  readonly byOrder: readonly number[];
  /** Whether it counts as number 0 for everything behind it (memory management operation 5). */
  readonly restartsNumbers: boolean;
}

/** A picture in decode order: what it says (null where unreadable), and when it is shown, ticks. */
export interface LinkedPicture {
  readonly link: ReferenceLink | null;
  readonly pts: number;
}

type LinkRules = Pick<Sps, 'frameNumBits' | 'maxRefFrames' | 'gapsAllowed'>;

/**
 * Reads what the first slice of a picture says about its references; null where it cannot be read.
 * @param sets picture parameter sets of the sequence
 */
export function readReferenceLink(
  units: readonly Buffer[],
  sps: Sps,
  sets: readonly Pps[],
): ReferenceLink | null {
  const slice = units.find(isSlice);
  if (!slice) return null;
  try {
    const { idr, refIdc, kind, frameNum, pocLsb, ppsId } = parseSliceHeader(slice, sps);
    const pps = sets.find(({ id }) => id === ppsId);
    if (!pps) return null;
    const { lists } = readReferences(slice, { sps, pps });
    const { commands } = readMarking(slice, { sps, pps });
    const restartsNumbers = commands.some(({ operation }) => operation === 5);
    const range = 2 ** sps.frameNumBits;
    const stepped = lists.flatMap(({ steps }) => namedBy(steps, frameNum, range));
    const isPlain = ({ steps }: ReferenceList) => steps.length === 0;
    const named = kind === 'P' && lists.every(isPlain) ? [wrapped(frameNum - 1, range)] : stepped;
    const byOrder = kind === 'B' ? lists.flatMap((list, at) => (isPlain(list) ? [at] : [])) : [];
    return { idr, refIdc, kind, frameNum, pocLsb, named, byOrder, restartsNumbers };
  } catch (error) {
    if (error instanceof H264Error) return null;
    throw error;
  }
}

/** Frame numbers of short-term references that the steps of a list name (8.2.4.3.1). */
function namedBy(steps: readonly ListStep[], frameNum: number, range: number): number[] {
  let number = frameNum;
  return steps.flatMap(({ operation, value }) => {
    if (operation > 1) return [];
    number = wrapped(number + (operation === 0 ? -1 : 1) * (value + 1), range);
    return [number];
  });
}

/** The references that a decoder may hold. */
interface Chain {
  /** In decode order. */
  readonly held: readonly { readonly number: number; readonly pts: number }[];
  /** Time of the reference that is shown last, ticks. */
  readonly latest: number;
  /** Whether the newest one is an IDR picture, directly behind which no reference is lost. */
  readonly isStart: boolean;
}

/**
 * Most references among which a named one may be: memory management keeps some for longer than others. Fewer where
 * numbers start over sooner.
 */
const MOST_HELD = 16;
/** If more than this share of the pictures lack their references, the encoder counts in its own way. */
const MOST_SHARE = 0.1;

/**
 * Pictures whose references are missing from the stream, and those in front of them that may lack the same ones.
 * Decoders use another picture in place of the missing one, mostly without a message. A P picture names its reference
 * in the first entry of its list, and any picture may in the steps of its lists (ITU-T H.264, 8.2.4.2.1 and 8.2.4.3.1);
 * in an intact stream all of these exist. Frame numbers rise by one behind each reference (7.4.3). Where they do not, a
 * B picture shows the loss through a gap in the times where its first references should be. Behind a lost IDR picture,
 * at which numbers start over, the numbers may happen to continue; then order counts show it, which start from a time
 * at which no picture is shown. Streams that may leave out numbers (gaps_in_frame_num_value_allowed_flag) are not
 * judged, because layers may have been removed from them.
 * @param pictures decode order
 * @returns their places, ascending
 */
export function missingReferences(pictures: readonly LinkedPicture[], rules: LinkRules): number[] {
  if (rules.gapsAllowed) return [];
  const range = 2 ** rules.frameNumBits;
  const isLostStart = lostStarts(pictures);
  const holes = holesOf(pictures);
  const most = Math.max(1, rules.maxRefFrames, Math.min(MOST_HELD, range / 2));
  const found: number[] = [];
  const state: { chain: Chain | null; unsure: number[]; isOpen: boolean } = {
    chain: null,
    unsure: [],
    isOpen: false,
  };
  for (const [place, { link, pts }] of pictures.entries()) {
    if (!link) {
      // What pictures behind an unreadable one lack is due to that one.
      Object.assign(state, { chain: null, unsure: [], isOpen: false });
      continue;
    }
    const chain =
      state.chain?.isStart === false && isLostStart(place) ? { ...state.chain, held: [] } : state.chain;
    // Intra pictures also start anew, where a clip was cut or joined at one.
    if (link.kind === 'I' || !chain) Object.assign(state, { unsure: [], isOpen: false });
    else {
      if (link.frameNum !== wrapped((chain.held.at(-1)?.number ?? -range) + 1, range)) state.isOpen = true;
      const misses = namesMissing(chain, link) || (state.isOpen && orderMisses(chain, link, pts, holes));
      if (misses) found.push(...state.unsure, place);
      // The pictures behind are made from this one, or from its references.
      if (misses || link.kind === 'P') state.isOpen = false;
      if (state.isOpen) state.unsure.push(place);
      else state.unsure = [];
    }
    if (link.refIdc > 0) state.chain = withReference(chain, link, pts, most);
  }
  return found.length > MOST_SHARE * pictures.length ? [] : found;
}

const namesMissing = ({ held }: Chain, { named }: ReferenceLink): boolean =>
  named.some((wanted) => !held.some(({ number }) => number === wanted));

/**
 * Whether the first references of a B picture in display order are lost: there are none, or the times have a gap in
 * front.
 */
function orderMisses(
  { held, latest }: Chain,
  { kind, byOrder }: ReferenceLink,
  pts: number,
  holes: readonly number[],
): boolean {
  if (kind !== 'B') return false;
  const before = Math.max(...held.flatMap((one) => (one.pts < pts ? [one.pts] : [])));
  const behind = Math.min(...held.flatMap((one) => (one.pts > pts ? [one.pts] : [])));
  const isHoleIn = (from: number, to: number) => firstAbove(holes, from) < to;
  return (
    pts > latest ||
    (byOrder.includes(0) && isHoleIn(before, pts)) ||
    (byOrder.includes(1) && isHoleIn(pts, behind))
  );
}

/** Middles of the gaps in the times, ticks. */
function holesOf(pictures: readonly LinkedPicture[]): number[] {
  const times = pictures.map(({ pts }) => pts).sort((a, b) => a - b);
  const steps = times.slice(1).map((time, at) => ({ time, ticks: time - (times[at] ?? time) }));
  const usual = median(steps.map(({ ticks }) => ticks));
  return steps.flatMap(({ time, ticks }) => (ticks >= ROOM_FOR_ANOTHER * usual ? [time - ticks / 2] : []));
}

/** The chain with one more reference; null until a picture starts everything anew. */
function withReference(
  chain: Chain | null,
  { idr, kind, frameNum, restartsNumbers }: ReferenceLink,
  pts: number,
  most: number,
): Chain | null {
  if (!chain && kind !== 'I') return null;
  const before = idr || !chain ? [] : chain.held;
  const held = [...before, { number: restartsNumbers ? 0 : frameNum, pts }].slice(-most);
  return { held, latest: idr || !chain ? pts : Math.max(chain.latest, pts), isStart: idr };
}

/** Share of the steps from picture to picture that must have the same length for order counts to be used. */
const STEADY_SHARE = 0.9;
/** Pictures on each side that may be shown around a lost one: more than a decoder can hold back. */
const AROUND = 32;
/** By what share of that length the steps may differ. */
const STEADY = 0.01;

/**
 * Whether a picture counts from a lost IDR picture: as the first reference behind it, from a time at which no picture
 * is shown.
 */
function lostStarts(pictures: readonly LinkedPicture[]): (place: number) => boolean {
  const steps = pictures.flatMap(({ link, pts }, place) => {
    const before = pictures[place - 1];
    const [from, to] = [before?.link?.pocLsb ?? null, link?.pocLsb ?? null];
    if (!before || from === null || to === null || from === to || link?.idr) return [];
    return [(pts - before.pts) / (to - from)];
  });
  const ticks = median(steps);
  const isSteady = (step: number) => Math.abs(step - ticks) <= STEADY * ticks;
  if (ticks <= 0 || steps.filter(isSteady).length < STEADY_SHARE * steps.length) return () => false;
  const times = pictures.map(({ pts }) => pts);
  return (place) => {
    const { link, pts } = pictures[place] ?? { link: null, pts: 0 };
    if (!link || link.idr || link.frameNum !== 1 || link.pocLsb === null) return false;
    const start = pts - link.pocLsb * ticks;
    const [before, behind] = [
      times.slice(Math.max(0, place - AROUND), place),
      times.slice(place, place + AROUND),
    ];
    const isShown = [...before, ...behind].some((time) => Math.abs(time - start) < ticks / 2);
    return !isShown && Math.max(...before) < start && start < Math.min(...behind);
  };
}
