/**
 * Interval width of the less probable symbol by state and by quarter of the range (ITU-T H.265, table 9-52, and H.264,
 * table 9-44).
 */
const LPS_WIDTHS = [
  [128, 176, 208, 240, 128, 167, 197, 227, 128, 158, 187, 216, 123, 150, 178, 205, 116, 142, 169, 195],
  [111, 135, 160, 185, 105, 128, 152, 175, 100, 122, 144, 166, 95, 116, 137, 158, 90, 110, 130, 150],
  [85, 104, 123, 142, 81, 99, 117, 135, 77, 94, 111, 128, 73, 89, 105, 122, 69, 85, 100, 116],
  [66, 80, 95, 110, 62, 76, 90, 104, 59, 72, 86, 99, 56, 69, 81, 94, 53, 65, 77, 89],
  [51, 62, 73, 85, 48, 59, 69, 80, 46, 56, 66, 76, 43, 53, 63, 72, 41, 50, 59, 69],
  [39, 48, 56, 65, 37, 45, 54, 62, 35, 43, 51, 59, 33, 41, 48, 56, 32, 39, 46, 53],
  [30, 37, 43, 50, 29, 35, 41, 48, 27, 33, 39, 45, 26, 31, 37, 43, 24, 30, 35, 41],
  [23, 28, 33, 39, 22, 27, 32, 37, 21, 26, 30, 35, 20, 24, 29, 33, 19, 23, 27, 31],
  [18, 22, 26, 30, 17, 21, 25, 28, 16, 20, 23, 27, 15, 19, 22, 25, 14, 18, 21, 24],
  [14, 17, 20, 23, 13, 16, 19, 22, 12, 15, 18, 21, 12, 14, 17, 20, 11, 14, 16, 19],
  [11, 13, 15, 18, 10, 12, 15, 17, 10, 12, 14, 16, 9, 11, 13, 15, 9, 11, 12, 14],
  [8, 10, 12, 14, 8, 9, 11, 13, 7, 9, 11, 12, 7, 9, 10, 12, 7, 8, 10, 11],
  [6, 8, 9, 11, 6, 7, 9, 10, 6, 7, 8, 9, 2, 2, 2, 2],
].flat();
/** The state after a less probable symbol (H.265, table 9-53; H.264, table 9-45). */
const AFTER_LPS = [
  [0, 0, 1, 2, 2, 4, 4, 5, 6, 7, 8, 9, 9, 11, 11, 12, 13, 13, 15, 15, 16, 16, 18, 18, 19, 19, 21, 21, 22, 22],
  [23, 24, 24, 25, 26, 26, 27, 27, 28, 29, 29, 30, 30, 30, 31, 32, 32, 33, 33, 33, 34, 34, 35, 35, 35, 36],
  [36, 36, 37, 37, 37, 38, 38, 63],
].flat();

const STATES = 128;
/**
 * The same widths, indexed by four times the state (twice its index plus the more probable symbol) plus the quarter of
 * the range.
 */
export const WIDTHS = Uint8Array.from(
  { length: 4 * STATES },
  (_, at) => LPS_WIDTHS[4 * (at >> 3) + (at & 3)] ?? 2,
);
/** The state of a context after each kind of symbol. */
export const NEXT_MPS = Uint8Array.from({ length: STATES }, (_, state) =>
  state >> 1 < 62 ? state + 2 : state,
);
export const NEXT_LPS = Uint8Array.from({ length: STATES }, (_, state) => {
  const symbol = state >> 1 === 0 ? 1 - (state & 1) : state & 1;
  return 2 * (AFTER_LPS[state >> 1] ?? 63) + symbol;
});

/** Bits held ready below the nine of the offset. */
const SPARE_BITS = 7;
const HALF = 256 << SPARE_BITS;

/** A place in coded data. */
export interface CabacMark {
  /** The first byte that has not been looked at. */
  readonly at: number;
  readonly range: number;
  readonly value: number;
  readonly missing: number;
  readonly states: Uint8Array;
}

/**
 * The arithmetic decoder of HEVC (ITU-T H.265, 9.3.4.3) and H.264 (ITU-T H.264, 9.3.3.2), which is the same. Beyond the
 * end of its data it reads zeros; `passedEnd` tells. It is a class with plain numbers, because it is called for every
 * bit of a clip.
 */
