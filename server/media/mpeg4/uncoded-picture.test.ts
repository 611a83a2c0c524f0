import { describe, expect, it } from 'vitest';
import { countPictures, isUncoded, shortestPicture } from './uncoded-picture.ts';

/** A packet of a screen recorder in which nothing moved, and one by Xvid (recorded). */
const RECORDED = ['000001b650677f', '000001b651f49f'].map((hex) => Buffer.from(hex, 'hex'));
const [STILL = Buffer.alloc(0)] = RECORDED;

describe('isUncoded', () => {
  it('recognises packets that are shorter than a picture of one bit a macroblock', () => {
    expect(shortestPicture(640, 360)).toBe(114);
    for (const packet of RECORDED) expect(isUncoded(packet, shortestPicture(640, 360))).toBe(true);
    expect(isUncoded(Buffer.concat([STILL, Buffer.alloc(108)]), 114)).toBe(false);
    expect(isUncoded(STILL, shortestPicture(32, 32))).toBe(false);
  });

  it('leaves other pictures and other data alone', () => {
    const withType = (bits: number) => Buffer.concat([STILL.subarray(0, 4), Buffer.from([bits << 6, 0x67])]);
    expect([0, 1, 2].map((type) => isUncoded(withType(type), 100))).toEqual([false, true, false]);
    expect(isUncoded(Buffer.from([0, 0, 1, 0xb0, 0xf5]), 100)).toBe(false);
    expect(isUncoded(Buffer.alloc(0), 100)).toBe(false);
  });
});

it('counts the pictures that are packed together', () => {
  expect([[], [STILL], [STILL, STILL]].map((parts) => countPictures(Buffer.concat(parts)))).toEqual([
    0, 1, 2,
  ]);
});
