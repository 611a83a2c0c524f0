import { CONTEXT } from './hevc-contexts.ts';
import type { SliceState } from './hevc-slice-state.ts';

/** Intra modes (ITU-T H.265, table 8-1). */
const PLANAR = 0;
const DC = 1;
const HORIZONTAL = 10;
const VERTICAL = 26;
const DIAGONAL = 34;
/** intra_chroma_pred_mode for the mode of luma. */
const AS_LUMA = 4;
const CHROMA_MODES = [PLANAR, VERTICAL, HORIZONTAL, DC];

/** Notes that a unit has no intra mode; for its neighbours it counts as DC (8.4.2). */
export function noteNoIntra(state: SliceState, x: number, y: number, log2: number): void {
  note(state, x, y, log2, DC);
}

function note(state: SliceState, x: number, y: number, log2: number, mode: number): void {
  const { intraModes, quadColumns } = state;
  const count = 1 << (log2 - 2);
  let at = (y >> 2) * quadColumns + (x >> 2);
  for (let row = 0; row < count; row++, at += quadColumns) intraModes.fill(mode, at, at + count);
}

/** Reads the modes of an intra unit, which determine the order of its coefficients (7.3.8.5, 8.4.2, 8.4.3). */
export function readIntraModes(state: SliceState, x: number, y: number, log2: number): void {
  const { cabac, partModes } = state;
  const parts = state.isSplitIntra ? 4 : 1;
  const partLog2 = state.isSplitIntra ? log2 - 1 : log2;
  let predicted = 0;
  for (let part = 0; part < parts; part++) predicted |= cabac.bin(CONTEXT.prevIntra) << part;
  for (let part = 0; part < parts; part++) {
    const partX = x + ((part & 1) << partLog2);
    const partY = y + ((part >> 1) << partLog2);
    const mode = readLumaMode(state, partX, partY, ((predicted >> part) & 1) === 1);
    partModes[part] = mode;
    note(state, partX, partY, partLog2, mode);
  }
  const first = partModes[0] ?? DC;
  const choice = cabac.bin(CONTEXT.chromaMode) === 0 ? AS_LUMA : cabac.bypassBits(2);
  const chosen = CHROMA_MODES[choice] ?? first;
  state.chromaMode = choice !== AS_LUMA && chosen === first ? DIAGONAL : chosen;
}

function readLumaMode(state: SliceState, x: number, y: number, isPredicted: boolean): number {
  const { cabac, sps, intraModes, quadColumns } = state;
  const mask = (1 << sps.ctbLog2) - 1;
  const at = (y >> 2) * quadColumns + (x >> 2);
  const left = state.hasLeft || (x & mask) !== 0 ? (intraModes[at - 1] ?? DC) : DC;
  // Modes of the row of coding tree blocks above are not kept.
  const above = (y & mask) !== 0 ? (intraModes[at - quadColumns] ?? DC) : DC;
  let first = left;
  let second = above;
  let third: number;
  if (left === above) {
    if (left < 2) {
      first = PLANAR;
      second = DC;
      third = VERTICAL;
    } else {
      second = 2 + ((left + 29) & 31);
      third = 2 + ((left - 2 + 1) & 31);
    }
  } else if (left !== PLANAR && above !== PLANAR) third = PLANAR;
  else if (left !== DC && above !== DC) third = DC;
  else third = VERTICAL;
  if (isPredicted) {
    if (cabac.bypass() === 0) return first;
    return cabac.bypass() === 0 ? second : third;
  }
  let mode = cabac.bypassBits(5);
  // The remaining modes are counted without the three likely ones, from the lowest up.
  const low = Math.min(first, second, third);
  const high = Math.max(first, second, third);
  if (mode >= low) mode++;
  if (mode >= first + second + third - low - high) mode++;
  if (mode >= high) mode++;
  return mode;
}
