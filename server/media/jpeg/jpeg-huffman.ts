/**
 * For each value of the next 16 bits: the value of the code that they begin with times 32, plus that code's length; 0
 * where no code fits.
 */
export type HuffmanTable = Uint16Array;

/**
 * A table of codes from its description in a DHT segment (ISO/IEC 10918-1, annex C): how many codes have each length
 * from 1 to 16 bits, and their values in that order.
 * @returns null where there are more codes than fit into 16 bits
 */
export function buildHuffman(counts: Uint8Array, values: Uint8Array): HuffmanTable | null {
  const table = new Uint16Array(1 << 16);
  let at = 0;
  let next = 0;
  for (let length = 1; length <= 16; length += 1) {
    const spread = 1 << (16 - length);
    for (let i = 0; i < (counts[length - 1] ?? 0); i += 1) {
      if (next + spread > table.length) return null;
      table.fill(((values[at] ?? 0) << 5) | length, next, next + spread);
      next += spread;
      at += 1;
    }
  }
  return table;
}
