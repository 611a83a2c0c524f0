import { CabacEncoder } from '../../cabac/cabac-encoder.ts';
import type { BitWriter } from '../bits.ts';
import type { Moved } from '../../square-motion.ts';
import { AVC_CONTEXT_COUNT, initAvcContexts } from './avc-contexts.ts';
import {
  chromaPatternContext,
  CONTEXT,
  differenceContext,
  intraTypeContext,
  lumaPatternContext,
  skipContext,
} from './cabac-contexts.ts';
import type { MbState } from './mb-state.ts';
import type { MacroblockCoder } from './stand-in-macroblocks.ts';

/** Codes macroblocks by CABAC (ITU-T H.264, 9.3.4). `state` describes the macroblocks beside the one that is coded. */
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
    this.encoder.inContext(this.contexts, context, symbol);
  }

  /** Writes a terminating symbol; after a 1, everything coded so far is complete. */
  private terminate(symbol: number): void {
    const ended = this.encoder.terminate(symbol);
    if (!ended) return;
    this.parts.push(ended);
    this.encoder = new CabacEncoder();
  }

  private skipFlag(isSkipped: boolean): void {
    if (this.kind === 'I') return;
    this.bin(skipContext(this.state, CONTEXT.pSkip), isSkipped ? 1 : 0);
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
    // coded_block_pattern 0.
    for (let quarter = 0; quarter < 4; quarter += 1) this.bin(lumaPatternContext(state, 0, quarter), 0);
    this.bin(chromaPatternContext(state, 0), 0);
  }

  /** mvd_l0 (9.3.2.3, uCoff 9, signed, order 3). */
  private difference(component: 0 | 1, value: number): void {
    const context = CONTEXT.difference[component];
    const size = Math.abs(value);
    this.bin(differenceContext(this.state, 0, 0, component), size > 0 ? 1 : 0);
    if (size === 0) return;
    for (let at = 1; at < 9; at += 1) {
      this.bin(context + Math.min(6, 2 + at), size > at ? 1 : 0);
      if (size === at) break;
    }
    if (size >= 9) this.encoder.golomb(size - 9, 3);
    this.encoder.bypass(value < 0 ? 1 : 0);
  }

  raw(samples: Uint8Array): void {
    this.skipFlag(false);
    if (this.kind === 'P') {
      this.bin(CONTEXT.pType, 1);
      this.bin(CONTEXT.pIntraType, 1);
    } else this.bin(intraTypeContext(this.state), 1);
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
