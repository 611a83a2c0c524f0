import { describe, expect, it } from 'vitest';
import { seededRandom } from '#server/test/seeded-random.ts';
import { H264Error } from './h264-error.ts';
import { createAnnexBSplitter, fromRbsp, joinSample, splitSample, toRbsp } from './nal.ts';

const random = seededRandom(7);

/** Bytes with many zeros, so that emulation happens often. */
function zeroRich(length: number): Buffer {
  return Buffer.from(Array.from({ length }, () => (random() < 0.6 ? 0 : Math.floor(random() * 5))));
}

describe('fromRbsp and toRbsp', () => {
  it('are inverse, and contain no start code in between', () => {
    for (let round = 0; round < 300; round++) {
      const rbsp = Buffer.concat([zeroRich(Math.floor(random() * 40)), Buffer.from([0x80])]);
      const unit = fromRbsp(rbsp);
      expect(toRbsp(unit).equals(rbsp)).toBe(true);
      for (let at = 0; at + 2 < unit.length; at++) {
        const hidden = unit[at] === 0 && unit[at + 1] === 0 && (unit[at + 2] ?? 9) < 3;
        expect(hidden).toBe(false);
      }
    }
  });

  it('never lets a unit end in a zero byte', () => {
    expect(fromRbsp(Buffer.from([1, 0, 0])).at(-1)).toBe(3);
  });
});

describe('createAnnexBSplitter', () => {
  it('finds the same units however the stream is divided', () => {
    const units = [Buffer.from([0x67, 1, 2]), Buffer.from([0x68, 0, 1]), Buffer.from([0x65, 0, 0, 3, 1, 9])];
    const codes = [Buffer.from([0, 0, 0, 1]), Buffer.from([0, 0, 1]), Buffer.from([0, 0, 0, 1])];
    const stream = Buffer.concat(units.flatMap((unit, index) => [codes[index] ?? Buffer.alloc(0), unit]));
    for (let size = 1; size <= stream.length; size++) {
      const splitter = createAnnexBSplitter();
      const found: Buffer[] = [];
      for (let at = 0; at < stream.length; at += size) {
        found.push(...splitter.push(stream.subarray(at, at + size)));
      }
      found.push(...splitter.end());
      expect(found.map((unit) => unit.toString('hex'))).toEqual(units.map((unit) => unit.toString('hex')));
    }
  });

  it('returns nothing for a stream without a start code', () => {
    const splitter = createAnnexBSplitter();
    expect(splitter.push(Buffer.from([1, 2, 3]))).toEqual([]);
    expect(splitter.end()).toEqual([]);
  });
});

describe('splitSample', () => {
  it('reads what joinSample writes with each length size', () => {
    const units = [Buffer.from([0x09, 0xf0]), Buffer.alloc(200, 0x41)];
    for (const size of [1, 2, 4]) {
      expect(splitSample(joinSample(units, size), size)).toEqual(units);
    }
  });

  it('refuses lengths that do not fill the sample', () => {
    expect(() => splitSample(Buffer.from([0, 0, 0, 9, 1]), 4)).toThrow(H264Error);
    expect(() => splitSample(Buffer.from([0, 0]), 4)).toThrow(H264Error);
  });

  it('refuses to write a unit that its length cannot hold', () => {
    expect(() => joinSample([Buffer.alloc(300)], 1)).toThrow(H264Error);
  });
});
