import type { CabacMark } from '../cabac/cabac-decoder.ts';
import { initContexts } from './hevc-contexts.ts';
import { readCodingTree, readSao, readTreeFrom, type TreeNode } from './hevc-coding-tree.ts';
import { HEVC_SLICE_FAULT } from './hevc-slice-faults.ts';
import { SLICE, type SliceSegment } from './hevc-slice-header.ts';
import type { SliceState } from './hevc-slice-state.ts';

/**
 * Reads the data of a slice segment (ITU-T H.265, 7.3.8) to its end.
 * @param ends places in `rbsp` behind each of its substreams, the last one the end of the data
 * @param until number of blocks, in coding order, after which reading stops, before the flag that says whether the
 * slice continues
 * @returns number of coding tree blocks read up to here, in coding order
 * @throws HevcError when something in it is impossible, or it does not end where its data do
 */
export function readSliceData(
  state: SliceState,
  segment: SliceSegment,
  rbsp: Uint8Array,
  ends: readonly number[],
  until = Infinity,
): number {
  const started = { state, segment, ends };
  return readBlocks(started, startData(started, rbsp), { until });
}

function startData({ state, segment }: StartedSlice, rbsp: Uint8Array): BlockPlace {
  state.header = segment.header;
  state.isQpCoded = false;
  state.cabac.start(rbsp, segment.dataAt, rbsp.length);
  const coded = state.layout.toCoded[segment.address] ?? 0;
  state.blocksRead = coded;
  return { coded, substream: 0 };
}

/** A slice whose header has been read, and places in its data behind each of its substreams. */
export interface StartedSlice {
  readonly state: SliceState;
  readonly segment: SliceSegment;
  readonly ends: readonly number[];
}

/** The block to be read next, in coding order, and its substream. */
interface BlockPlace {
  readonly coded: number;
  readonly substream: number;
  /** The node of its quadtree to be read next; absent where nothing of the block has been read yet. */
  readonly node?: TreeNode;
}

interface ReadingLimits {
  readonly until?: number;
  /** Called in front of each block. */
  readonly onBlock?: (place: BlockPlace) => void;
}

function readBlocks(
  { state, segment, ends }: StartedSlice,
  from: BlockPlace,
  { until = Infinity, onBlock }: ReadingLimits,
): number {
  const { cabac, layout, ctbColumns, ctbs, sps, pps } = state;
  const { header } = segment;
  let { coded, substream, node } = from;
  for (let isFirst = from.coded === (layout.toCoded[segment.address] ?? 0); ; isFirst = false) {
    if (!node) onBlock?.({ coded, substream });
    const raster = layout.toRaster[coded] ?? 0;
    const column = raster % ctbColumns;
    const tile = layout.tileOf[raster] ?? 0;
    const isRowStart = column === (layout.tileLeft[raster] ?? 0);
    const isTileStart = coded === 0 || layout.tileOf[layout.toRaster[coded - 1] ?? 0] !== tile;
    if (!node && (isFirst || isTileStart || (pps.wavefronts && isRowStart))) {
      setContexts(state, segment, raster, { isFirst, isTileStart, isRowStart });
    }
    const above = raster - ctbColumns;
    state.hasLeft = column > 0 && isInSlice(state, raster - 1) && layout.tileOf[raster - 1] === tile;
    state.hasAbove = above >= 0 && isInSlice(state, above) && layout.tileOf[above] === tile;
    const x = column << sps.ctbLog2;
    const y = Math.floor(raster / ctbColumns) << sps.ctbLog2;
    if (node) {
      readTreeFrom(state, { x, y, log2: sps.ctbLog2 }, node);
      node = undefined;
    } else {
      if (header.saoLuma || header.saoChroma) readSao(state, state.hasLeft, state.hasAbove);
      readCodingTree(state, x, y, sps.ctbLog2, 0);
    }
    // The next row starts with the contexts after the second block of this one.
    if (pps.wavefronts && column === (layout.tileLeft[raster] ?? 0) + 1) state.rowStates.set(cabac.states);
    if (cabac.passedEnd()) throw HEVC_SLICE_FAULT.tooShort;
    if (coded + 1 === until) return until;
    const isLast = cabac.terminate() === 1;
    coded++;
    state.blocksRead = coded;
    if (isLast) {
      checkEnd(state, ends, substream);
      if (substream !== ends.length - 1) throw HEVC_SLICE_FAULT.early;
      if (pps.dependentSlices) state.segmentStates.set(cabac.states);
      return coded;
    }
    if (coded >= ctbs) throw HEVC_SLICE_FAULT.behindPicture;
    const next = layout.toRaster[coded] ?? 0;
    const startsTile = pps.tiles !== null && layout.tileOf[next] !== tile;
    const startsRow = pps.wavefronts && next % ctbColumns === layout.tileLeft[next];
    if (startsTile || startsRow) {
      if (cabac.terminate() === 0) throw HEVC_SLICE_FAULT.substream;
      checkEnd(state, ends, substream);
      substream++;
      cabac.skipTo(cabac.nextAt());
    }
  }
}

