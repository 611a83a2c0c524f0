import { findStartCode } from '../h264/check-sample.ts';
import { withoutPrevention } from '../h264/emulation-prevention.ts';
import { H264Error } from '../h264/h264-error.ts';
import type { LostBlocks } from '../lost-blocks.ts';
import { type CodingPps, type CodingSps, parseCodingPps, parseCodingSps } from './hevc-coding-sets.ts';
import { HevcError, HevcUnsupportedError } from './hevc-error.ts';
import { baseSlices, HEVC_NAL, hevcLayer, hevcNalType } from './hevc-nal.ts';
import { readSliceData } from './hevc-slice-data.ts';
import {
  type ActiveSets,
  readSliceSegment,
  type SliceHeader,
  type SliceSegment,
} from './hevc-slice-header.ts';
import { SliceState } from './hevc-slice-state.ts';

/** What the data of a picture show about themselves. Damage after which the coding stays in step is not seen. */
export type SliceVerdict = 'whole' | 'damaged' | 'unknown';

/** Checks pictures of one stream, one after another. */
export interface HevcSliceChecker {
  /**
   * @param units the NAL units of one picture, emulation prevention included; parameter sets among them are remembered
   */
  check(units: readonly Buffer[]): SliceVerdict;
  /**
   * Which part of a damaged picture cannot be read. Wrong but possible data are read until something is impossible, so
   * the damage may begin some blocks earlier.
   * @returns null where everything can be read, and where this cannot be determined
   */
  findLoss(units: readonly Buffer[]): LostBlocks | null;
  /** Whether the stream may hold what hardly any encoder writes: raw blocks, tiles, slices that depend on others. */
  maySeeRareSyntax(): boolean;
}

interface StoredSet<T> {
  readonly set: T;
  /** The bytes as they were read, because streams repeat their sets. */
  readonly unit: Buffer;
}

/**
 * Whether the data of pictures can be read to their end: every value is possible, and each slice ends exactly where its
 * data do (ITU-T H.265, 7.3.8 and 9.3). No samples are decoded.
 * @param parameterSets NAL units; pictures that need an unreadable one stay unknown
 */
export function createHevcSliceChecker(parameterSets: readonly Buffer[]): HevcSliceChecker {
  const spsById = new Map<number, StoredSet<CodingSps>>();
  const ppsById = new Map<number, StoredSet<CodingPps>>();
  const states = new Map<number, SliceState>();
  let isLost = false;
  const store = <T extends { readonly id: number }>(
    sets: Map<number, StoredSet<T>>,
    unit: Buffer,
    parse: (unit: Buffer) => T,
  ) => {
    const set = parse(unit);
    if (sets.get(set.id)?.unit.equals(unit)) return;
    sets.set(set.id, { set, unit: Buffer.from(unit) });
    states.clear();
  };
  const learn = (unit: Buffer) => {
    if (hevcLayer(unit) > 0) return;
    const type = hevcNalType(unit);
    try {
      if (type === HEVC_NAL.sps) store(spsById, unit, parseCodingSps);
      if (type === HEVC_NAL.pps) store(ppsById, unit, parseCodingPps);
    } catch (error) {
      if (!(error instanceof HevcError || error instanceof H264Error)) throw error;
      isLost = true;
    }
  };
  const stateOf = (ppsId: number) => {
    const known = states.get(ppsId);
    if (known) return known;
    const pps = ppsById.get(ppsId)?.set;
    const sps = pps && spsById.get(pps.spsId)?.set;
    if (!pps || !sps) throw new HevcError('A slice names parameter sets that are not there.');
    const state = createState(sps, pps);
    states.set(ppsId, state);
    return state;
  };
  for (const unit of parameterSets) learn(unit);
  /** The slices of a picture; null where nothing can be said about them. */
  const slicesOf = (units: readonly Buffer[]) => {
    for (const unit of units) learn(unit);
    const slices = baseSlices(units);
    return isLost || slices.length === 0 || spsById.size === 0 || ppsById.size === 0 ? null : slices;
  };
  return {
    maySeeRareSyntax: () =>
      [...spsById.values()].some(({ set }) => set.pcm !== null) ||
      [...ppsById.values()].some(({ set }) => set.tiles !== null || set.dependentSlices),
    check(units) {
      const slices = slicesOf(units);
      if (!slices) return 'unknown';
      try {
        readPicture(slices, stateOf);
        return 'whole';
      } catch (error) {
        if (error instanceof HevcUnsupportedError) return 'unknown';
        if (error instanceof HevcError || error instanceof H264Error) return 'damaged';
        throw error;
      }
    },
    findLoss: (units) => findLoss(slicesOf(units) ?? [], stateOf),
  };
}

