import { NEXT_LPS, NEXT_MPS, WIDTHS } from './cabac-decoder.ts';

/**
 * The arithmetic encoder of HEVC (ITU-T H.265, 9.3.5) and H.264 (ITU-T H.264, 9.3.4), the counterpart of
 * `CabacDecoder`. The caller keeps the contexts.
 */
export class CabacEncoder {
  private readonly bytes: number[] = [];
  private low = 0;
  private range = 510;
  private isFirst = true;
  private outstanding = 0;
  private byte = 1;

  /** Writes a symbol with a probability, given by the state before it: twice pStateIdx plus valMps. */
  bin(state: number, symbol: number): void {
    const width = WIDTHS[(state << 2) | ((this.range >> 6) & 3)] ?? 2;
    this.range -= width;
    if (symbol !== (state & 1)) {
      this.low += this.range;
      this.range = width;
    }
    this.renormalise();
  }

  /** Writes a symbol with the probability of a context and updates its state in `states`. */
  inContext(states: Uint8Array, context: number, symbol: number): void {
    const state = states[context] ?? 0;
    this.bin(state, symbol);
    states[context] = (symbol === (state & 1) ? NEXT_MPS[state] : NEXT_LPS[state]) ?? 0;
  }

  /** Writes an Exp-Golomb code of an order in symbols with even odds (ITU-T H.265, 9.3.3.3; H.264, 9.3.2.3). */
  golomb(value: number, order: number): void {
    let [left, bits] = [value, order];
    for (; left >= 2 ** bits; bits += 1) {
      this.bypass(1);
      left -= 2 ** bits;
    }
    this.bypass(0);
    this.bypassBits(bits, left);
  }

  /** Writes a symbol with even odds. */
  bypass(symbol: number): void {
    this.low <<= 1;
    if (symbol === 1) this.low += this.range;
    this.shiftOut();
  }

  /** Writes symbols with even odds, the first one highest. */
  bypassBits(count: number, value: number): void {
    for (let bit = count - 1; bit >= 0; bit -= 1) this.bypass((value >>> bit) & 1);
  }

  /**
   * Writes a symbol that ends the data when it is 1.
   * @returns in that case the data, which end with a stop bit and zeros up to a whole byte
   */
  terminate(symbol: number): Buffer | null {
    this.range -= 2;
    if (symbol === 0) {
      this.renormalise();
      return null;
    }
    this.low += this.range;
    this.range = 2;
    this.renormalise();
    this.put((this.low >> 9) & 1);
    this.write((this.low >> 8) & 1);
    this.write(1);
    while (this.byte !== 1) this.write(0);
    return Buffer.from(this.bytes);
  }

  private renormalise(): void {
    while (this.range < 256) {
      this.range <<= 1;
      this.low <<= 1;
      this.shiftOut();
    }
  }

  /** Writes the highest bit as soon as no carry can change it. */
  private shiftOut(): void {
    if (this.low >= 1024) {
      this.put(1);
      this.low -= 1024;
    } else if (this.low < 512) this.put(0);
    else {
      this.low -= 512;
      this.outstanding += 1;
    }
  }

  private put(bit: number): void {
    if (this.isFirst) this.isFirst = false;
    else this.write(bit);
    for (; this.outstanding > 0; this.outstanding -= 1) this.write(1 - bit);
  }

  private write(bit: number): void {
    this.byte = (this.byte << 1) | bit;
    if (this.byte < 256) return;
    this.bytes.push(this.byte & 255);
    this.byte = 1;
  }
}
