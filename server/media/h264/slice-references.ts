import { type BitReader, createBitReader } from './bits.ts';
import { H264Error } from './h264-error.ts';
import { NAL, isSlice, nalType, toRbsp } from './nal.ts';
import { type SliceContext, type SliceKind, sliceKind } from './slice-header.ts';

/** A step of ref_pic_list_modification (ITU-T H.264, 7.3.3.1). */
export interface ListStep {
  /** modification_of_pic_nums_idc: 0 down, 1 up from the previous number, 2 a long-term picture. */
  readonly operation: number;
  readonly value: number;
}

/** One of the two lists of pictures that a slice refers to. */
export interface ReferenceList {
  /** Number of entries that the slice can name. */
  readonly active: number;
  readonly steps: readonly ListStep[];
}

/** What a slice header says about the pictures that the slice refers to. */
export interface SliceReferences {
  readonly kind: SliceKind;
  /** delta_pic_order_cnt_bottom; 0 where it is not stated. */
  readonly bottomDelta: number;
  /** None for I slices, one for P slices, two for B slices. */
  readonly lists: readonly ReferenceList[];
}

/** Bytes that certainly hold the fields up to the lists, emulation prevention included. */
const HEADER_BYTES = 512;
/** Longest list of references (num_ref_idx_l0_active_minus1 is at most 31). */
const MOST_ENTRIES = 32;

/**
 * Reads the part of a slice header (ITU-T H.264, 7.3.3) that states which pictures the slice refers to.
 * @throws H264Error when it is no slice, is cut off, or the header makes no sense
 */
export function readReferences(unit: Buffer, { sps, pps }: SliceContext): SliceReferences {
  if (!isSlice(unit)) throw new H264Error('This is not a slice.');
  const reader = createBitReader(toRbsp(unit.subarray(0, HEADER_BYTES)));
  reader.bits(8);
  reader.ue();
  const kind = sliceKind(reader.ue());
  reader.ue();
  if (sps.separateColourPlanes) reader.bits(2);
  reader.bits(sps.frameNumBits);
  if (nalType(unit) === NAL.idrSlice) reader.ue();
  let bottomDelta = 0;
  if (sps.pocType === 0) {
    reader.bits(sps.pocBits);
    if (pps.fieldOrderInSlices) bottomDelta = reader.se();
  } else if (sps.pocType === 1) throw new H264Error('Picture order type 1 is not supported.');
  if (pps.redundantPictures) reader.ue();
  if (kind === 'SP' || kind === 'SI') throw new H264Error('Switching slices are not supported.');
  if (kind === 'I') return { kind, bottomDelta, lists: [] };
  const isB = kind === 'B';
  if (isB) reader.flag();
  const active = [pps.refs0, pps.refs1];
  if (reader.flag()) {
    active[0] = reader.ue() + 1;
    if (isB) active[1] = reader.ue() + 1;
  }
  if (active.some((count) => count > MOST_ENTRIES)) throw new H264Error('A slice has too many references.');
  const lists = active.slice(0, isB ? 2 : 1).map((count) => ({ active: count, steps: readSteps(reader) }));
  return { kind, bottomDelta, lists };
}

function readSteps(reader: BitReader): ListStep[] {
  const steps: ListStep[] = [];
  if (!reader.flag()) return steps;
  while (steps.length <= 2 * MOST_ENTRIES) {
    const operation = reader.ue();
    if (operation === 3) return steps;
    if (operation > 3) throw new H264Error('A slice orders its references in an unknown way.');
    steps.push({ operation, value: reader.ue() });
  }
  throw new H264Error('A slice orders its references without end.');
}
