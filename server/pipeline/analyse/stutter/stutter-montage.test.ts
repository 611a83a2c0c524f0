import { describe, expect, it } from 'vitest';
import { frameSeries } from '#server/test/frame-series.ts';
import { detectStutter } from './detect-stutter.ts';

const FPS = 30;

/** Motion of a hand-held shot: about 12 grey levels, never quite even. */
const motion = (count: number) =>
  Array.from({ length: count }, (_, i) => 12 * (1 + 0.2 * Math.sin(i * 1.7) + 0.1 * Math.sin(i * 0.4)));
/** The same with each picture shown twice. */
const pairs = (count: number) => motion(count).map((move, i) => (i % 2 === 0 ? move : 0.05));
const stand = (count: number) => Array.from({ length: count }, () => 0.02);
const still = (moves: number[], first: number, count: number) =>
  moves.map((move, i) => (i >= first && i < first + count ? 0.05 : move));
const placesOf = (moves: readonly number[], cuts: readonly number[]) =>
  detectStutter(frameSeries(moves), { cuts, fps: FPS, pictureSurplus: 4 }).map(({ first, last }) => [
    first,
    last,
  ]);

describe('detectStutter in a montage', () => {
  it('finds a freeze in a shot of full rate beside one that is slowed down by pairs of pictures', () => {
    const freeze = still(motion(70), 30, 4);
    expect(placesOf([...freeze, 60, ...pairs(40)], [70])).toEqual([[30, 33]]);
    // A cut that nothing shows, as between two shots of similar brightness.
    expect(placesOf([...freeze, ...pairs(40)], [])).toEqual([[30, 33]]);
    expect(placesOf([...pairs(40), 60, ...freeze], [40])).toEqual([[71, 74]]);
  });

  it('leaves a rest right beside such pairs to the drawing that may have made them', () => {
    expect(placesOf([...pairs(40), ...still(motion(12), 4, 3), ...pairs(40)], [])).toEqual([]);
  });

  it('finds a freeze within a shot whatever is between other cuts, as with stills', () => {
    const stills = [60, ...stand(12), 60, ...stand(12), 60, ...stand(12)];
    const moves = [...stills, 60, ...still(motion(50), 20, 3), ...stills];
    const cuts = [0, 13, 26, 39, 90, 103, 116];
    expect(placesOf(moves, cuts)).toEqual([[60, 62]]);
    // Without the cuts between them they are rests of one screen.
    expect(placesOf(moves, [])).toEqual([]);
  });

  it('does not mistake the rest of a page before another one for a freeze when a screen rests most of the time', () => {
    const scroll = [2.9, 4.1, 5.3, 6.2, 6.7, 7.5, 7.2, 5.8, 5.1, 4.2, 2.9];
    const page = (rest: number) => [...scroll, ...stand(rest)];
    // A page of another kind: the step into it is larger than any next to it.
    const turned = (rest: number) => [
      ...page(rest),
      ...page(20),
      33,
      ...page(rest),
      ...page(rest),
      ...page(rest),
    ];
    const placesIn = (rest: number) => placesOf(turned(rest), []);
    expect(placesIn(20)).toEqual([]);
    // If less rests, as in a film of figures that pause, pictures were lost.
    expect(placesIn(6)).toEqual([[28, 47]]);
  });

  it('ignores one picture that a source has twice when the rate doubles two of three', () => {
    const shown = (sources: readonly number[]) =>
      sources.flatMap((move, i) => (i % 3 === 2 ? [move] : [move, 0.05]));
    const sources = motion(60).map((move, i) => (i === 31 ? 0.05 : move));
    expect(placesOf(shown(sources), [])).toEqual([]);
    const frozen = motion(60).map((move, i) => (i >= 31 && i < 35 ? 0.05 : move));
    expect(placesOf(shown(frozen), [])).toHaveLength(1);
  });
});
