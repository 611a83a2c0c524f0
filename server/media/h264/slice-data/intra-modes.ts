import type { ElementReader } from './elements.ts';
import type { MbSettings } from './macroblock.ts';
import { FLAG, LUMA_BLOCKS, type MbState } from './mb-state.ts';
import { SLICE_FAULT } from './slice-faults.ts';

/** The neighbours that a mode of intra prediction needs. */
interface Needs {
  readonly left: boolean;
  readonly above: boolean;
}

const NOTHING: Needs = { left: false, above: false };
const LEFT: Needs = { left: true, above: false };
const ABOVE: Needs = { left: false, above: true };
const BOTH: Needs = { left: true, above: true };

/** Indexed by Intra4x4PredMode, and by Intra8x8PredMode, which needs the same (ITU-T H.264, tables 8-2 and 8-3). */
const MODES: readonly Needs[] = [ABOVE, LEFT, NOTHING, ABOVE, BOTH, BOTH, BOTH, ABOVE, LEFT];
/** Indexed by Intra16x16PredMode and by intra_chroma_pred_mode (tables 8-4 and 8-5). */
export const MODES_16: readonly Needs[] = [ABOVE, LEFT, NOTHING, BOTH];
export const CHROMA_MODES: readonly Needs[] = [NOTHING, LEFT, ABOVE, BOTH];

/** The predicted mode where one of the two neighbours is missing, and the mode of macroblocks without modes. */
const DC = 2;

/** @throws H264Error where a macroblock is predicted from one that does not exist */
export function checkMode(needs: Needs | undefined, state: MbState, settings: Constrained): void {
  if (
    !needs ||
    (needs.left && !isThere(state.left, state, settings)) ||
    (needs.above && !isThere(state.above, state, settings))
  )
    throw SLICE_FAULT.neighbour;
}

const isThere = (mb: number, state: MbState, { constrainedIntra }: Constrained): boolean =>
  mb >= 0 && (!constrainedIntra || state.has(mb, FLAG.intra));

type Constrained = Pick<MbSettings, 'constrainedIntra'>;

/** Reads the modes of an I_NxN macroblock (8.3.1.1 and 8.3.2.1), whose block size is known. */
export function readIntraModes(elements: ElementReader, state: MbState, settings: Constrained): void {
  const side = state.has(state.mb, FLAG.eights) ? 2 : 1;
  for (const block of side === 2 ? EIGHTS : FOURS) {
    const left = modeAt(state, state.leftBlock(block), settings);
    const above = modeAt(state, state.aboveBlock(block), settings);
    const predicted = left === null || above === null ? DC : Math.min(left, above);
    const other = elements.intraMode();
    const mode = other === null ? predicted : other < predicted ? other : other + 1;
    const needs = MODES[mode];
    const isAtLeft = block % 4 === 0;
    checkMode(needs && { left: needs.left && isAtLeft, above: needs.above && block < 4 }, state, settings);
    for (let y = 0; y < side; y += 1) {
      for (let x = 0; x < side; x += 1) state.modes[LUMA_BLOCKS * state.mb + block + 4 * y + x] = mode;
    }
  }
}

/** 4 x 4 blocks, numbered in rows of four, in coding order (6.4.3), and the first of each 8 x 8 block. */
const FOURS = [0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15];
const EIGHTS = [0, 2, 8, 10];

/** Null where there is no block. */
function modeAt(state: MbState, place: number, { constrainedIntra }: Constrained): number | null {
  if (place < 0) return null;
  const mb = place >> 4;
  if (state.has(mb, FLAG.intraN)) return state.modes[place] ?? DC;
  return constrainedIntra && !state.has(mb, FLAG.intra) ? null : DC;
}
