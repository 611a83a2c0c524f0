import { BLOCK, type ElementReader } from './elements.ts';
import { checkMode, CHROMA_MODES, MODES_16, readIntraModes } from './intra-modes.ts';
import { FLAG, LUMA_BLOCKS, type MbState, type Rectangle } from './mb-state.ts';
import {
  B_8X8,
  B_DIRECT,
  B_PARTS,
  B_SUB_PARTS,
  I_NXN,
  I_PCM,
  INTRA_TYPES,
  P_8X8,
  P_8X8_REF0,
  P_PARTS,
  P_SUB_PARTS,
  QUARTERS,
  type Parts,
  type SubParts,
} from './mb-types.ts';
import type { MbWatch } from './usual-values.ts';
import { SLICE_FAULT } from './slice-faults.ts';

/** The settings of a slice that its macroblocks depend on. */
export interface MbSettings {
  readonly kind: 'I' | 'P' | 'B';
  /** Number of entries of its reference lists that a slice can name. */
  readonly active: readonly [number, number];
  /** transform_8x8_mode_flag. */
  readonly eights: boolean;
  readonly direct8x8Inference: boolean;
  /** constrained_intra_pred_flag: intra macroblocks are predicted from intra ones only. */
  readonly constrainedIntra: boolean;
  /** Is told the values. */
  readonly watch?: MbWatch;
}

/** Skips the samples of a raw macroblock. */
export type PassPcm = () => void;

/**
 * Reads a macroblock that is not skipped (ITU-T H.264, 7.3.5); frames of 4:2:0 only.
 * @throws H264Error where it holds an impossible value
 */
export function readMacroblock(
  elements: ElementReader,
  state: MbState,
  settings: MbSettings,
  passPcm: PassPcm,
): void {
  const { kind } = settings;
  const type =
    kind === 'I' ? INTRA_TYPES + elements.iType() : kind === 'P' ? elements.pType() : elements.bType();
  settings.watch?.macroblock(type);
  if (type < INTRA_TYPES) readInter(elements, state, settings, type);
  else readIntra(elements, state, settings, type - INTRA_TYPES, passPcm);
}

function readIntra(
  elements: ElementReader,
  state: MbState,
  settings: MbSettings,
  type: number,
  passPcm: PassPcm,
): void {
  if (type === I_PCM) {
    state.markPcm();
    elements.noQpDelta();
    passPcm();
    return;
  }
  state.mark(FLAG.intra);
  const isNxN = type === I_NXN;
  if (isNxN) {
    state.mark(FLAG.intraN);
    if (settings.eights && elements.eights()) state.mark(FLAG.eights);
    readIntraModes(elements, state, settings);
  } else {
    state.mark(FLAG.intra16);
    checkMode(MODES_16[(type - 1) % 4], state, settings);
  }
  const chromaMode = elements.chromaMode();
  checkMode(CHROMA_MODES[chromaMode], state, settings);
  state.chromaModes[state.mb] = chromaMode;
  const pattern = isNxN ? elements.pattern(true) : pattern16(type);
  state.patterns[state.mb] = pattern;
  readResidual(elements, state, settings, pattern);
}

/** CodedBlockPattern of an Intra_16x16 type (table 7-11). */
const pattern16 = (type: number) => (type > 12 ? 15 : 0) | ((Math.floor((type - 1) / 4) % 3) << 4);

const LISTS = [0, 1] as const;

function readInter(elements: ElementReader, state: MbState, settings: MbSettings, type: number): void {
  const isB = settings.kind === 'B';
  let mayHaveEights = true;
  if (isB && type === B_DIRECT) {
    state.mark(FLAG.direct);
    mayHaveEights = settings.direct8x8Inference;
  } else if (isB ? type === B_8X8 : type === P_8X8 || type === P_8X8_REF0) {
    mayHaveEights = readQuarters(elements, state, settings, type);
  } else {
    const parts = isB ? B_PARTS[type - 1] : P_PARTS[type];
    if (!parts) throw SLICE_FAULT.type;
    readParts(elements, state, settings, parts);
  }
  const pattern = elements.pattern(false);
  state.patterns[state.mb] = pattern;
  if ((pattern & 15) !== 0 && settings.eights && mayHaveEights && elements.eights()) state.mark(FLAG.eights);
  readResidual(elements, state, settings, pattern);
}

