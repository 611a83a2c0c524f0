import { describe, expect, it } from 'vitest';
import { createBitReader, createBitWriter } from '../h264/bits.ts';
import { HevcError } from './hevc-error.ts';
import { readShortTermSet } from './hevc-reference-set.ts';

function bitsOf(write: (writer: ReturnType<typeof createBitWriter>) => void) {
  const writer = createBitWriter();
  write(writer);
  writer.stop();
  return createBitReader(writer.bytes());
}

const FIRST = [
  { delta: -1, used: true },
  { delta: -4, used: false },
  { delta: 2, used: true },
];

describe('readShortTermSet', () => {
  it('reads a set that names its pictures', () => {
    const reader = bitsOf((writer) => {
      writer.ue(2);
      writer.ue(1);
      writer.ue(0);
      writer.flag(true);
      writer.ue(2);
      writer.flag(false);
      writer.ue(1);
      writer.flag(true);
    });
    expect(readShortTermSet(reader, [], false)).toEqual(FIRST);
  });

  it('derives a set from another: moves its pictures, omits some, adds its own, and orders them outwards', () => {
    const reader = bitsOf((writer) => {
      writer.flag(true);
      // In a slice header: the last but one set, moved by -2.
      writer.ue(1);
      writer.flag(true);
      writer.ue(1);
      writer.flag(true);
      writer.flag(false);
      writer.flag(true);
      writer.flag(true);
      writer.flag(false);
      writer.flag(false);
    });
    const moved = readShortTermSet(reader, [FIRST, []], true);
    expect(moved).toEqual([
      { delta: -3, used: true },
      { delta: -6, used: false },
    ]);
  });

  it('rejects sets that are too large or predicted from none', () => {
    const large = bitsOf((writer) => {
      writer.ue(9);
      writer.ue(9);
    });
    expect(() => readShortTermSet(large, [], false)).toThrow(HevcError);
    const lost = bitsOf((writer) => {
      writer.flag(true);
      writer.ue(4);
    });
    expect(() => readShortTermSet(lost, [FIRST], true)).toThrow(HevcError);
  });
});
