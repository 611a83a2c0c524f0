import type { BitWriter } from '../bits.ts';
import type { Moved } from '../../square-motion.ts';
import { I_PCM } from './mb-types.ts';
import type { MacroblockCoder } from './stand-in-macroblocks.ts';

/** Intra types of P slices follow five inter types (ITU-T H.264, 7.4.5). */
const INTRA_IN_P = 5;

/** Codes macroblocks by Exp-Golomb codes (ITU-T H.264, 9.1). */
export class CavlcCoder implements MacroblockCoder {
  private readonly writer: BitWriter;
  private readonly kind: 'I' | 'P';
  private skipped = 0;

  constructor(writer: BitWriter, kind: 'I' | 'P') {
    this.writer = writer;
    this.kind = kind;
  }

  skip(): void {
    this.skipped += 1;
  }

  private endSkipped(): void {
    if (this.kind === 'P') this.writer.ue(this.skipped);
    this.skipped = 0;
  }

  moved({ x, y }: Moved): void {
    this.endSkipped();
    // mb_type P_L0_16x16, the difference from the predicted vector, and coded_block_pattern 0 (table 9-4).
    this.writer.ue(0);
    this.writer.se(x);
    this.writer.se(y);
    this.writer.ue(0);
  }

  raw(samples: Uint8Array): void {
    const { writer } = this;
    this.endSkipped();
    writer.ue(I_PCM + (this.kind === 'P' ? INTRA_IN_P : 0));
    if (writer.length() % 8 !== 0) writer.bits(8 - (writer.length() % 8), 0);
    for (const sample of samples) writer.bits(8, sample);
  }

  goOn(): void {
    // The end of the data ends the slice.
  }

  end(): Buffer {
    if (this.skipped > 0) this.endSkipped();
    this.writer.stop();
    return this.writer.bytes();
  }
}
