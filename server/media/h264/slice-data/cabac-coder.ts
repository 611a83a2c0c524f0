import { NEXT_LPS, NEXT_MPS } from '../../cabac/cabac-decoder.ts';
import { CabacEncoder } from '../../cabac/cabac-encoder.ts';
import type { BitWriter } from '../bits.ts';
import type { Moved } from '../../square-motion.ts';
import { AVC_CONTEXT_COUNT, initAvcContexts } from './avc-contexts.ts';
import { CONTEXT } from './cabac-contexts.ts';
import { FLAG, type MbState } from './mb-state.ts';
import type { MacroblockCoder } from './stand-in-macroblocks.ts';

/** Codes macroblocks by CABAC (ITU-T H.264, 9.3.4); `state` says what stands beside the one that is coded. */
export class CabacCoder implements MacroblockCoder {
  private readonly parts: Buffer[];
  private readonly state: MbState;
  private readonly kind: 'I' | 'P';
  private readonly contexts = new Uint8Array(AVC_CONTEXT_COUNT);
  private encoder = new CabacEncoder();

  /** @param writer holds the slice header */
  constructor(writer: BitWriter, state: MbState, kind: 'I' | 'P', qp: number) {
    writer.alignWithOnes();
    this.parts = [Buffer.from(writer.bytes())];
    this.state = state;
    this.kind = kind;
    initAvcContexts(this.contexts, kind === 'I' ? null : 0, qp);
  }

  private bin(context: number, symbol: number): void {
    const state = this.contexts[context] ?? 0;
    this.encoder.bin(state, symbol);
    this.contexts[context] = (symbol === (state & 1) ? NEXT_MPS[state] : NEXT_LPS[state]) ?? 0;
  }

  /** A terminating symbol; behind a 1 all that was coded is complete. */
  private terminate(symbol: number): void {
    const ended = this.encoder.terminate(symbol);
    if (!ended) return;
    this.parts.push(ended);
    this.encoder = new CabacEncoder();
  }

  private skipFlag(isSkipped: boolean): void {
    if (this.kind === 'I') return;
    const isCoded = (mb: number) => (mb >= 0 && !this.state.has(mb, FLAG.skipped) ? 1 : 0);
    this.bin(CONTEXT.pSkip + isCoded(this.state.left) + isCoded(this.state.above), isSkipped ? 1 : 0);
  }

  skip(): void {
    this.skipFlag(true);
  }

  moved({ x, y }: Moved): void {
    const { state } = this;
    this.skipFlag(false);
    for (let at = 0; at < 3; at += 1) this.bin(CONTEXT.pType + at, 0);
    this.difference(0, x);
    this.difference(1, y);
    // coded_block_pattern 0: of what is beside only raw macroblocks have coefficients.
    const isEmpty = (mb: number) => (mb >= 0 && !state.has(mb, FLAG.pcm) ? 1 : 0);
    const isFull = (mb: number) => (state.has(mb, FLAG.pcm) ? 1 : 0);
    const [left, above] = [isEmpty(state.left), isEmpty(state.above)];
    for (const [a, b] of [
      [left, above],
      [1, above],
      [left, 1],
      [1, 1],
    ] as const)
      this.bin(CONTEXT.lumaPattern + a + 2 * b, 0);
    this.bin(CONTEXT.chromaPattern + isFull(state.left) + 2 * isFull(state.above), 0);
  }

  /** mvd_l0 (9.3.2.3, uCoff 9, signed, order 3). */
  private difference(component: 0 | 1, value: number): void {
    const { state } = this;
    const sizeAt = (block: number) => (block < 0 ? 0 : (state.differences[0][2 * block + component] ?? 0));
    const sum = sizeAt(state.leftBlock(0)) + sizeAt(state.aboveBlock(0));
    const context = CONTEXT.difference[component];
    const size = Math.abs(value);
    this.bin(context + (sum < 3 ? 0 : sum > 32 ? 2 : 1), size > 0 ? 1 : 0);
    if (size === 0) return;
    for (let at = 1; at < 9; at += 1) {
      this.bin(context + Math.min(6, 2 + at), size > at ? 1 : 0);
      if (size === at) break;
    }
    if (size >= 9) this.golomb(size - 9, 3);
    this.encoder.bypass(value < 0 ? 1 : 0);
  }

  private golomb(value: number, order: number): void {
    let [left, bits] = [value, order];
    for (; left >= 2 ** bits; bits += 1) {
      this.encoder.bypass(1);
      left -= 2 ** bits;
    }
    this.encoder.bypass(0);
    this.encoder.bypassBits(bits, left);
  }

  raw(samples: Uint8Array): void {
    const { state } = this;
    this.skipFlag(false);
    if (this.kind === 'P') {
      this.bin(CONTEXT.pType, 1);
      this.bin(CONTEXT.pIntraType, 1);
    } else {
      const isOther = (mb: number) => (state.has(mb, FLAG.intra16 | FLAG.pcm) ? 1 : 0);
      this.bin(CONTEXT.intraType + isOther(state.left) + isOther(state.above), 1);
    }
    this.terminate(1);
    this.parts.push(Buffer.from(samples));
  }

  /** end_of_slice_flag. */
  goOn(isLast: boolean): void {
    this.terminate(isLast ? 1 : 0);
  }

  end(): Buffer {
    return Buffer.concat(this.parts);
  }
}
