import { H264Error } from './h264-error.ts';
import { isSlice } from './nal.ts';
import type { Pps } from './pps.ts';
import { readMarking, type ReferenceMarking } from './reference-marking.ts';
import { parseSliceHeader, type SliceHeader } from './slice-header.ts';
import { readReferences, type ReferenceList } from './slice-references.ts';
import type { Sps } from './sps.ts';

/** The numbers of a coded picture, and how it changes the list of references. */
export interface PictureNumbers {
  readonly head: Pick<SliceHeader, 'idr' | 'refIdc' | 'frameNum' | 'pocLsb'>;
  readonly marking: ReferenceMarking;
}

/** Which earlier pictures a coded picture may take samples or motion from, by the caller's numbers. */
export interface PictureUse {
  readonly head: SliceHeader;
  readonly marking: ReferenceMarking;
  /** Picture order count. */
  readonly order: number;
  /** Pictures that its slices can name in their lists. */
  readonly references: ReadonlySet<number>;
  /** Pictures whose motion its B slices may copy (first of the second list, ITU-T H.264, 8.4.1.2.1). */
  readonly colocated: ReadonlySet<number>;
}

export interface ReferenceTracker {
  /**
   * Takes the next coded picture, decode order; the first must be an IDR picture.
   * @throws H264Error for what is not supported: fields, long-term references, gaps in the numbers, damage
   */
  take(picture: number, units: readonly Buffer[]): PictureUse;
  /**
   * Takes a picture by its numbers alone, without its own data.
   * @returns its picture order count
   * @throws H264Error as `take`
   */
  put(picture: number, numbers: PictureNumbers): number;
  /** Pictures that later ones may still refer to. */
  held(): readonly number[];
  /** A tracker that continues from here independently. */
  fork(): ReferenceTracker;
}

interface Held {
  readonly picture: number;
  readonly frameNum: number;
  readonly order: number;
}

/** The state of a tracker, never changed in place. */
interface TrackerState {
  readonly held: readonly Held[];
  /** Numbers of the previous reference. */
  readonly last: { readonly frameNum: number; readonly orderHigh: number; readonly orderLow: number };
  readonly offset: number;
  readonly previousNum: number;
}

const AT_START: TrackerState = {
  held: [],
  last: { frameNum: 0, orderHigh: 0, orderLow: 0 },
  offset: 0,
  previousNum: 0,
};

/** Follows the decoder's short-term references (ITU-T H.264, 8.2.4 and 8.2.5) by slice headers alone. */
export function createReferenceTracker(sps: Sps, sets: readonly Pps[]): ReferenceTracker {
  return trackFrom(AT_START, sps, sets);
}

