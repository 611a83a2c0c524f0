import { createBitWriter, type BitWriter } from '../h264/bits.ts';
import { fromRbsp } from '../h264/nal.ts';
import type { SquareMotion } from '../square-motion.ts';
import { type CodingPps, sizeInBlocks } from './hevc-coding-sets.ts';
import { HevcError } from './hevc-error.ts';
import { hevcNalType } from './hevc-nal.ts';
import { type ActiveSets, SLICE } from './hevc-slice-header.ts';
import { type IntraPlace, writeHeld } from './intra-slice.ts';
import { codeMovedBlocks } from './moved-blocks.ts';

/** five_minus_max_num_merge_cand; merging is not used. */
const FEWEST_CANDIDATES = 4;
/** Bits that can hold any length of a substream. */
const LENGTH_BITS = 32;
/** NAL unit types from here on belong to key pictures (ITU-T H.265, table 7-1). */
export const FIRST_KEY = 16;

/**
 * Writes the header of a slice of moved blocks behind its references (7.3.6.1), up to the places of its substreams.
 * @param used number of pictures that the slice could refer to (NumPicTotalCurr)
 */
export function writeMovedPrediction(writer: BitWriter, { sps, pps }: ActiveSets, used: number): void {
  if (sps.sao) writer.bits(2, 0);
  // One reference, whatever the picture parameter set says.
  writer.flag(true);
  writer.ue(0);
  if (pps.listModification && used > 1) writer.flag(false);
  if (pps.cabacInit) writer.flag(false);
  if (pps.weightedPred) {
    writer.ue(0);
    writer.se(0);
    writer.bits(2, 0);
  }
  writer.ue(FEWEST_CANDIDATES);
  writer.se(0);
  if (pps.chromaQpOffsets) for (let plane = 0; plane < 2; plane += 1) writer.se(0);
  if (pps.deblockingOverride) writer.flag(false);
  if (pps.loopFilterAcross && !pps.deblockingOff) writer.flag(true);
}

/** A NAL unit from a header, its end and its data. */
export function endSlice(pps: CodingPps, writer: BitWriter, substreams: readonly Buffer[]): Buffer {
  if (pps.wavefronts) {
    const lengths = substreams.slice(0, -1).map((bytes) => fromRbsp(bytes).length);
    writer.ue(lengths.length);
    if (lengths.length > 0) writer.ue(LENGTH_BITS - 1);
    for (const length of lengths) writer.bits(LENGTH_BITS, length - 1);
  }
  if (pps.headerExtension) writer.ue(0);
  writer.stop();
  return fromRbsp(Buffer.concat([writer.bytes(), ...substreams]));
}

export interface MovedPlace extends IntraPlace {
  /** Order count of the picture from which the blocks come, relative to its own; one of those held. */
  readonly reference: number;
}

/**
 * Codes a picture of which nothing is left as one slice of moved blocks. Unlike an intra picture, it gives later ones
 * motion to refer to; unlike what a decoder uses for a missing picture, it shows something.
 * @param sets that the surrounding pictures name
 * @returns its NAL unit
 * @throws HevcError where pictures of the stream are coded in a way that is not supported
 */
export function movedPicture(sets: ActiveSets, place: MovedPlace, motionAt: SquareMotion): Buffer {
  const { sps, pps } = sets;
  const isPlain = !pps.tiles && !pps.outputFlag && hevcNalType(place.nalHead) < FIRST_KEY;
  if (!isPlain || !place.held.includes(place.reference)) {
    throw new HevcError('A lost picture is coded in an unusual way.');
  }
  const writer = createBitWriter(64);
  writer.bits(16, place.nalHead.readUInt16BE(0));
  writer.flag(true);
  writer.ue(pps.id);
  writer.bits(pps.extraHeaderBits, 0);
  writer.ue(SLICE.p);
  writer.bits(sps.pocBits, place.pocLsb);
  writeHeld(writer, sps, place, [place.reference]);
  // Later pictures may use the motion of others (7.4.7.1).
  if (sps.temporalMotion) writer.flag(true);
  writeMovedPrediction(writer, sets, 1);
  const { columns, rows } = sizeInBlocks(sps);
  return endSlice(pps, writer, codeMovedBlocks({ sps, pps, first: 0, end: columns * rows, motionAt }));
}
