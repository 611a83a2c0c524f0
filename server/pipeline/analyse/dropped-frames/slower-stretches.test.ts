import { describe, expect, it } from 'vitest';
import { seededRandom } from '#server/test/seeded-random.ts';
import type { PictureTimes } from '../analysis.ts';
import { detectTimestampGaps } from './detect-dropped-frames.ts';
import { findSlowerStretches, outsideOf } from './slower-stretches.ts';

const COUNT = 200;
const numbers = Array.from({ length: COUNT }, (_, i) => i);
interface Hole {
  readonly frameBefore: number;
  readonly missing: number;
}
const hole = (frameBefore: number, missing = 1): Hole => ({ frameBefore, missing });
/** A hole after every fifth picture from 100 on, as 25 pictures a second have at slots of 1/30 s. */
const card = Array.from({ length: 14 }, (_, i) => hole(100 + 5 * i));
/** Times at slots of 33 ms with holes. */
const timesWith = (holes: readonly Hole[]): PictureTimes => {
  const lost = new Map(holes.map(({ frameBefore, missing }) => [frameBefore, missing]));
  let now = 0;
  const ptsTicks = numbers.map((i) => (now += i === 0 ? 0 : 33 * (1 + (lost.get(i - 1) ?? 0))));
  const timeBase = { num: 1, den: 1000 };
  return { timeBase, ptsTicks, keyframe: [], medianIntervalTicks: 33, variableByNature: false };
};
const behind = (holes: readonly Hole[]) => new Set(holes.map(({ frameBefore }) => frameBefore + 1));
/** Even motion, longer by a factor across the holes. */
const movesWith = (holes: readonly Hole[], over: number, usual = 12) => {
  return numbers.map((i) => (behind(holes).has(i) ? over : 1) * (usual + Math.sin(i)));
};
const stretches = (holes: readonly Hole[], moves: readonly number[]) =>
  findSlowerStretches(timesWith(holes), (frame) => moves[frame] ?? null);

describe('findSlowerStretches', () => {
  it('treats even holes without a jump as a slower part, and nothing beside them', () => {
    const lost = hole(31, 3);
    const found = stretches([lost, ...card], movesWith([lost], 2));
    expect(found).toEqual([{ first: 100, last: 165, share: 5 / 6 }]);
    const gaps = detectTimestampGaps(timesWith([lost, ...card]));
    expect(gaps.map(({ frameBefore }) => frameBefore)).toEqual([31, ...card.map((one) => one.frameBefore)]);
    expect(outsideOf(found, gaps)).toMatchObject([{ frameBefore: 31, missing: 3 }]);
  });

  it('treats them as losses when the motion jumps across them', () => {
    expect(stretches(card, movesWith(card, 1.5))).toEqual([]);
  });

  it('decides by their evenness when nothing moves, whatever the encoder makes of it', () => {
    const still = movesWith(card, 2, 1.1);
    expect(stretches(card, still)).toHaveLength(1);
    const uneven = card.map((gap, i) => hole(gap.frameBefore + (i > 7 ? 1 : 0)));
    expect(stretches(uneven, still)).toEqual([]);
  });

  it('recognises 23.976 pictures a second, whose holes are now and then closer', () => {
    const film = Array.from({ length: 16 }, (_, i) => hole(100 + 4 * i - (i > 9 ? 1 : 0)));
    expect(stretches(film, movesWith([], 1))).toMatchObject([{ first: 100, last: 159 }]);
  });

  it('recognises a part slowed down to 18 pictures a second at the end of a clip', () => {
    const slow = Array.from({ length: 18 }, (_, i) => hole(170 + Math.floor((3 * i) / 2)));
    expect(stretches(slow, movesWith([], 1))).toMatchObject([{ first: 170, last: 195 }]);
  });

  it.each([
    ['fewer than nine', card.slice(0, 8)],
    ['holes of unlike lengths', card.map(({ frameBefore }, i) => hole(frameBefore, 1 + (i % 3)))],
    ['holes farther apart than of any rate in use', Array.from({ length: 15 }, (_, i) => hole(20 + 10 * i))],
  ])('ignores %s', (_, gaps) => {
    expect(stretches(gaps, movesWith([], 1))).toEqual([]);
  });

  it('finds no row in random losses', () => {
    const random = seededRandom(7);
    for (let clip = 0; clip < 50; clip += 1) {
      const gaps = numbers.filter(() => random() < 0.18).map((frame) => hole(frame));
      expect(stretches(gaps, movesWith([], 1))).toEqual([]);
    }
  });
});