function readReference(
  elements: ElementReader,
  state: MbState,
  { active, watch }: MbSettings,
  list: 0 | 1,
  rectangle: Rectangle,
): void {
  const most = active[list];
  if (most <= 1) return;
  const reference = elements.reference(list, rectangle[0], rectangle[1], most);
  if (reference >= most) throw SLICE_FAULT.reference;
  watch?.reference(list, reference);
  state.setReference(list, rectangle, reference > 0);
}

function readVector(
  elements: ElementReader,
  state: MbState,
  { watch }: MbSettings,
  list: 0 | 1,
  rectangle: Rectangle,
): void {
  const [x, y] = rectangle;
  const right = elements.difference(list, x, y, 0);
  const down = elements.difference(list, x, y, 1);
  watch?.difference(list, 0, right);
  watch?.difference(list, 1, down);
  state.setDifference(list, rectangle, right, down);
}

function readParts(elements: ElementReader, state: MbState, settings: MbSettings, parts: Parts): void {
  for (const list of LISTS)
    for (const part of parts[list]) readReference(elements, state, settings, list, part);
  for (const list of LISTS) for (const part of parts[list]) readVector(elements, state, settings, list, part);
}

/** @returns whether its coefficients may be in 8 x 8 blocks */
function readQuarters(elements: ElementReader, state: MbState, settings: MbSettings, type: number): boolean {
  const isB = settings.kind === 'B';
  const subs: SubParts[] = [];
  for (let part = 0; part < 4; part += 1) {
    const subType = isB ? elements.bSubType() : elements.pSubType();
    const found = isB ? B_SUB_PARTS[subType] : P_SUB_PARTS[subType];
    if (!found) throw SLICE_FAULT.type;
    settings.watch?.part(subType);
    subs.push(found);
  }
  for (const list of LISTS) {
    QUARTERS.forEach((quarter, at) => {
      if (isMadeFrom(subs[at], list) && type !== P_8X8_REF0)
        readReference(elements, state, settings, list, quarter);
    });
  }
  for (const list of LISTS) {
    subs.forEach((one, at) => {
      if (!isMadeFrom(one, list)) return;
      for (const part of one.rectangles[at] ?? []) readVector(elements, state, settings, list, part);
    });
  }
  return subs.every(({ lists, width, height }) =>
    lists === 0 ? settings.direct8x8Inference : width === 2 && height === 2,
  );
}

const isMadeFrom = (parts: SubParts | undefined, list: 0 | 1): boolean =>
  ((parts?.lists ?? 0) & (1 << list)) !== 0;

/** Block of a quarter of a macroblock, in rows of four. */
const blockOf = (quarter: number, part: number) =>
  8 * (quarter >> 1) + 2 * (quarter & 1) + 4 * (part >> 1) + (part & 1);

/** Number of quantisers with 8 bits (7.4.5). */
const QUANTISERS = 52;

/** mb_qp_delta and residual (7.3.5 and 7.3.5.3). */
function readResidual(elements: ElementReader, state: MbState, { watch }: MbSettings, pattern: number): void {
  const is16 = state.has(state.mb, FLAG.intra16);
  if (pattern === 0 && !is16) {
    elements.noQpDelta();
    return;
  }
  const delta = elements.qpDelta();
  state.qp = (state.qp + delta + QUANTISERS) % QUANTISERS;
  watch?.quantiser(delta, state.qp);
  let dc = is16 && elements.block(BLOCK.lumaDc, 0) > 0 ? 1 : 0;
  state.dc[state.mb] = dc;
  const isWhole = state.has(state.mb, FLAG.eights) && elements.hasWholeEights;
  for (let quarter = 0; quarter < 4; quarter += 1) {
    if ((pattern & (1 << quarter)) === 0) continue;
    if (isWhole) {
      const count = Math.min(LUMA_BLOCKS, elements.block(BLOCK.eight, blockOf(quarter, 0)));
      for (let part = 0; part < 4; part += 1) state.setCount(blockOf(quarter, part), count);
      continue;
    }
    for (let part = 0; part < 4; part += 1) {
      const block = blockOf(quarter, part);
      state.setCount(block, elements.block(is16 ? BLOCK.lumaAc : BLOCK.luma, block));
    }
  }
  if (pattern >> 4 === 0) return;
  for (const component of [1, 2]) {
    if (elements.block(BLOCK.chromaDc, component) > 0) dc |= 1 << component;
  }
  state.dc[state.mb] = dc;
  if (pattern >> 4 < 2) return;
  for (let block = LUMA_BLOCKS; block < LUMA_BLOCKS + 8; block += 1)
    state.setCount(block, elements.block(BLOCK.chromaAc, block));
}
