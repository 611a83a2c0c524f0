import { CabacCopier } from '../../cabac/cabac-copier.ts';
import { CabacDecoder } from '../../cabac/cabac-decoder.ts';
import type { LostBlocks } from '../../lost-blocks.ts';
import { createBitReader, createBitWriter, type BitWriter } from '../bits.ts';
import { findStartCode } from '../check-sample.ts';
import { H264Error } from '../h264-error.ts';
import { withoutPrevention } from '../emulation-prevention.ts';
import { fromRbsp, isSlice } from '../nal.ts';
import type { Pps } from '../pps.ts';
import { parseSliceHeader } from '../slice-header.ts';
import { MACROBLOCK, type Sps } from '../sps.ts';
import { AVC_CONTEXT_COUNT } from './avc-contexts.ts';
import { MbState } from './mb-state.ts';
import { type OpenSlice, readSliceData } from './slice-data.ts';
import { readSliceStart } from './slice-start.ts';
import { ALL_ALIKE } from './stand-in-head.ts';
import { codeStandIn, type StandInSlice } from './stand-in-macroblocks.ts';

/** A picture of which a part cannot be read. */
export interface TornPicture {
  /**
   * From the first unreadable macroblock to the end of its slice, or of the last such slice. The damage may begin some
   * macroblocks earlier.
   */
  readonly lost: LostBlocks;
  /** First macroblock of the slice in which it begins. */
  readonly firstOfSlice: number;
  /**
   * Keeps its readable slices and macroblocks and replaces the rest, so that everything later pictures take from the
   * readable part, including motion, stays.
   * @param first macroblocks from here on are given up; from `firstOfSlice` to `lost.first`
   * @returns NAL units that replace the picture's
   * @throws H264Error where the picture is coded in a way that is not supported
   */
  mend(first: number, instead: StandInPart): Buffer[];
}

/** What replaces the unreadable part. */
export type StandInPart = Pick<StandInSlice, 'head' | 'kind' | 'at'>;

/** A slice whose header has been read. */
export interface TornSlice {
  readonly unit: Buffer;
  readonly opened: OpenSlice;
}

const firstOf = ({ opened }: TornSlice): number => opened.start.firstMb;

/**
 * Finds the part of a picture that cannot be read: impossible values, or slices that do not end where the next one
 * begins (ITU-T H.264, 7.3.4). Frames of 4:2:0 with 8 bits only.
 * @param units its NAL units
 * @returns null where everything can be read, or a header cannot
 * @throws H264Error for other kinds of pictures
 */
export function openTorn(units: readonly Buffer[], sps: Sps, sets: readonly Pps[]): TornPicture | null {
  if (!isUsualFormat(sps)) throw new H264Error('Only 8 bits in 4:2:0.');
  const slices = units.filter(isSlice).map((unit) => openSlice(unit, sps, sets));
  const count = sps.widthMbs * sps.heightMbs;
  const state = new MbState(sps.widthMbs, sps.heightMbs);
  const cabac = new CabacDecoder(AVC_CONTEXT_COUNT);
  let lost: LostBlocks | null = null;
  for (const [at, { opened }] of slices.entries()) {
    const { firstMb } = opened.start;
    const next = slices[at + 1]?.opened.start.firstMb ?? count;
    if (next <= firstMb || (at === 0 && firstMb > 0)) return null;
    const readTo = unreadableFrom(opened, state, cabac, next);
    if (readTo === null) continue;
    const first: number = lost?.first ?? readTo;
    lost = { size: MACROBLOCK, first, end: next };
  }
  const torn = slices.findLast((slice) => lost !== null && firstOf(slice) <= lost.first);
  if (!lost || !torn) return null;
  const { end } = lost;
  return {
    lost,
    firstOfSlice: firstOf(torn),
    mend(first, instead) {
      const dropped = slices.filter((slice) => firstOf(slice) > first && firstOf(slice) < end);
      const mended = mendSlice(torn.opened, { first, end }, instead);
      return units.flatMap((unit) => {
        if (unit === torn.unit) return mended;
        return dropped.some((slice) => slice.unit === unit) ? [] : [unit];
      });
    },
  };
}

/**
 * Whether every slice of a picture can be read to the very end of its data, where the next one begins or the picture
 * ends. Data that went astray do not end there: their last bit is no end of a slice.
 * @returns false also where a part is coded in a way that is not supported
 */
