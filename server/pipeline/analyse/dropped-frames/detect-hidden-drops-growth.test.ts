import { describe, expect, it } from 'vitest';
import { NO_VOTES } from '#server/media/grey/grey-jump-votes.ts';
import type { JumpMeasure } from '#server/media/grey/grey-jumps.ts';
import { LAGS } from '#server/media/grey/grey-series.ts';
import { countMissing } from './detect-hidden-drops-growth.ts';

const AT = 40;

/** Differences that grow with the distance as motion makes them, with `lost` pictures missing before picture 40. */
function differences(lost: number, grown: (distance: number) => number) {
  const of = (lag: number) =>
    Array.from({ length: 80 }, (_, i) => grown(i >= AT && i - lag < AT ? lag + lost : lag));
  return new Map(LAGS.map((lag) => [lag, of(lag)]));
}

const slowing = (distance: number) => 8 * distance ** 0.6;
const jump = (slope: number, agreement: number): JumpMeasure => ({
  windows: 20,
  slope,
  agreement,
  steadiness: 0.9,
  excess: 2,
  leastAround: 0.9,
  speed: 0.8,
  livelyBlocks: 60,
  commonRise: 2,
  votes: NO_VOTES,
  atPlaces: NO_VOTES,
});

describe('countMissing', () => {
  it.each([1, 2, 3, 4, 5, 6, 7, 9, 12])(
    'interpolates %i missing pictures between the measured distances',
    (lost) => {
      expect(countMissing(differences(lost, slowing), AT, undefined)).toBe(lost);
    },
  );

  it('averages with what the vectors say, when they agree', () => {
    const seen = differences(8, slowing);
    expect(countMissing(seen, AT, jump(5, 0.7))).toBe(6);
    expect(countMissing(seen, AT, jump(5, 0.3))).toBe(8);
    expect(countMissing(seen, AT, jump(20, 0.9))).toBe(8);
    expect(countMissing(seen, AT, jump(5, 0.99))).toBe(4);
  });

  it('follows windows that vote for one factor, when it is a longer step', () => {
    const seen = differences(8, slowing);
    const voted = (share: number, factor: number) => ({
      ...jump(5, 0.7),
      votes: { voters: 10, share, factor },
    });
    expect(countMissing(seen, AT, voted(0.8, 3.9))).toBe(3);
    expect(countMissing(seen, AT, voted(0.8, 1.4))).toBe(1);
    expect(countMissing(seen, AT, voted(0.3, 3.9))).toBe(6);
    expect(countMissing(seen, AT, voted(0.8, 1.0))).toBe(6);
  });

  it('counts a loss whose factor the windows find too short, where the growth tells more', () => {
    const voted = (factor: number) => ({ ...jump(5, 0.7), votes: { voters: 15, share: 0.85, factor } });
    expect(countMissing(differences(2, slowing), AT, voted(2.45))).toBe(2);
    expect(countMissing(differences(4, slowing), AT, voted(4.3))).toBe(4);
    expect(countMissing(differences(1, slowing), AT, voted(2.08))).toBe(1);
  });

  it('follows a third of many windows when the change is no larger than their factor explains', () => {
    const third = (factor: number) => ({ ...jump(5, 0.7), votes: { voters: 12, share: 0.35, factor } });
    const seen = differences(3, (distance) => 8 * distance);
    expect(countMissing(seen, AT, third(4))).toBe(3);
    expect(
      countMissing(
        differences(8, (distance) => 8 * distance),
        AT,
        third(3),
      ),
    ).not.toBe(2);
  });

  it('gives no large number when the differences have stopped growing', () => {
    const flat = differences(6, (distance) => Math.min(30, 8 * distance));
    expect(countMissing(flat, AT, undefined)).toBeLessThanOrEqual(7);
    const noisy = new Map(flat).set(
      1,
      Array.from({ length: 80 }, (_, i) => (i === AT ? 34 : 8)),
    );
    expect(countMissing(noisy, AT, undefined)).toBeLessThanOrEqual(8);
  });
});