/** Sets that do not fit together prove nothing about the slices. */
function createState(sps: CodingSps, pps: CodingPps): SliceState {
  try {
    return new SliceState(sps, pps);
  } catch (error) {
    if (error instanceof HevcError) throw new HevcUnsupportedError(error.message);
    throw error;
  }
}

type StateOf = (ppsId: number) => SliceState;

function readPicture(slices: readonly Buffer[], stateOf: StateOf): void {
  let header: SliceHeader | null = null;
  let read = 0;
  let total = 0;
  for (const [place, slice] of slices.entries()) {
    const opened: OpenedSlice = openSlice(slice, stateOf, header);
    const { segment } = opened;
    const { sets: state } = segment;
    if (segment.isFirst !== (place === 0)) throw new HevcError('The first slice of a picture is missing.');
    if (state.layout.toCoded[segment.address] !== read)
      throw new HevcError('A slice of a picture is missing.');
    header = segment.header;
    read = readSliceData(state, segment, opened.rbsp, opened.ends);
    total = state.ctbs;
  }
  if (read !== total) throw new HevcError('A slice of a picture is missing.');
}

/** A slice whose header has been read. */
export interface OpenedSlice<State extends ActiveSets = SliceState> {
  readonly segment: SliceSegment<State>;
  readonly rbsp: Buffer;
  /** Places in it behind each of its substreams. */
  readonly ends: readonly number[];
  /** Places in it where a byte of emulation prevention was removed. */
  readonly removed: readonly number[];
}

/** Reads the header of a slice; `previous` is that of the preceding slice of the same picture. */
export function openSlice<State extends ActiveSets>(
  slice: Buffer,
  stateOf: (ppsId: number) => State,
  previous: SliceHeader | null,
): OpenedSlice<State> {
  const { rbsp, removed } = withoutPrevention(slice);
  const segment = readSliceSegment(rbsp, stateOf, previous);
  return { segment, rbsp, ends: substreamEnds(segment, rbsp.length, removed), removed };
}

/**
 * What is lost of a picture whose slices do not depend on each other: from the first place that cannot be read to the
 * end of the last slice that cannot.
 */
function findLoss(slices: readonly Buffer[], stateOf: StateOf): LostBlocks | null {
  let lost: LostBlocks | null = null;
  try {
    const opened = slices.map((slice) => openSlice(upToImpossible(slice), stateOf, null));
    for (const [place, one] of opened.entries()) {
      const { segment } = one;
      const { sets: state, address } = segment;
      const next = opened[place + 1]?.segment.address ?? state.ctbs;
      if (state.pps.tiles || segment.isFirst !== (place === 0) || next <= address) return null;
      if (isReadable(one, next)) continue;
      // All blocks may be readable, and only the end does not fit.
      const first: number = lost?.first ?? Math.min(state.blocksRead, next - 1);
      lost = { size: 2 ** state.sps.ctbLog2, first, end: next };
    }
  } catch (error) {
    // Nothing is known about a picture with an unreadable header.
    if (error instanceof HevcError || error instanceof H264Error) return null;
    throw error;
  }
  return lost;
}

const isReadable = ({ segment, rbsp, ends }: OpenedSlice, next: number): boolean =>
  endsAt(() => readSliceData(segment.sets, segment, rbsp, ends), next);

/**
 * Whether the reading of a slice ends in front of a block, in coding order.
 * @throws HevcUnsupportedError where that cannot be determined
 */
export function endsAt(read: () => number, next: number): boolean {
  try {
    return read() === next;
  } catch (error) {
    const isFault = error instanceof HevcError || error instanceof H264Error;
    if (!isFault || error instanceof HevcUnsupportedError) throw error;
    return false;
  }
}

/** A slice up to bytes that coded data cannot hold. */
function upToImpossible(slice: Buffer): Buffer {
  return slice.subarray(0, findStartCode(slice) ?? slice.length);
}

/** Places behind the substreams in the RBSP. Entry points count emulation prevention bytes (7.4.7.1). */
function substreamEnds(
  { dataAt, substreamBytes }: { readonly dataAt: number; readonly substreamBytes: readonly number[] },
  end: number,
  removed: readonly number[],
): number[] {
  let passed = 0;
  // `removed` holds places in the RBSP where a byte was taken out.
  while (passed < removed.length && (removed[passed] ?? 0) <= dataAt) passed++;
  let coded = dataAt + passed;
  const ends = substreamBytes.map((bytes) => {
    coded += bytes;
    while (passed < removed.length && (removed[passed] ?? 0) + passed < coded) passed++;
    return coded - passed;
  });
  return [...ends, end];
}
