import { H264Error } from '../h264/h264-error.ts';
import { toRbsp } from '../h264/nal.ts';
import { orderMsb } from '../order-count.ts';
import { type CodingPps, type CodingSps, parseCodingPps, parseCodingSps } from './hevc-coding-sets.ts';
import { HevcError } from './hevc-error.ts';
import { HEVC_NAL, hevcLayer, hevcNalType, isSubLayerNonReference } from './hevc-nal.ts';
import {
  type ActiveSets,
  type LongTermReference,
  readSliceSegment,
  type SliceHeader,
  type SliceReferences,
} from './hevc-slice-header.ts';

/** Bytes that certainly hold a slice's header. */
const HEAD_BYTES = 1024;

/** The order and references of an HEVC picture within its stream. */
export interface OrderedPicture {
  /** PicOrderCntVal (ITU-T H.265, 8.3.1). */
  readonly order: number;
  /** Order counts of its references; null where a long-term reference cannot be determined. */
  readonly refersTo: readonly number[] | null;
  /**
   * Order counts of everything that it or later pictures refer to, except long-term references; null where one of these
   * cannot be determined.
   */
  readonly holds: readonly number[] | null;
  /** Order counts of its long-term references and of those of later pictures. */
  readonly holdsLong: readonly number[];
  /** Whether order counts start anew here and nothing before is referred to any more. */
  readonly restarts: boolean;
}

/**
 * Reads the display order and references of pictures from their first slices. They are passed one by one in decode
 * order from an instantaneous decoding refresh on, and the caller states whether a picture has further slices, whose
 * reference lists might be longer. Null for a slice whose header cannot be read.
 * @param units the parameter sets of the stream
 * @returns null when they are not supported or damaged
 */
export function createOrderReader(
  units: readonly Buffer[],
): ((slice: Buffer, isAlone: boolean) => OrderedPicture | null) | null {
  const sets = unlessDamaged(() => readHevcSets(units));
  if (!sets) return null;
  let before = { lsb: 0, msb: 0 };
  let known: number[] = [];
  return (slice, isAlone) =>
    unlessDamaged(() => {
      const { header, sets: active } = readHeader(slice, sets);
      if (!header.references) {
        before = { lsb: 0, msb: 0 };
        known = [0];
        return { order: 0, refersTo: [], holds: [], holdsLong: [], restarts: true };
      }
      const { references } = header;
      const range = 2 ** active.sps.pocBits;
      const msb = orderMsb(references.pocLsb, before, range);
      if (countsForOrder(slice)) before = { lsb: references.pocLsb, msb };
      const order = msb + references.pocLsb;
      const long = references.longTerm.map((one) => ({ ...one, order: longOrder(one, msb, range, known) }));
      known.push(order);
      const isTold = long.every((one) => one.order !== null);
      const ordersOf = (ones: typeof long) => ones.flatMap((one) => one.order ?? []);
      const at = (delta: number) => order + delta;
      const used = ordersOf(long.filter((one) => one.used));
      return {
        order,
        refersTo: isTold
          ? isAlone
            ? listed(header, references, order, used)
            : [...references.deltas.map(at), ...used]
          : null,
        holds: isTold ? references.held.map(at) : null,
        holdsLong: ordersOf(long),
        restarts: false,
      };
    });
}

/**
 * The order count of a long-term reference (8.3.2). Where only its lowest bits are stated, it is the one picture so far
 * that has them.
 * @param msb the high part of the order count of the picture that names it
 * @returns null where there is none, or more than one
 */
function longOrder(
  { pocLsb, cyclesBelow }: LongTermReference,
  msb: number,
  range: number,
  known: readonly number[],
): number | null {
  if (cyclesBelow !== null) return msb - cyclesBelow * range + pocLsb;
  const fitting = known.filter((order) => ((order % range) + range) % range === pocLsb);
  return fitting.length === 1 ? (fitting[0] ?? null) : null;
}

/** The parameter sets of a stream, by id. */
export interface HevcSets {
  readonly sps: ReadonlyMap<number, CodingSps>;
  readonly pps: ReadonlyMap<number, CodingPps>;
  /**
   * Those that a slice names.
   * @throws HevcError when there are none
   */
  of(ppsId: number): ActiveSets;
}

/**
 * The sets of the base layer among NAL units.
 * @throws HevcError or H264Error when one is damaged or not supported
 */
export function readHevcSets(units: readonly Buffer[]): HevcSets {
  const ofType = (type: number) =>
    units.filter((unit) => hevcNalType(unit) === type && hevcLayer(unit) === 0);
  const sps = new Map(
    ofType(HEVC_NAL.sps)
      .map(parseCodingSps)
      .map((set) => [set.id, set]),
  );
  const pps = new Map(
    ofType(HEVC_NAL.pps)
      .map(parseCodingPps)
      .map((set) => [set.id, set]),
  );
  return {
    sps,
    pps,
    of(ppsId) {
      const picture = pps.get(ppsId);
      const sequence = picture && sps.get(picture.spsId);
      if (!picture || !sequence) throw new HevcError('A slice names parameter sets that are not there.');
      return { sps: sequence, pps: picture };
    },
  };
}

function readHeader(slice: Buffer, sets: HevcSets) {
  const segment = readSliceSegment(toRbsp(slice.subarray(0, HEAD_BYTES)), sets.of, null);
  if (!segment.isFirst) throw new HevcError('The first slice of a picture is missing.');
  return segment;
}

/** The pictures in the lists of a slice (8.3.4), by order count; where the lists are modified, all that it may use. */
function listed(
  { active, modifiesLists }: SliceHeader,
  { deltas }: SliceReferences,
  order: number,
  long: readonly number[],
): readonly number[] {
  const side = (sign: number) => deltas.filter((delta) => delta * sign > 0).map((delta) => order + delta);
  const [before, after] = [side(-1), side(1)];
  if (modifiesLists) return [...before, ...after, ...long];
  const lists = [
    [...before, ...after, ...long].slice(0, active[0]),
    [...after, ...before, ...long].slice(0, active[1]),
  ];
  return [...new Set(lists.flat())];
}

/** Whether later order counts are derived from that of this slice's picture (prevTid0Pic, 8.3.1). */
export function countsForOrder(slice: Buffer): boolean {
  const type = hevcNalType(slice);
  const isLowest = ((slice[1] ?? 0) & 7) === 1;
  const isLeading = type >= HEVC_NAL.radlN && type <= HEVC_NAL.raslR;
  return isLowest && !isLeading && !isSubLayerNonReference(slice);
}

function unlessDamaged<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof HevcError || error instanceof H264Error) return null;
    throw error;
  }
}
