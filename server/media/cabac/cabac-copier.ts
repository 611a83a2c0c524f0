import { CabacDecoder } from './cabac-decoder.ts';
import { CabacEncoder } from './cabac-encoder.ts';

/** A decoder that also encodes everything it reads, so that data can be ended at another place. */
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

  /** What lies between, such as raw samples, is kept as it is. */
  override skipTo(at: number): void {
    if (at > this.nextAt()) this.ended.push(Buffer.from(this.bytes.subarray(this.nextAt(), at)));
    super.skipTo(at);
  }

  /** The substreams read since the last call, the last of them ended here. */
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
