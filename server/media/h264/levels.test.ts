import { describe, expect, it } from 'vitest';
import type { Sps } from './sps.ts';
import { parseSps } from './sps.ts';
import { verbatimLevel, withLevel } from './levels.ts';

/** Sequence parameter set of x264: High, level 1.3, 320 x 192, 4:2:0. */
const SPS = Buffer.from('6764000dacd9414190c0110000030001000003003c8f14299600', 'hex');

const sized = (widthMbs: number, heightMbs: number, level: number): Sps => ({
  ...parseSps(SPS),
  widthMbs,
  heightMbs,
  level,
});

describe('verbatimLevel', () => {
  it('raises the level until a picture of one byte per sample fits into its time', () => {
    // 720p at 30: 3600 macroblocks need 384 x MaxMBPS / 30 / MinCR bytes; 4.1 is the first that has them.
    expect(verbatimLevel(sized(80, 45, 31), 1 / 30)).toBe(41);
    expect(verbatimLevel(sized(120, 68, 40), 1 / 30)).toBe(42);
    expect(verbatimLevel(sized(120, 68, 42), 1 / 60)).toBe(52);
  });

  it('keeps a sufficient level, and says when none suffices', () => {
    expect(verbatimLevel(sized(20, 12, 41), 1 / 30)).toBe(41);
    expect(verbatimLevel(sized(240, 135, 51), 1 / 60)).toBeNull();
  });
});

describe('withLevel', () => {
  it('changes only the level', () => {
    const raised = parseSps(withLevel(SPS, 42));
    expect(raised).toEqual({ ...parseSps(SPS), level: 42 });
  });
});