export class CabacDecoder {
  /** State of each context: twice pStateIdx plus valMps. */
  readonly states: Uint8Array;
  protected bytes: Uint8Array = new Uint8Array(0);
  private at = 0;
  private end = 0;
  private range = 510;
  private value = 0;
  /** Minus the number of bits that can be shifted out before the next byte is needed. */
  private missing = -8;

  constructor(contextCount: number) {
    this.states = new Uint8Array(contextCount);
  }

  /** Starts at a byte (9.3.2.5); contexts keep their states. */
  start(bytes: Uint8Array, at: number, end: number): void {
    this.bytes = bytes;
    this.at = at;
    this.end = end;
    this.range = 510;
    this.value = this.nextByte() << 8;
    this.value |= this.nextByte();
    this.missing = -8;
  }

  private nextByte(): number {
    const at = this.at++;
    return at < this.end ? (this.bytes[at] ?? 0) : 0;
  }

  /** Reads a symbol with the probability of a context. */
  bin(context: number): number {
    const state = this.states[context] ?? 0;
    const width = WIDTHS[(state << 2) | ((this.range >> 6) & 3)] ?? 2;
    const range = this.range - width;
    const scaled = range << SPARE_BITS;
    if (this.value < scaled) {
      this.states[context] = NEXT_MPS[state] ?? 0;
      if (scaled < HALF) {
        this.range = range << 1;
        this.shift(1);
      } else this.range = range;
      return state & 1;
    }
    this.value -= scaled;
    this.states[context] = NEXT_LPS[state] ?? 0;
    const count = Math.clz32(width) - 23;
    this.range = width << count;
    this.shift(count);
    return 1 - (state & 1);
  }

  private shift(count: number): void {
    this.value <<= count;
    this.missing += count;
    if (this.missing >= 0) {
      this.value |= this.nextByte() << this.missing;
      this.missing -= 8;
    }
  }

  /** Reads a symbol with even odds. */
  bypass(): number {
    this.shift(1);
    const scaled = this.range << SPARE_BITS;
    if (this.value < scaled) return 0;
    this.value -= scaled;
    return 1;
  }

  /** Reads up to 32 symbols with even odds, the first one highest. */
  bypassBits(count: number): number {
    let result = 0;
    let left = count;
    for (; left > 8; left -= 8) result = (result << 8) | this.eightAtMost(8);
    return left > 0 ? (result << left) | this.eightAtMost(left) : result;
  }

  private eightAtMost(count: number): number {
    this.shift(count);
    const scaled = this.range << SPARE_BITS;
    const bits = (this.value / scaled) | 0;
    this.value -= bits * scaled;
    return bits;
  }

  /** Reads a symbol that ends the data when it is 1 (9.3.4.3.5). */
  terminate(): number {
    this.range -= 2;
    const scaled = this.range << SPARE_BITS;
    if (this.value >= scaled) return 1;
    if (scaled < HALF) {
      this.range <<= 1;
      this.shift(1);
    }
    return 0;
  }

  /** After a terminating 1: whether the last bit read is the stop bit, with only zeros behind it in its byte. */
  stopsHere(): boolean {
    const last = this.bytes[this.at - 1] ?? 0;
    return ((last << (8 + this.missing)) & 255) === 0x80;
  }

  /** After a terminating 1: the place of the byte that follows. */
  nextAt(): number {
    return this.at;
  }

  /** Saves the current place with all context states. */
  mark(): CabacMark {
    const { at, range, value, missing } = this;
    return { at, range, value, missing, states: this.states.slice() };
  }

  /** Continues from a mark in data of the same length. */
  goBack({ at, range, value, missing, states }: CabacMark): void {
    this.at = at;
    this.range = range;
    this.value = value;
    this.missing = missing;
    this.states.set(states);
  }

  /** Starts anew at another byte of the same data (9.3.2.5). */
  skipTo(at: number): void {
    this.start(this.bytes, at, this.end);
  }

  passedEnd(): boolean {
    return this.at > this.end;
  }
}
