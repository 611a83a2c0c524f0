import type { BitReader } from '../bits.ts';
import {
  CHROMA_TOKENS,
  CHROMA_ZEROS,
  type Codes,
  INTER_PATTERNS,
  INTRA_PATTERNS,
  RUNS,
  TOKENS,
  ZEROS,
} from './cavlc-tables.ts';
import { BLOCK, type BlockKind, type ElementReader, MOST_COEFFICIENTS } from './elements.ts';
import type { MbState } from './mb-state.ts';
import { INTRA_TYPES, I_PCM, P_8X8_REF0, B_8X8 } from './mb-types.ts';
import { SLICE_FAULT } from './slice-faults.ts';

function upTo(value: number, most: number): number {
  if (value > most) throw SLICE_FAULT.value;
  return value;
}

/** The meaning of each code; the key is the code's bits with a 1 in front. */
type CodeMap = ReadonlyMap<number, number>;

const toMap = ({ lengths, bits }: Codes): CodeMap =>
  new Map(
    lengths.flatMap((length, value) =>
      length > 0 ? [[2 ** length + (bits[value] ?? 0), value] as const] : [],
    ),
  );

const TOKEN_MAPS = TOKENS.map(toMap);
const CHROMA_TOKEN_MAP = toMap(CHROMA_TOKENS);
const ZERO_MAPS = ZEROS.map(toMap);
const CHROMA_ZERO_MAPS = CHROMA_ZEROS.map(toMap);
const RUN_MAPS = RUNS.map(toMap);

/** Length of the longest code in the tables. */
const LONGEST_CODE = 16;
/** Most zeros in front of a level (9.2.2.1); 8-bit streams need at most 15. */
const MOST_PREFIX = 25;
/** Longest suffix that a level's size can lead to. */
const MOST_SUFFIX = 6;
/** mb_qp_delta is between -26 and 25 (7.4.5). */
const MOST_QP_DELTA = 26;

/** Reads elements of macroblocks that are coded by Exp-Golomb codes and CAVLC (ITU-T H.264, 9.1 and 9.2). */
export class CavlcElements implements ElementReader {
  readonly hasWholeEights = false;
  private readonly reader: BitReader;
  private readonly state: MbState;

  constructor(reader: BitReader, state: MbState) {
    this.reader = reader;
    this.state = state;
  }

  iType(): number {
    return upTo(this.reader.ue(), I_PCM);
  }

  pType(): number {
    const type = this.reader.ue();
    return type > P_8X8_REF0 ? INTRA_TYPES + upTo(type - P_8X8_REF0 - 1, I_PCM) : type;
  }

  bType(): number {
    const type = this.reader.ue();
    return type > B_8X8 ? INTRA_TYPES + upTo(type - B_8X8 - 1, I_PCM) : type;
  }

  pSubType(): number {
    return upTo(this.reader.ue(), 3);
  }

  bSubType(): number {
    return upTo(this.reader.ue(), 12);
  }

  reference(_list: 0 | 1, _x: number, _y: number, active: number): number {
    return active === 2 ? 1 - this.reader.bits(1) : this.reader.ue();
  }

  difference(): number {
    return Math.abs(this.reader.se());
  }

  intraMode(): number | null {
    return this.reader.flag() ? null : this.reader.bits(3);
  }

  chromaMode(): number {
    return upTo(this.reader.ue(), 3);
  }

  pattern(isIntra: boolean): number {
    const pattern = (isIntra ? INTRA_PATTERNS : INTER_PATTERNS)[this.reader.ue()];
    if (pattern === undefined) throw SLICE_FAULT.value;
    return pattern;
  }

  eights(): boolean {
    return this.reader.flag();
  }

  qpDelta(): number {
    const delta = this.reader.se();
    upTo(Math.abs(delta), MOST_QP_DELTA);
    return delta;
  }

  noQpDelta(): void {
    // Nothing depends on it.
  }

  block(kind: BlockKind, place: number): number {
    const { reader } = this;
    const most = MOST_COEFFICIENTS[kind];
    const isChromaDc = kind === BLOCK.chromaDc;
    const token = this.code(isChromaDc ? CHROMA_TOKEN_MAP : this.tokens(kind === BLOCK.lumaDc ? 0 : place));
    const [count, ones] = [token >> 2, token & 3];
    if (count === 0) return 0;
    upTo(count, most);
    reader.bits(ones);
    this.levels(count, ones);
    if (count === most) return count;
    const zeroMap = (isChromaDc ? CHROMA_ZERO_MAPS : ZERO_MAPS)[count - 1];
    let zeros = upTo(zeroMap ? this.code(zeroMap) : 0, most - count);
    for (let left = count - 1; left > 0 && zeros > 0; left -= 1) {
      const map = RUN_MAPS[Math.min(zeros, RUN_MAPS.length) - 1];
      zeros -= upTo(map ? this.code(map) : 0, zeros);
    }
    return count;
  }

  /** The table chosen by the coefficient counts of the blocks to the left and above (9.2.1). */
  private tokens(place: number): CodeMap {
    const [a, b] = [this.state.leftCount(place), this.state.aboveCount(place)];
    const near = a >= 0 && b >= 0 ? (a + b + 1) >> 1 : Math.max(a, b, 0);
    const map = TOKEN_MAPS[near < 2 ? 0 : near < 4 ? 1 : near < 8 ? 2 : 3];
    if (!map) throw SLICE_FAULT.value;
    return map;
  }

  private code(map: CodeMap): number {
    let read = 1;
    for (let length = 1; length <= LONGEST_CODE; length += 1) {
      read = 2 * read + this.reader.bits(1);
      const value = map.get(read);
      if (value !== undefined) return value;
    }
    throw SLICE_FAULT.value;
  }

  /** Reads the levels after the trailing ones (9.2.2.1). */
  private levels(count: number, ones: number): void {
    const { reader } = this;
    let suffixBits = count > 10 && ones < 3 ? 1 : 0;
    for (let at = ones; at < count; at += 1) {
      let prefix = 0;
      while (reader.bits(1) === 0) prefix = upTo(prefix + 1, MOST_PREFIX);
      const bits = prefix === 14 && suffixBits === 0 ? 4 : prefix >= 15 ? prefix - 3 : suffixBits;
      let code = Math.min(15, prefix) * 2 ** suffixBits + reader.bits(bits);
      if (prefix >= 15 && suffixBits === 0) code += 15;
      if (prefix >= 16) code += 2 ** (prefix - 3) - 4096;
      if (at === ones && ones < 3) code += 2;
      const size = Math.floor(code / 2) + 1;
      if (suffixBits === 0) suffixBits = 1;
      if (size > 3 * 2 ** (suffixBits - 1) && suffixBits < MOST_SUFFIX) suffixBits += 1;
    }
  }
}
