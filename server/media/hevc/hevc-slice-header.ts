import { type BitReader, createBitReader } from '../h264/bits.ts';
import { type CodingPps, type CodingSps, sizeInBlocks } from './hevc-coding-sets.ts';
import { HevcError } from './hevc-error.ts';
import { HEVC_NAL, hevcNalType } from './hevc-nal.ts';
import { readShortTermSet } from './hevc-reference-set.ts';

/** slice_type (ITU-T H.265, table 7-7). */
export const SLICE = { b: 0, p: 1, i: 2 } as const;

/**
 * The fields of a slice segment that its data depend on; a dependent segment takes most of them from the one before.
 */
export interface SliceHeader {
  /** SliceAddrRs: where the slice begins, in coding tree blocks, raster order. */
  readonly sliceAddress: number;
  readonly type: number;
  readonly saoLuma: boolean;
  readonly saoChroma: boolean;
  /** Number of pictures in each reference list. */
  readonly active: readonly [number, number];
  /** Whether the lists may be ordered otherwise than by default. */
  readonly modifiesLists: boolean;
  readonly mvdL1Zero: boolean;
  readonly cabacInit: boolean;
  readonly mergeCandidates: number;
  /** SliceQpY. */
  readonly qp: number;
  /** What the picture refers to; null for IDR pictures. */
  readonly references: SliceReferences | null;
  /**
   * Where in the RBSP the references are stated, from the order count to slice_temporal_mvp_enabled_flag: the first
   * bit, and one past the last.
   */
  readonly referenceBits: readonly [number, number];
}

/** Order count of a picture and those of its references (ITU-T H.265, 8.3.1 and 8.3.2). */
export interface SliceReferences {
  /** slice_pic_order_cnt_lsb. */
  readonly pocLsb: number;
  /** Order counts, relative to its own, of the short-term references that the picture itself uses. */
  readonly deltas: readonly number[];
  /** The same for all short-term references that it or later pictures use. */
  readonly held: readonly number[];
  readonly longTerm: readonly LongTermReference[];
  /** Number of pictures that it can refer to (NumPicTotalCurr). */
  readonly used: number;
}

/** A reference that is kept until it is no longer named (8.3.2). */
export interface LongTermReference {
  /** Lowest bits of its order count. */
  readonly pocLsb: number;
  /**
   * By how many ranges of these bits the high part of its order count lies below that of the picture; null where the
   * lowest bits are enough.
   */
  readonly cyclesBelow: number | null;
  readonly used: boolean;
}

export interface SliceSegment<Sets extends ActiveSets = ActiveSets> {
  readonly header: SliceHeader;
  /** The parameter sets that it names. */
  readonly sets: Sets;
  readonly isFirst: boolean;
  readonly isDependent: boolean;
  /** Where the segment begins, in coding tree blocks, raster order. */
  readonly address: number;
  /** Bytes of each substream except the last, emulation prevention included. */
  readonly substreamBytes: readonly number[];
  /** Bit of the RBSP at which the places of substreams are stated, or would be. */
  readonly entryPointsAt: number;
  /** Place in the RBSP of the first byte of slice data. */
  readonly dataAt: number;
}

export interface ActiveSets {
  readonly sps: CodingSps;
  readonly pps: CodingPps;
}

const impossible = () => new HevcError('A slice header holds impossible numbers.');

function limited(value: number, most: number): number {
  if (value > most) throw impossible();
  return value;
}

/** Bits that distinguish `count` values: Ceil(Log2(count)). */
const bitsFor = (count: number) => (count <= 1 ? 0 : 32 - Math.clz32(count - 1));

/**
 * Reads a slice segment header (ITU-T H.265, 7.3.6) of the base layer.
 * @param rbsp the NAL unit without emulation prevention
 * @param setsOf the parameter sets that a slice names; it throws when there are none
 * @param previous header of the slice before in the same picture, for dependent segments
 * @throws HevcError or H264Error when the header is cut off or holds impossible numbers
 */
export function readSliceSegment<Sets extends ActiveSets>(
  rbsp: Buffer,
  setsOf: (ppsId: number) => Sets,
  previous: SliceHeader | null,
): SliceSegment<Sets> {
  const nalType = hevcNalType(rbsp);
  const reader = createBitReader(rbsp);
  reader.bits(16);
  const isFirst = reader.flag();
  if (nalType >= 16) reader.flag();
  const sets = setsOf(reader.ue());
  const { sps, pps } = sets;
  const { columns, rows } = sizeInBlocks(sps);
  const ctbs = columns * rows;
  let isDependent = false;
  let address = 0;
  if (!isFirst) {
    isDependent = pps.dependentSlices && reader.flag();
    address = limited(reader.bits(bitsFor(ctbs)), ctbs - 1);
    if (address === 0) throw impossible();
  }
  if (isDependent && !previous) throw impossible();
  const header = isDependent && previous ? previous : readIndependent(reader, sets, nalType, address);
  const entryPointsAt = reader.position();
  const substreamBytes = pps.tiles || pps.wavefronts ? readEntryPoints(reader, ctbs) : [];
  if (pps.headerExtension) for (let left = limited(reader.ue(), 256); left > 0; left--) reader.bits(8);
  if (!reader.flag()) throw impossible();
  while ((reader.position() & 7) !== 0) if (reader.flag()) throw impossible();
  const dataAt = reader.position() >> 3;
  return { header, sets, isFirst, isDependent, address, substreamBytes, entryPointsAt, dataAt };
}

