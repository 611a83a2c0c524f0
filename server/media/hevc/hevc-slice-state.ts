import { CabacDecoder } from '../cabac/cabac-decoder.ts';
import { CONTEXT_COUNT } from './hevc-contexts.ts';
import { type CodingPps, type CodingSps, sizeInBlocks } from './hevc-coding-sets.ts';
import type { TreeNode } from './hevc-coding-tree.ts';
import { HevcError } from './hevc-error.ts';
import { CODED_BLOCKS, type ResidualState } from './hevc-residual.ts';
import { SLICE, type SliceHeader } from './hevc-slice-header.ts';

/** Where tiles begin, in coding tree blocks, and the order of coding (ITU-T H.265, 6.5.1). */
export interface TileLayout {
  /** Place in coding order of each block in raster order, and the reverse. */
  readonly toCoded: Uint32Array;
  readonly toRaster: Uint32Array;
  /** Tile of each block in raster order. */
  readonly tileOf: Uint16Array;
  /** First column of the tile of each block in raster order. */
  readonly tileLeft: Uint16Array;
}

/** @throws HevcError when the tiles do not fit into the picture */
function layTiles(tiles: CodingPps['tiles'], width: number, height: number): TileLayout {
  const columns = bounds(tiles?.columns ?? 1, tiles?.sizes?.widths, width);
  const rows = bounds(tiles?.rows ?? 1, tiles?.sizes?.heights, height);
  const count = width * height;
  const layout = {
    toCoded: new Uint32Array(count),
    toRaster: new Uint32Array(count),
    tileOf: new Uint16Array(count),
    tileLeft: new Uint16Array(count),
  };
  let coded = 0;
  let tile = 0;
  for (const [top, bottom] of rows) {
    for (const [left, right] of columns) {
      for (let y = top; y < bottom; y++) {
        for (let x = left; x < right; x++) {
          const raster = y * width + x;
          layout.toCoded[raster] = coded;
          layout.toRaster[coded++] = raster;
          layout.tileOf[raster] = tile;
          layout.tileLeft[raster] = left;
        }
      }
      tile++;
    }
  }
  return layout;
}

function bounds(count: number, sizes: readonly number[] | undefined, total: number): [number, number][] {
  const all: [number, number][] = [];
  let from = 0;
  for (let at = 0; at < count; at++) {
    const even = Math.floor(((at + 1) * total) / count);
    const to = at === count - 1 ? total : sizes ? from + (sizes[at] ?? 0) : even;
    if (to <= from || to > total) throw new HevcError('The tiles do not fit into the picture.');
    all.push([from, to]);
    from = to;
  }
  return all;
}

const NO_SLICE: SliceHeader = {
  sliceAddress: 0,
  type: SLICE.i,
  saoLuma: false,
  saoChroma: false,
  active: [0, 0],
  mvdL1Zero: false,
  cabacInit: false,
  mergeCandidates: 5,
  qp: 26,
  modifiesLists: false,
  references: null,
  referenceBits: [0, 0],
};

/** State while slices of pictures are parsed, created once for a pair of parameter sets. */
export class SliceState implements ResidualState {
  readonly sps: CodingSps;
  readonly pps: CodingPps;
  readonly cabac: CabacDecoder;
  readonly layout: TileLayout;
  /** Size of the picture in coding tree blocks. */
  readonly ctbColumns: number;
  readonly ctbs: number;
  /** Size in smallest coding blocks, and in 4 x 4 blocks. */
  readonly cbColumns: number;
  readonly quadColumns: number;
  /** For each smallest coding block: depth of its coding unit, and whether that is skipped. */
  readonly depths: Uint8Array;
  readonly skipped: Uint8Array;
  /** For each 4 x 4 block: its intra mode; 1 (DC) for blocks predicted from other pictures. */
  readonly intraModes: Uint8Array;
  /** Contexts kept for the next row of blocks, and for the next dependent slice segment. */
  readonly rowStates = new Uint8Array(CONTEXT_COUNT);
  readonly segmentStates = new Uint8Array(CONTEXT_COUNT);
  readonly codedBlocks = new Uint8Array(CODED_BLOCKS);
  readonly significant = new Uint8Array(16);
  readonly transformSkip: boolean;
  readonly signHiding: boolean;
  /** Size of blocks from which on the quantiser starts anew; 0 when it never does. */
  readonly qpGroupLog2: number;

  header: SliceHeader = NO_SLICE;
  /** Number of coding tree blocks that have been read to their ends, in coding order. */
  blocksRead = 0;
  /** Whether the blocks to the left of and above the current coding tree block are available. */
  hasLeft = false;
  hasAbove = false;

  /** Called in front of each node below a coding tree block. */
  onNode: ((node: TreeNode) => void) | null = null;

  lossless = false;
  isIntra = false;
  /** Modes of the up to four parts of an intra unit, and of its chroma. */
  readonly partModes = new Uint8Array(4);
  chromaMode = 0;
  /** The quarter of the coding unit being read. */
  part = 0;
  isSplitIntra = false;
  isSplitInter = false;
  deepestTransform = 0;
  isQpCoded = false;

  constructor(sps: CodingSps, pps: CodingPps, cabac = new CabacDecoder(CONTEXT_COUNT)) {
    this.cabac = cabac;
    this.sps = sps;
    this.pps = pps;
    const { columns, rows: ctbRows } = sizeInBlocks(sps);
    this.ctbColumns = columns;
    this.ctbs = this.ctbColumns * ctbRows;
    if (
      sps.width % (1 << sps.minCbLog2) !== 0 ||
      sps.height % (1 << sps.minCbLog2) !== 0 ||
      this.ctbs === 0
    ) {
      throw new HevcError('The size of the pictures is impossible.');
    }
    this.layout = layTiles(pps.tiles, this.ctbColumns, ctbRows);
    this.cbColumns = this.ctbColumns << (sps.ctbLog2 - sps.minCbLog2);
    this.quadColumns = this.ctbColumns << (sps.ctbLog2 - 2);
    const cbs = this.cbColumns * (ctbRows << (sps.ctbLog2 - sps.minCbLog2));
    this.depths = new Uint8Array(cbs);
    this.skipped = new Uint8Array(cbs);
    this.intraModes = new Uint8Array(this.quadColumns * (ctbRows << (sps.ctbLog2 - 2)));
    this.transformSkip = pps.transformSkip;
    this.signHiding = pps.signHiding;
    this.qpGroupLog2 = pps.qpDeltaDepth === null ? 0 : sps.ctbLog2 - pps.qpDeltaDepth;
  }
}