function trackFrom(state: TrackerState, sps: Sps, sets: readonly Pps[]): ReferenceTracker {
  const range = 2 ** sps.frameNumBits;
  let { held, last, offset, previousNum } = state;

  const numberOf = ({ frameNum }: Held, current: number) =>
    frameNum > current ? frameNum - range : frameNum;

  function orderOf(head: PictureNumbers['head'], bottomDelta: number): { order: number; high: number } {
    if (sps.pocType === 2) {
      if (head.idr) offset = 0;
      else if (previousNum > head.frameNum) offset += range;
      return { order: 2 * (offset + head.frameNum) - (head.refIdc > 0 ? 0 : 1), high: 0 };
    }
    if (head.pocLsb === null) throw new H264Error('Picture order type 1 is not supported.');
    const wrap = 2 ** sps.pocBits;
    const before = head.idr ? { orderHigh: 0, orderLow: 0 } : last;
    const step = head.pocLsb - before.orderLow;
    const turn = step <= -wrap / 2 ? wrap : step > wrap / 2 ? -wrap : 0;
    const high = before.orderHigh + turn;
    return { order: high + head.pocLsb + Math.min(0, bottomDelta), high };
  }

  function toNames(
    known: readonly Held[],
    lists: readonly ReferenceList[],
    current: { readonly frameNum: number; readonly order: number },
  ): number[][] {
    return startLists(known, lists.length, current, numberOf).map((start, index) => {
      const list = lists[index];
      return list ? ordered(known, start, list, current.frameNum) : [];
    });
  }

  /** Moves named pictures to the front (8.2.4.3.1) and returns the numbers of those that can be named. */
  function ordered(
    known: readonly Held[],
    start: readonly Held[],
    { active, steps }: ReferenceList,
    current: number,
  ): number[] {
    let list = start.slice(0, active);
    let predicted = current;
    for (const [at, { operation, value }] of steps.entries()) {
      if (operation > 1) throw new H264Error('Long-term references are not followed.');
      predicted = (predicted + (operation === 0 ? -1 : 1) * (value + 1) + range) % range;
      const wanted = predicted > current ? predicted - range : predicted;
      const found = known.find((one) => numberOf(one, current) === wanted);
      if (!found) throw new H264Error('A slice refers to a picture that is not there.');
      const behind = list.slice(at).filter((one) => one !== found);
      list = [...list.slice(0, at), found, ...behind].slice(0, active);
    }
    return list.map(({ picture }) => picture);
  }

  function mark(entry: Held, head: PictureNumbers['head'], marking: ReferenceMarking): void {
    if (head.refIdc === 0) return;
    if (head.idr) {
      if (marking.longTermReference) throw new H264Error('Long-term references are not followed.');
      held = [entry];
      return;
    }
    for (const { operation, values } of marking.commands) {
      // The largest long-term index has no effect while there is no such picture.
      if (operation === 4) continue;
      if (operation !== 1) throw new H264Error('Long-term references are not followed.');
      const wanted = head.frameNum - ((values[0] ?? 0) + 1);
      const left = held.filter((one) => numberOf(one, head.frameNum) !== wanted);
      if (left.length === held.length) throw new H264Error('A picture lets go of one that is not there.');
      held = left;
    }
    if (marking.commands.length === 0 && held.length >= Math.max(1, sps.maxRefFrames)) {
      const oldest = Math.min(...held.map((one) => numberOf(one, head.frameNum)));
      held = held.filter((one) => numberOf(one, head.frameNum) !== oldest);
    }
    if (held.length >= Math.max(1, sps.maxRefFrames))
      throw new H264Error('There is no room for a reference.');
    held = [...held, entry];
  }

  const setOf = (id: number) => {
    const pps = sets.find((set) => set.id === id);
    if (!pps) throw new H264Error('A slice names a parameter set that is not there.');
    return { sps, pps };
  };

  function put(picture: number, { head, marking }: PictureNumbers, bottomDelta: number): number {
    // Even behind pictures that are no references, numbers continue from the last reference.
    const follows = head.idr || (held.length > 0 && head.frameNum === (last.frameNum + 1) % range);
    if (!follows) throw new H264Error('The numbers of the pictures have gaps.');
    const { order, high } = orderOf(head, bottomDelta);
    mark({ picture, frameNum: head.frameNum, order }, head, marking);
    previousNum = head.frameNum;
    if (head.refIdc > 0) last = { frameNum: head.frameNum, orderHigh: high, orderLow: head.pocLsb ?? 0 };
    return order;
  }

  return {
    take(picture, units) {
      const slices = units.filter(isSlice);
      const [first] = slices;
      if (!first) throw new H264Error('A picture has no slice.');
      const head = parseSliceHeader(first, sps);
      const { bottomDelta } = readReferences(first, setOf(head.ppsId));
      const marking = readMarking(first, setOf(head.ppsId));
      const before = held;
      const order = put(picture, { head, marking }, bottomDelta);
      const references = new Set<number>();
      const colocated = new Set<number>();
      for (const slice of slices) {
        const own = parseSliceHeader(slice, sps);
        const fits = own.frameNum === head.frameNum && own.idr === head.idr;
        if (!fits || own.refIdc > 0 !== head.refIdc > 0)
          throw new H264Error('The slices of a picture do not belong together.');
        const { lists } = readReferences(slice, setOf(own.ppsId));
        const named = toNames(before, lists, { frameNum: head.frameNum, order });
        for (const other of named.flat()) references.add(other);
        const [leading] = named[1] ?? [];
        if (leading !== undefined) colocated.add(leading);
      }
      return { head, marking, order, references, colocated };
    },
    put: (picture, numbers) => put(picture, numbers, 0),
    held: () => held.map(({ picture }) => picture),
    fork: () => trackFrom({ held, last, offset, previousNum }, sps, sets),
  };
}

/** Lists before a slice reorders them (8.2.4.2.1 and 8.2.4.2.3), for pictures that are whole frames. */
function startLists(
  held: readonly Held[],
  count: number,
  current: { readonly frameNum: number; readonly order: number },
  numberOf: (one: Held, current: number) => number,
): Held[][] {
  if (count === 0) return [];
  if (count === 1) {
    const number = (one: Held) => numberOf(one, current.frameNum);
    return [[...held].sort((a, b) => number(b) - number(a))];
  }
  const rising = [...held].sort((a, b) => a.order - b.order);
  const before = rising.filter(({ order }) => order < current.order).reverse();
  const behind = rising.filter(({ order }) => order > current.order);
  const [first, second] = [
    [...before, ...behind],
    [...behind, ...before],
  ];
  const [a, b, ...rest] = second;
  const isSame = second.every((one, at) => one === first[at]);
  return [first, isSame && a && b ? [b, a, ...rest] : second];
}