export function readsToEnd(units: readonly Buffer[], sps: Sps, sets: readonly Pps[]): boolean {
  if (!isUsualFormat(sps)) return false;
  const state = new MbState(sps.widthMbs, sps.heightMbs);
  const cabac = new CabacDecoder(AVC_CONTEXT_COUNT);
  try {
    const slices = units.filter(isSlice).map((unit) => openSlice(unit, sps, sets));
    const startOf = (at: number) => slices[at]?.opened.start.firstMb ?? state.count;
    return (
      startOf(0) === 0 &&
      slices.every(({ opened }, at) => unreadableFrom(opened, state, cabac, startOf(at + 1)) === null)
    );
  } catch (error) {
    if (error instanceof H264Error) return false;
    throw error;
  }
}

/** Whether slice data of a sequence can be read: frames of 4:2:0 with 8 bits. */
export const isUsualFormat = (sps: Sps): boolean =>
  sps.frameMbsOnly &&
  sps.chromaFormat === 1 &&
  !sps.separateColourPlanes &&
  sps.bitDepthLuma === 8 &&
  sps.bitDepthChroma === 8;

/** @throws H264Error where its header cannot be read */
export function openSlice(unit: Buffer, sps: Sps, sets: readonly Pps[]): TornSlice {
  const { ppsId } = parseSliceHeader(unit, sps);
  const pps = sets.find(({ id }) => id === ppsId);
  if (!pps) throw new H264Error('A slice names parameter sets that are not there.');
  const context = { sps, pps };
  // Where bytes stand that coded data cannot hold, the data end, and what follows is ignored.
  const { rbsp } = withoutPrevention(unit.subarray(0, findStartCode(unit) ?? unit.length));
  return { unit, opened: { context, rbsp, start: readSliceStart(rbsp, context) } };
}

/** The first macroblock of a slice that cannot be read; null where the slice ends in front of `next`. */
function unreadableFrom(opened: OpenSlice, state: MbState, cabac: CabacDecoder, next: number): number | null {
  try {
    const { end } = readSliceData(opened, state, cabac);
    // In a slice that ends elsewhere, nothing shows where it went wrong.
    return end === next ? null : opened.start.firstMb;
  } catch (error) {
    if (!(error instanceof H264Error)) throw error;
    return Math.min(state.mb, next - 1);
  }
}

/** The readable part of a slice, if there is one, and the slice behind it. */
function mendSlice(
  opened: OpenSlice,
  { first, end }: Pick<LostBlocks, 'first' | 'end'>,
  instead: StandInPart,
): Buffer[] {
  const { context, start } = opened;
  const readable = first > start.firstMb ? [cutSlice(opened, first)] : [];
  const standIn = codeStandIn(createBitWriter(1 << 12), { ...instead, context, first, end });
  return [...readable, fromRbsp(standIn)];
}

/** Cuts a slice so that it ends in front of a macroblock. */
function cutSlice(opened: OpenSlice, end: number): Buffer {
  const copier = new CabacCopier(AVC_CONTEXT_COUNT);
  const { rbsp, start, context } = opened;
  const { sps, pps } = context;
  const cut = readSliceData(opened, new MbState(sps.widthMbs, sps.heightMbs), copier, { cutAt: end });
  if (cut.end !== end) throw new H264Error('A slice ends in front of where it is cut.');
  const writer = createBitWriter(rbsp.length + 16);
  if (pps.cabac) {
    copyHead(writer, rbsp, start.dataAt);
    writer.alignWithOnes();
    return fromRbsp(Buffer.concat([writer.bytes(), ...copier.finish()]));
  }
  copyHead(writer, rbsp, cut.endBit);
  if (cut.skipped > 0) writer.ue(cut.skipped);
  writer.stop();
  return fromRbsp(writer.bytes());
}

/** Copies a slice up to a bit. The copy no longer states that all slices of the picture have the same kind. */
function copyHead(writer: BitWriter, rbsp: Buffer, endBit: number): void {
  const reader = createBitReader(rbsp);
  writer.bits(8, reader.bits(8));
  writer.ue(reader.ue());
  writer.ue(reader.ue() % ALL_ALIKE);
  writer.copy(rbsp, reader.position(), endBit);
}
