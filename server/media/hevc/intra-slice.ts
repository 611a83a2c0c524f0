import { createBitReader, createBitWriter } from '../h264/bits.ts';
import { fromRbsp, toRbsp } from '../h264/nal.ts';
import type { CodingPps, CodingSps } from './hevc-coding-sets.ts';
import { HevcError } from './hevc-error.ts';
import { hevcNalType } from './hevc-nal.ts';
import { readSliceSegment, SLICE } from './hevc-slice-header.ts';

/** The place of an intra picture in its sequence. */
export interface IntraPlace {
  /** The two bytes in front of every slice of the picture: type, layer and sub-layer. */
  readonly nalHead: Buffer;
  /** slice_pic_order_cnt_lsb. */
  readonly pocLsb: number;
  /** Order counts, relative to its own, of the pictures that later ones refer to; never 0. */
  readonly held: readonly number[];
  /** Long-term references of later pictures; none where left out. */
  readonly heldLong?: readonly HeldLong[];
}

/** A picture that is kept for later ones until it is no longer named. */
export interface HeldLong {
  readonly pocLsb: number;
  /** By how many ranges of these bits the high part of its order count lies below that of the picture. */
  readonly cyclesBelow: number;
}

export interface IntraMove {
  /** The parameter sets under which the slice was written. */
  readonly own: { readonly sps: CodingSps; readonly pps: CodingPps };
  /** The sequence that it joins. */
  readonly sps: CodingSps;
  /** Id of its own picture parameter set in that sequence. */
  readonly ppsId: number;
  readonly place: IntraPlace;
}

/**
 * Whether the data of intra slices are read in the same way under both sequence parameter sets (ITU-T H.265, 7.3.8 and
 * 8.4). Settings for inter pictures alone may differ, and a sequence may allow an offset after the loop filter that a
 * slice does not use.
 */
export function readsIntraAlike(own: CodingSps, sps: CodingSps): boolean {
  const same = (key: keyof CodingSps) => own[key] === sps[key];
  const shape = ['width', 'height', 'bitDepthLuma', 'bitDepthChroma'] as const;
  const blocks = ['minCbLog2', 'ctbLog2', 'minTbLog2', 'maxTbLog2', 'intraDepth'] as const;
  if (own.pcm || sps.pcm || own.sao || sps.scalingLists === 'own') return false;
  return [...shape, ...blocks, 'strongSmoothing' as const, 'scalingLists' as const].every(same);
}

/**
 * Turns the only slice of an IDR picture into that of an intra picture inside another sequence: a header of its own,
 * then its data byte for byte (ITU-T H.265, 7.3.6.1).
 * @param unit NAL unit of the slice
 * @throws HevcError or H264Error when it is another kind of slice, or needs more than such a header can state
 */
export function moveIntraSlice(unit: Buffer, { own, sps, ppsId, place }: IntraMove): Buffer {
  const rbsp = toRbsp(unit);
  const { header, isFirst, dataAt } = readSliceSegment(rbsp, () => own, null);
  const { pps } = own;
  const isPlain = !pps.outputFlag && pps.extraHeaderBits === 0 && !pps.headerExtension;
  const isWhole = !pps.tiles && !pps.wavefronts && !pps.dependentSlices;
  if (!isFirst || header.type !== SLICE.i || header.references || !isPlain || !isWhole || own.sps.sao) {
    throw new HevcError('The encoder gave an unexpected slice.');
  }
  if (hevcNalType(place.nalHead) >= 16) throw new HevcError('A key picture has no place amid others.');
  const reader = createBitReader(rbsp);
  // NAL header, first_slice_segment_in_pic_flag, no_output_of_prior_pics_flag.
  reader.bits(18);
  reader.ue();
  reader.ue();
  const writer = createBitWriter(64);
  writer.bits(16, place.nalHead.readUInt16BE(0));
  writer.flag(true);
  writer.ue(ppsId);
  writer.ue(SLICE.i);
  writer.bits(sps.pocBits, place.pocLsb);
  writeHeld(writer, sps, place);
  // It does not use the motion of others, but later pictures still may (7.4.7.1).
  if (sps.temporalMotion) writer.flag(true);
  if (sps.sao) writer.bits(2, 0);
  // Quantiser, chroma and loop filter as its own picture parameter set requires.
  const headerEnd = createBitReader(rbsp.subarray(0, dataAt)).stopBit();
  writer.copy(rbsp, reader.position(), headerEnd);
  writer.stop();
  return fromRbsp(Buffer.concat([writer.bytes(), rbsp.subarray(dataAt)]));
}

/**
 * Writes out the reference picture set.
 * @param used order counts, relative to the picture's own, of its own references
 */
export function writeHeld(
  writer: ReturnType<typeof createBitWriter>,
  sps: CodingSps,
  { held, heldLong = [] }: Pick<IntraPlace, 'held' | 'heldLong'>,
  used: readonly number[] = [],
): void {
  // short_term_ref_pic_set_sps_flag, then inter_ref_pic_set_prediction_flag where there are sets to predict from.
  writer.flag(false);
  if (sps.shortTermSets.length > 0) writer.flag(false);
  const sides = [-1, 1].map((sign) =>
    held
      .map((delta) => delta * sign)
      .filter((distance) => distance > 0)
      .sort((a, b) => a - b),
  );
  for (const side of sides) writer.ue(side.length);
  for (const [index, side] of sides.entries()) {
    side.forEach((distance, at) => {
      writer.ue(distance - (side[at - 1] ?? 0) - 1);
      writer.flag(used.includes(index === 0 ? -distance : distance));
    });
  }
  if (!sps.longTerm) {
    if (heldLong.length > 0) throw new HevcError('The sequence has no long-term references.');
    return;
  }
  if (sps.longTerm.length > 0) writer.ue(0);
  writer.ue(heldLong.length);
  let cycles = 0;
  for (const { pocLsb, cyclesBelow } of [...heldLong].sort((a, b) => a.cyclesBelow - b.cyclesBelow)) {
    writer.bits(sps.pocBits, pocLsb);
    writer.flag(false);
    writer.flag(true);
    writer.ue(cyclesBelow - cycles);
    cycles = cyclesBelow;
  }
}
