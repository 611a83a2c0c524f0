import { describe, expect, it } from 'vitest';
import { frameSeries } from '#server/test/frame-series.ts';
import { seededRandom } from '#server/test/seeded-random.ts';
import type { TimestampGap } from './detect-dropped-frames.ts';
import { findSlowerStretches, outsideOf } from './slower-stretches.ts';

const COUNT = 200;
const numbers = Array.from({ length: COUNT }, (_, i) => i);
const hole = (frameBefore: number, missing = 1): TimestampGap => {
  return { frameBefore, missing, ratio: missing + 1, confidence: 0.99 };
};
/** One hole behind every fifth picture from 100 on, as 25 pictures a second have at moments of 1/30 s. */
const card = Array.from({ length: 14 }, (_, i) => hole(100 + 5 * i));
const behind = (gaps: readonly TimestampGap[]) => new Set(gaps.map(({ frameBefore }) => frameBefore + 1));
/** Even motion, but so many times longer over the holes. */
const movesWith = (gaps: readonly TimestampGap[], over: number, usual = 12) => {
  return numbers.map((i) => (behind(gaps).has(i) ? over : 1) * (usual + Math.sin(i)));
};
const stretches = (gaps: readonly TimestampGap[], moves: readonly number[]) =>
  findSlowerStretches(gaps, frameSeries(moves), numbers, []);

describe('findSlowerStretches', () => {
  it('takes even holes without a jump for a slower part, and nothing else with them', () => {
    const gaps = [hole(31, 3), ...card];
    const found = stretches(gaps, movesWith([gaps[0] ?? hole(31)], 2));
    expect(found).toEqual([{ first: 100, last: 165, share: 5 / 6 }]);
    expect(outsideOf(found, gaps)).toEqual([hole(31, 3)]);
  });

  it('takes them for losses where the motion jumps over them', () => {
    expect(stretches(card, movesWith(card, 1.5))).toEqual([]);
  });

  it('goes by their evenness where nothing moves, whatever the encoder makes of it', () => {
    const still = movesWith(card, 2, 1.1);
    expect(stretches(card, still)).toHaveLength(1);
    const uneven = card.map((gap, i) => hole(gap.frameBefore + (i > 7 ? 1 : 0)));
    expect(stretches(uneven, still)).toEqual([]);
  });

  it('knows 23.976 pictures a second, whose holes now and then lie closer', () => {
    const film = Array.from({ length: 16 }, (_, i) => hole(100 + 4 * i - (i > 9 ? 1 : 0)));
    expect(stretches(film, movesWith([], 1))).toMatchObject([{ first: 100, last: 159 }]);
  });

  it.each([
    ['fewer than six', card.slice(0, 5)],
    ['holes of two pictures', card.map(({ frameBefore }) => hole(frameBefore, 2))],
    ['holes farther apart than of any rate in use', Array.from({ length: 9 }, (_, i) => hole(20 + 10 * i))],
  ])('leaves %s alone', (_, gaps) => {
    expect(stretches(gaps, movesWith([], 1))).toEqual([]);
  });

  it('finds no row in losses at random', () => {
    const random = seededRandom(4);
    for (let clip = 0; clip < 50; clip += 1) {
      const gaps = numbers.filter(() => random() < 0.18).map((frame) => hole(frame));
      expect(stretches(gaps, movesWith([], 1))).toEqual([]);
    }
  });
});