function readIndependent(
  reader: BitReader,
  { sps, pps }: ActiveSets,
  nalType: number,
  sliceAddress: number,
): SliceHeader {
  reader.bits(pps.extraHeaderBits);
  const type = limited(reader.ue(), 2);
  if (pps.outputFlag) reader.flag();
  // Pictures without references (IDR) state no sets of them.
  const isIdr = nalType === HEVC_NAL.idrWithLeading || nalType === HEVC_NAL.idrAlone;
  const referencesAt = reader.position();
  const { used, temporalMotion, references } = isIdr ? NO_REFERENCES : readReferences(reader, sps);
  const referenceBits = [referencesAt, reader.position()] as const;
  const saoLuma = sps.sao && reader.flag();
  const saoChroma = sps.sao && reader.flag();
  const isPredicted = type !== SLICE.i;
  if (isPredicted && nalType >= 16 && nalType <= 23) throw impossible();
  const prediction = isPredicted
    ? readPrediction(reader, pps, { isB: type === SLICE.b, used, temporalMotion })
    : { active: [0, 0] as const, mvdL1Zero: false, cabacInit: false, mergeCandidates: 0 };
  const qp = pps.initQp + reader.se();
  if (qp > 51 || qp < -6 * (sps.bitDepthLuma - 8)) throw impossible();
  if (pps.chromaQpOffsets) for (let plane = 0; plane < 2; plane++) limited(Math.abs(reader.se()), 12);
  let deblockingOff = pps.deblockingOff;
  if (pps.deblockingOverride && reader.flag()) {
    deblockingOff = reader.flag();
    if (!deblockingOff) for (let offset = 0; offset < 2; offset++) limited(Math.abs(reader.se()), 6);
  }
  if (pps.loopFilterAcross && (saoLuma || saoChroma || !deblockingOff)) reader.flag();
  const { listModification: modifiesLists } = pps;
  return {
    sliceAddress,
    type,
    saoLuma,
    saoChroma,
    qp,
    references,
    modifiesLists,
    referenceBits,
    ...prediction,
  };
}

const NO_REFERENCES = { used: 0, temporalMotion: false, references: null } as const;

/**
 * Reads order count and reference picture sets, including how many pictures the slice itself refers to
 * (NumPicTotalCurr).
 */
function readReferences(reader: BitReader, sps: CodingSps) {
  const { shortTermSets, longTerm: candidates, pocBits } = sps;
  const pocLsb = reader.bits(pocBits);
  const set = reader.flag()
    ? shortTermSets[reader.bits(bitsFor(shortTermSets.length))]
    : readShortTermSet(reader, shortTermSets, true);
  if (!set) throw impossible();
  const deltas = set.flatMap((reference) => (reference.used ? [reference.delta] : []));
  const held = set.map(({ delta }) => delta);
  const longTerm: LongTermReference[] = [];
  if (candidates) {
    const named = candidates.length > 0 ? limited(reader.ue(), 32) : 0;
    const count = named + limited(reader.ue(), 32);
    let cycles = 0;
    for (let at = 0; at < count; at++) {
      const candidate =
        at < named
          ? candidates[reader.bits(bitsFor(candidates.length))]
          : { pocLsb: reader.bits(pocBits), used: reader.flag() };
      if (!candidate) throw impossible();
      // Each counts on from the one before, separately for those of the set and those of the slice (7-52).
      if (at === named) cycles = 0;
      const isFar = reader.flag();
      if (isFar) cycles += reader.ue();
      longTerm.push({ ...candidate, cyclesBelow: isFar ? cycles : null });
    }
  }
  const used = deltas.length + longTerm.filter((one) => one.used).length;
  const references: SliceReferences = { pocLsb, deltas, held, longTerm, used };
  return { used, temporalMotion: sps.temporalMotion && reader.flag(), references };
}

interface PredictionInput {
  readonly isB: boolean;
  readonly used: number;
  readonly temporalMotion: boolean;
}

function readPrediction(reader: BitReader, pps: CodingPps, input: PredictionInput) {
  const { isB, used, temporalMotion } = input;
  let [first, second] = pps.activeReferences;
  if (reader.flag()) {
    first = 1 + limited(reader.ue(), 14);
    if (isB) second = 1 + limited(reader.ue(), 14);
  }
  if (!isB) second = 0;
  if (pps.listModification && used > 1) {
    for (const count of isB ? [first, second] : [first]) {
      if (reader.flag())
        for (let left = count; left > 0; left--) limited(reader.bits(bitsFor(used)), used - 1);
    }
  }
  const mvdL1Zero = isB && reader.flag();
  const cabacInit = pps.cabacInit && reader.flag();
  if (temporalMotion) {
    const count = isB && !reader.flag() ? second : first;
    if (count > 1) limited(reader.ue(), count - 1);
  }
  if (isB ? pps.weightedBipred : pps.weightedPred) {
    limited(reader.ue(), 7);
    limited(Math.abs(reader.se()), 7);
    skipWeights(reader, first);
    if (isB) skipWeights(reader, second);
  }
  const mergeCandidates = 5 - limited(reader.ue(), 4);
  return { active: [first, second] as const, mvdL1Zero, cabacInit, mergeCandidates };
}

/** Weights of one list of references in 4:2:0 (7.3.6.3). */
function skipWeights(reader: BitReader, count: number): void {
  const luma = Array.from({ length: count }, () => reader.flag());
  const chroma = luma.map(() => reader.flag());
  for (let at = 0; at < count; at++) {
    const numbers = (luma[at] ? 2 : 0) + (chroma[at] ? 4 : 0);
    for (let left = numbers; left > 0; left--) reader.se();
  }
}

function readEntryPoints(reader: BitReader, ctbs: number): number[] {
  const count = limited(reader.ue(), ctbs - 1);
  if (count === 0) return [];
  const bits = 1 + limited(reader.ue(), 31);
  return Array.from({ length: count }, () => reader.bits(bits) + 1);
}
