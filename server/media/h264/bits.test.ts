import { describe, expect, it } from 'vitest';
import { createBitReader, createBitWriter } from './bits.ts';
import { H264Error } from './h264-error.ts';

describe('createBitReader', () => {
  it('reads the Exp-Golomb codes of the standard (table 9-2)', () => {
    // 1, 010, 011, 00100, 00101: the codes of 0 to 4, read as unsigned numbers.
    const reader = createBitReader(Buffer.from([0b1010_0110, 0b0100_0010, 0b1000_0000]));
    expect([reader.ue(), reader.ue(), reader.ue(), reader.ue(), reader.ue()]).toEqual([0, 1, 2, 3, 4]);
  });

  it('reads signed codes in the order 0, 1, -1, 2, -2', () => {
    const reader = createBitReader(Buffer.from([0b1010_0110, 0b0100_0010, 0b1000_0000]));
    expect([reader.se(), reader.se(), reader.se(), reader.se(), reader.se()]).toEqual([0, 1, -1, 2, -2]);
  });

  it('refuses to read past the end', () => {
    const reader = createBitReader(Buffer.from([0xff]));
    expect(reader.bits(7)).toBe(127);
    expect(() => reader.bits(2)).toThrow(H264Error);
  });

  it('refuses a code with more than 31 leading zeros', () => {
    expect(() => createBitReader(Buffer.alloc(64)).ue()).toThrow(H264Error);
  });

  it('finds the stop bit before trailing zero bytes', () => {
    expect(createBitReader(Buffer.from([0xff, 0b0101_0000, 0, 0])).stopBit()).toBe(11);
    expect(() => createBitReader(Buffer.alloc(3)).stopBit()).toThrow(H264Error);
  });
});

describe('createBitWriter', () => {
  it('writes what the reader reads, across byte borders and buffer growth', () => {
    const values = [0, 1, 2, 3, 254, 255, 256, 65_535, 1_000_000, 2 ** 31];
    const writer = createBitWriter(1);
    for (const value of values) {
      writer.ue(value);
      writer.se(-(value % 70_000));
      writer.bits(3, value % 8);
      writer.bits(32, value);
    }
    writer.stop();
    const reader = createBitReader(writer.bytes());
    for (const value of values) {
      expect(reader.ue()).toBe(value);
      expect(reader.se() + 0).toBe(-(value % 70_000) + 0);
      expect(reader.bits(3)).toBe(value % 8);
      expect(reader.bits(32)).toBe(value);
    }
    expect(reader.position()).toBe(reader.stopBit());
  });

  it('copies any run of bits to any position', () => {
    const source = Buffer.from([0x9a, 0x3c, 0xf0, 0x17, 0x55]);
    for (let lead = 0; lead < 9; lead++) {
      for (let from = 0; from < 17; from++) {
        for (const to of [from, from + 1, from + 7, from + 8, from + 9, from + 23]) {
          const writer = createBitWriter(1);
          writer.bits(lead, 0);
          writer.copy(source, from, to);
          const expected = createBitReader(source);
          expected.bits(from);
          const got = createBitReader(writer.bytes());
          got.bits(lead);
          expect(writer.length()).toBe(lead + to - from);
          expect(got.bits(to - from)).toBe(expected.bits(to - from));
        }
      }
    }
  });
});
