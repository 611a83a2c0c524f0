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

/** A picture part of which cannot be read. */
export interface TornPicture {
  /** From the first macroblock on that cannot be read to where its slice ends, or the last such slice. Damage may begin some before. */
  readonly lost: LostBlocks;
  /** First macroblock of the slice that it begins in. */
  readonly firstOfSlice: number;
  /**
   * Its readable slices and macroblocks as they are, and others in the place of the rest: all that later pictures take over from the readable
   * part, motion included, stays.
   * @param first from here on macroblocks are given up, from `firstOfSlice` to `lost.first`
   * @returns NAL units in the place of the picture's
   * @throws H264Error where the picture is coded in a way that is not supported
   */
  mend(first: number, instead: StandInPart): Buffer[];
}

/** What stands in the place of the unreadable part. */
export type StandInPart = Pick<StandInSlice, 'head' | 'kind' | 'at'>;

/** A slice whose header is read. */
export interface TornSlice {
  readonly unit: Buffer;
  readonly opened: OpenSlice;
}

const firstOf = ({ opened }: TornSlice): number => opened.start.firstMb;

/**
 * Finds what of a picture cannot be read: values that are impossible, or slices that do not end where the next one begins (ITU-T H.264,
 * 7.3.4). Frames of 4:2:0 with 8 bits only.
 * @param units its NAL units
 * @returns null where all of it can be read, or a header cannot
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

/** Whether slice data of a sequence are read: frames of 4:2:0 with 8 bits. */
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
  // Bytes that coded data cannot hold are none, nor is what follows.
  const { rbsp } = withoutPrevention(unit.subarray(0, findStartCode(unit) ?? unit.length));
  return { unit, opened: { context, rbsp, start: readSliceStart(rbsp, context) } };
}

/** The macroblock from which on a slice cannot be read; null where it ends in front of `next`. */
function unreadableFrom(opened: OpenSlice, state: MbState, cabac: CabacDecoder, next: number): number | null {
  try {
    const { end } = readSliceData(opened, state, cabac);
    // A slice that ends elsewhere went astray no one knows where.
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

/** A slice that ends in front of a macroblock. */
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

/** Copies a slice up to a bit; it no longer says that all slices of the picture are of its kind. */
function copyHead(writer: BitWriter, rbsp: Buffer, endBit: number): void {
  const reader = createBitReader(rbsp);
  writer.bits(8, reader.bits(8));
  writer.ue(reader.ue());
  writer.ue(reader.ue() % ALL_ALIKE);
  writer.copy(rbsp, reader.position(), endBit);
}
