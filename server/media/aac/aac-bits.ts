import type { CodeTree } from './aac-code-tree.ts';

/** Reads bits from a place on. Beyond the end it gives zeros and says so. */
export class AacBits {
  /** Number of the next bit, from the start of the bytes. */
  position: number;
  private readonly bytes: Buffer;
  private readonly end: number;

  constructor(bytes: Buffer, offset: number) {
    this.bytes = bytes;
    this.position = 8 * offset;
    this.end = 8 * bytes.length;
  }

  isOver(): boolean {
    return this.position > this.end;
  }

  bit(): number {
    const at = this.position++;
    return ((this.bytes[at >> 3] ?? 0) >> (7 - (at & 7))) & 1;
  }

  bits(count: number): number {
    let value = 0;
    for (let left = count; left > 0; left -= 1) value = 2 * value + this.bit();
    return value;
  }

  skip(count: number): void {
    this.position += count;
  }

  /** Skips the zeros up to the next byte; false where other bits stand there. */
  align(): boolean {
    while ((this.position & 7) !== 0) if (this.bit() !== 0) return false;
    return true;
  }

  /** The value of the next code word. */
  word(tree: CodeTree): number {
    let node = 0;
    do node = tree[2 * node + this.bit()] ?? -1;
    while (node > 0);
    return -1 - node;
  }
}
