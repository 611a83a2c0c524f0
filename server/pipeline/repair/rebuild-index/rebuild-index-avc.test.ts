import { describe, expect, it } from 'vitest';
import { createBitWriter } from '#server/media/h264/bits.ts';
import { mainSets } from '#server/test/h264-sets.ts';
import { avcCoding } from './rebuild-index-avc.ts';

const { sps, pps } = mainSets({ pocType: 0, pocBits: 6 });
const coding = avcCoding(sps, [pps]);

/** A P slice of a whole picture with these numbers, without its length. */
function sliceOf(frameNum: number, pocLsb: number): Buffer {
  const writer = createBitWriter();
  writer.bits(8, 0x41);
  writer.ue(0);
  writer.ue(5);
  writer.ue(0);
  writer.bits(4, frameNum % 16);
  writer.bits(6, pocLsb % 64);
  writer.alignWithOnes();
  return Buffer.concat([writer.bytes(), Buffer.alloc(30, 0x5a)]);
}

/** Which of some order counts, read one after the other, a reader takes; those it refuses are skipped. */
function taken(pocLsbs: readonly number[]): boolean[] {
  const reader = coding.startReader();
  let frameNum = 0;
  return pocLsbs.map((pocLsb) => {
    const unit = reader.read(sliceOf(frameNum + 1, pocLsb), false);
    if (!unit) return false;
    unit.take();
    frameNum += 1;
    return true;
  });
}

describe('reading H.264 slices in their order', () => {
  const evens = Array.from({ length: 20 }, (_, i) => 2 * i);

  it('rejects an odd order count after many even ones, which other bytes resemble', () => {
    expect(taken([...evens, 33, 40])).toEqual([...evens.map(() => true), false, true]);
  });

  it('accepts odd ones of an encoder that counts by ones, or before that is known', () => {
    const all = Array.from({ length: 40 }, (_, i) => i);
    expect(taken(all)).toEqual(all.map(() => true));
    expect(taken([...evens.slice(0, 8), 17, 18])).toEqual(Array.from({ length: 10 }, () => true));
  });
});
