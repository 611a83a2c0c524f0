import { CabacDecoder } from './cabac-decoder.ts';
import { CabacEncoder } from './cabac-encoder.ts';

/** A decoder that codes all that it reads once more, so that data can be ended where they did not. */
export class CabacCopier extends CabacDecoder {
  private encoder = new CabacEncoder();
  private ended: Buffer[] = [];

  override start(bytes: Uint8Array, at: number, end: number): void {
    super.start(bytes, at, end);
    this.encoder = new CabacEncoder();
  }

  override bin(context: number): number {
    const state = this.states[context] ?? 0;
    const symbol = super.bin(context);
    this.encoder.bin(state, symbol);
    return symbol;
  }

  override bypass(): number {
    const symbol = super.bypass();
    this.encoder.bypass(symbol);
    return symbol;
  }

  override bypassBits(count: number): number {
    const value = super.bypassBits(count);
    this.encoder.bypassBits(count, value);
    return value;
  }

  override terminate(): number {
    const symbol = super.terminate();
    this.close(symbol);
    return symbol;
  }

  /** What lies in between, as raw samples do, is kept as it is. */
  override skipTo(at: number): void {
    if (at > this.nextAt()) this.ended.push(Buffer.from(this.bytes.subarray(this.nextAt(), at)));
    super.skipTo(at);
  }

  /** The substreams read since it was last finished, the last of them ended here. */
  finish(): Buffer[] {
    this.close(1);
    const { ended } = this;
    this.ended = [];
    return ended;
  }

  private close(symbol: number): void {
    const bytes = this.encoder.terminate(symbol);
    if (bytes) this.ended.push(bytes);
  }
}