/** A place in a slice's data from which it can be read again. */
export interface SliceMark extends BlockPlace {
  /** The first byte that has not been read. */
  readonly at: number;
  readonly cabac: CabacMark;
  readonly rowStates: Uint8Array;
  readonly isQpCoded: boolean;
}

/**
 * Like `readSliceData`, with a mark in front of each block and each node of its quadtree.
 * @throws HevcError in the same cases
 */
export function readMarkedSliceData(
  started: StartedSlice,
  rbsp: Uint8Array,
  onMark?: (mark: SliceMark) => void,
): number {
  const { state } = started;
  if (!onMark) return readBlocks(started, startData(started, rbsp), {});
  let [block, rowStates] = [{ coded: 0, substream: 0 }, state.rowStates.slice()];
  const mark = (place: BlockPlace) => {
    const cabac = state.cabac.mark();
    onMark({ ...place, at: cabac.at, cabac, rowStates, isQpCoded: state.isQpCoded });
  };
  const onBlock = (place: BlockPlace) => {
    block = place;
    rowStates = state.rowStates.slice();
    mark(place);
  };
  state.onNode = (node) => mark({ ...block, node });
  try {
    return readBlocks(started, startData(started, rbsp), { onBlock });
  } finally {
    state.onNode = null;
  }
}

/**
 * Reads the data of a slice from a mark on; the data in front of it must be unchanged.
 * @throws HevcError as `readSliceData`
 */
export function readFromMark(started: StartedSlice, mark: SliceMark): number {
  const { state } = started;
  state.cabac.goBack(mark.cabac);
  state.rowStates.set(mark.rowStates);
  state.isQpCoded = mark.isQpCoded;
  return readBlocks(started, mark, {});
}

/** After end_of_slice_segment_flag or end_of_subset_one_bit: the data must end directly behind. */
function checkEnd({ cabac }: SliceState, ends: readonly number[], substream: number): void {
  if (!cabac.stopsHere() || cabac.nextAt() !== ends[substream]) {
    throw HEVC_SLICE_FAULT.end;
  }
}

/** Whether an earlier block is in the same slice as the current one. */
function isInSlice({ layout, header }: SliceState, raster: number): boolean {
  return (layout.toCoded[raster] ?? 0) >= (layout.toCoded[header.sliceAddress] ?? 0);
}

interface Start {
  readonly isFirst: boolean;
  readonly isTileStart: boolean;
  readonly isRowStart: boolean;
}

/** Contexts at the start of a slice segment, tile, or row with wavefronts (9.3.1). */
function setContexts(state: SliceState, segment: SliceSegment, raster: number, start: Start): void {
  const { cabac, layout, pps, header, ctbColumns } = state;
  if (!start.isTileStart && pps.wavefronts && start.isRowStart) {
    const aboveRight = raster - ctbColumns + 1;
    const isThere =
      aboveRight >= 0 &&
      aboveRight % ctbColumns !== 0 &&
      layout.tileOf[aboveRight] === layout.tileOf[raster] &&
      isInSlice(state, aboveRight);
    if (isThere) {
      cabac.states.set(state.rowStates);
      return;
    }
  } else if (!start.isTileStart && start.isFirst && segment.isDependent) {
    cabac.states.set(state.segmentStates);
    return;
  }
  const predictedType = (header.type === SLICE.p) === header.cabacInit ? 2 : 1;
  initContexts(cabac.states, header.type === SLICE.i ? 0 : predictedType, header.qp);
}
