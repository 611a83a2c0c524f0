import { describe, expect, it } from 'vitest';
import { buildHuffman } from './jpeg-huffman.ts';
import { readScan } from './jpeg-scan.ts';

/** A table of codes by their lengths, shortest first. */
function tableOf(codes: readonly (readonly [value: number, bits: number])[]) {
  const counts = new Uint8Array(16);
  for (const [, bits] of codes) counts[bits - 1] = (counts[bits - 1] ?? 0) + 1;
  const table = buildHuffman(
    counts,
    Uint8Array.from(codes, ([value]) => value),
  );
  if (!table) throw new Error('There are too many codes.');
  return table;
}

// Means: 0 -> no difference, 10 -> two bits follow. Others: 0 -> end of block, 10 -> a run of 15 zeros and one of 1 bit,
// 110 -> 16 zeros.
const dc = tableOf([
  [0, 1],
  [2, 2],
]);
const ac = tableOf([
  [0, 1],
  [0xf1, 2],
  [0xf0, 3],
]);
const scan = { components: [{ blocks: 1, dc, ac, mostMean: 10 }], units: 4, restartInterval: 0 };

/** Bytes of bits, padded with ones, and an end marker. */
function data(bits: string): Uint8Array {
  const plain = bits.replaceAll(' ', '');
  const padded = plain.padEnd(Math.ceil(plain.length / 8) * 8, '1');
  const bytes = (padded.match(/.{8}/g) ?? []).flatMap((byte) =>
    byte === '11111111' ? [0xff, 0] : [Number.parseInt(byte, 2)],
  );
  return Uint8Array.from([...bytes, 0xff, 0xd9]);
}

describe('readScan', () => {
  it('ends at the marker when the last unit ends in the last byte', () => {
    const bytes = data('00 00 00 10 11 0');
    expect(readScan(bytes, 0, scan)).toBe(bytes.length - 2);
    expect(readScan(data('00 00 00 0 10 1 10 0 0'), 0, scan)).not.toBeNull();
  });

  it('names data that end too early or too late', () => {
    expect(readScan(data('00 00 00'), 0, scan)).toBeNull();
    expect(readScan(data('10 11 0 00 0'), 0, scan)).toBeNull();
    expect(readScan(data('00 00 00 00 00000000 00000000'), 0, scan)).toBeNull();
  });

  it('names codes that do not exist, runs beyond a block and means beyond what 8 bits hold', () => {
    expect(readScan(data('11 00 00 00 00 00'), 0, scan)).toBeNull();
    expect(readScan(data('0 110 110 110 110 0 00 00 00'), 0, scan)).toBeNull();
    const few = { ...scan, components: [{ blocks: 1, dc, ac, mostMean: 5 }] };
    const rising = data('10 11 0 10 11 0 00 00');
    expect(readScan(rising, 0, scan)).not.toBeNull();
    expect(readScan(rising, 0, few)).toBeNull();
  });

  it('restarts only after the right restart marker', () => {
    const parted = { ...scan, restartInterval: 2 };
    const first = data('00 00').subarray(0, 1);
    const bytes = (marker: number) => Uint8Array.from([...first, 0xff, marker, ...data('00 00')]);
    expect(readScan(bytes(0xd0), 0, parted)).toBe(4);
    expect(readScan(bytes(0xd1), 0, parted)).toBeNull();
  });
});
