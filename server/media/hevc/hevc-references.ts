import { H264Error } from '../h264/h264-error.ts';
import { toRbsp } from '../h264/nal.ts';
import { orderMsb } from '../order-count.ts';
import { type CodingPps, type CodingSps, parseCodingPps, parseCodingSps } from './hevc-coding-sets.ts';
import { HevcError } from './hevc-error.ts';
import { HEVC_NAL, hevcLayer, hevcNalType, isSubLayerNonReference } from './hevc-nal.ts';
import {
  type ActiveSets,
  readSliceSegment,
  type SliceHeader,
  type SliceReferences,
} from './hevc-slice-header.ts';

/** Enough of a slice for its header. */
const HEAD_BYTES = 1024;

/** An HEVC picture among the others of its stream. */
export interface OrderedPicture {
  /** PicOrderCntVal (ITU-T H.265, 8.3.1). */
  readonly order: number;
  /** Order counts of the pictures that it refers to; null where it has long-term references. */
  readonly refersTo: readonly number[] | null;
  /** Order counts of all that it or later pictures refer to; null where there are long-term references. */
  readonly holds: readonly number[] | null;
  /** Order counts start anew here, and nothing before is referred to any more. */
  readonly restarts: boolean;
}

/**
 * Reads the place of pictures in the order of display, and what they refer to, from their first slices, handed in one by one in
 * the order of decoding from an instantaneous decoding refresh on, with the word that a picture has no others, whose lists of
 * references might be longer; null for a slice whose header cannot be read.
 * @param units the parameter sets of the stream
 * @returns null when they are not supported or damaged
 */
export function createOrderReader(
  units: readonly Buffer[],
): ((slice: Buffer, isAlone: boolean) => OrderedPicture | null) | null {
  const sets = unlessDamaged(() => readHevcSets(units));
  if (!sets) return null;
  let before = { lsb: 0, msb: 0 };
  return (slice, isAlone) =>
    unlessDamaged(() => {
      const { header, sets: active } = readHeader(slice, sets);
      if (!header.references) {
        before = { lsb: 0, msb: 0 };
        return { order: 0, refersTo: [], holds: [], restarts: true };
      }
      const { pocLsb, usesLongTerm, held, holdsLongTerm } = header.references;
      const deltas = isAlone ? listed(header, header.references) : header.references.deltas;
      const msb = orderMsb(pocLsb, before, 2 ** active.sps.pocBits);
      if (countsForOrder(slice)) before = { lsb: pocLsb, msb };
      const order = msb + pocLsb;
      const at = (delta: number) => order + delta;
      return {
        order,
        refersTo: usesLongTerm ? null : deltas.map(at),
        holds: holdsLongTerm ? null : held.map(at),
        restarts: false,
      };
    });
}

/** The parameter sets of a stream by their ids. */
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

/** The pictures that stand in the lists of a slice (8.3.4); all that it may use where lists are put together otherwise. */
function listed({ active, modifiesLists }: SliceHeader, { deltas }: SliceReferences): readonly number[] {
  if (modifiesLists) return deltas;
  const before = deltas.filter((delta) => delta < 0);
  const after = deltas.filter((delta) => delta > 0);
  const lists = [[...before, ...after].slice(0, active[0]), [...after, ...before].slice(0, active[1])];
  return [...new Set(lists.flat())];
}

/** Whether later order counts are told from the one of this slice's picture (prevTid0Pic, 8.3.1). */
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
