import { describe, expect, it } from 'vitest';
import { seededRandom } from '#server/test/seeded-random.ts';
import type { PictureTimes } from '../analysis.ts';
import { detectTimestampGaps } from './detect-dropped-frames.ts';
import { classifyIntervals } from '../packets/picture-intervals.ts';
import { indexPictures } from '../packets/picture-times.ts';

const TIME_BASE = { num: 1, den: 15360 };
const STEP = 512;

function timesOf(intervals: readonly number[], timeBase = TIME_BASE): PictureTimes {
  let now = 0;
  const ptsTicks = [0, ...intervals.map((interval) => (now += interval))];
  const { medianTicks, variableByNature } = classifyIntervals(ptsTicks, timeBase);
  return {
    timeBase,
    ptsTicks,
    keyframe: ptsTicks.map((_, i) => i === 0),
    medianIntervalTicks: medianTicks,
    variableByNature,
  };
}

const regular = (count: number) => Array.from({ length: count }, () => STEP);

describe('detectTimestampGaps', () => {
  it('finds holes and counts the pictures missing in them', () => {
    const intervals = [...regular(40), STEP * 4, ...regular(40), STEP * 2, ...regular(30)];
    const times = timesOf(intervals);
    expect(times.variableByNature).toBe(false);
    expect(detectTimestampGaps(times).map(({ frameBefore, missing }) => [frameBefore, missing])).toEqual([
      [40, 3],
      [81, 1],
    ]);
  });

  it('ignores the interval of the very first picture, which AVI writers make longer', () => {
    expect(detectTimestampGaps(timesOf([STEP * 3, ...regular(80)]))).toEqual([]);
  });

  it('ignores the interval before the very last picture, where a cut by stream copy omits pictures', () => {
    expect(detectTimestampGaps(timesOf([...regular(80), STEP * 4]))).toEqual([]);
  });

  it('finds nothing in constant rate rounded to milliseconds', () => {
    const milliseconds = Array.from(
      { length: 200 },
      (_, i) => Math.round((i + 1) * 16.683) - Math.round(i * 16.683),
    );
    const times = timesOf(milliseconds, { num: 1, den: 1000 });
    expect(times.variableByNature).toBe(false);
    expect(detectTimestampGaps(times)).toEqual([]);
  });

  it('ignores a camera that alternates between two rates', () => {
    const phone = Array.from({ length: 150 }, (_, i) =>
      i % 7 < 4 ? STEP * 2 : i % 7 === 6 ? STEP * 3 : STEP,
    );
    const times = timesOf(phone);
    expect(times.variableByNature).toBe(true);
    expect(detectTimestampGaps(times)).toEqual([]);
  });

  it('ignores a camera that slows down in the dark', () => {
    const slowing = [...regular(60), ...Array.from({ length: 14 }, () => STEP * 2), ...regular(60)];
    expect(detectTimestampGaps(timesOf(slowing))).toEqual([]);
  });

  it('finds losses close together, singles and bursts, in a clip of constant rate', () => {
    const burst = [3, 2, 1, 2, 2, 1, 4];
    const near = [2, 1, 2, 2];
    const intervals = [
      ...regular(40),
      ...burst.map((pictures) => pictures * STEP),
      ...regular(60),
      ...near.map((pictures) => pictures * STEP),
      ...regular(20),
    ];
    const expected = intervals.flatMap((ticks, i) => (ticks > STEP ? [[i, ticks / STEP - 1]] : []));
    const times = timesOf(intervals);
    expect(times.variableByNature).toBe(false);
    expect(detectTimestampGaps(times).map(({ frameBefore, missing }) => [frameBefore, missing])).toEqual(
      expected,
    );
  });

  it('finds nearly all of the pictures lost at random, one in ten', () => {
    const random = seededRandom(5);
    const kept = Array.from({ length: 600 }, (_, i) => i).filter((i) => i === 0 || random() >= 0.1);
    const intervals = kept.slice(1).map((at, i) => (at - (kept[i] ?? 0)) * STEP);
    const lost = intervals.filter((ticks) => ticks > STEP).length;
    expect(lost).toBeGreaterThan(40);
    expect(detectTimestampGaps(timesOf(intervals)).length).toBeGreaterThanOrEqual(0.97 * lost);
  });

  it('ignores a camera that slows down for its last two pictures', () => {
    expect(detectTimestampGaps(timesOf([...regular(90), STEP * 2, STEP * 2]))).toEqual([]);
  });

  it('ignores a late long interval when the pictures hidden by an edit list were taken as slowly', () => {
    const shown = [...regular(75), STEP * 2, STEP];
    const hidden = Array.from({ length: 7 }, () => STEP * 2);
    let now = -7 * 2 * STEP;
    const all = [now, ...[...hidden, ...shown].map((interval) => (now += interval))];
    const packets = all.map((ptsTicks, i) => ({
      ptsTicks,
      dtsTicks: ptsTicks,
      durationTicks: STEP,
      sizeBytes: 100,
      offsetBytes: null,
      keyframe: i === 0,
      shown: ptsTicks >= 0,
    }));
    const stream = { codec: 'hevc', timeBase: TIME_BASE };
    const decoded = all.filter((ticks) => ticks >= 0);
    expect(detectTimestampGaps(timesOf(shown))).toHaveLength(1);
    const index = indexPictures(stream, packets, decoded);
    expect(index?.times.variableByNature).toBe(true);
    expect(index && detectTimestampGaps(index.times)).toEqual([]);
  });

  it('ignores a screen recording with still stretches', () => {
    const random = seededRandom(9);
    const intervals = Array.from({ length: 240 }, (_, i) =>
      i % 16 === 9 ? STEP * (5 + Math.floor(random() * 80)) : STEP,
    );
    expect(detectTimestampGaps(timesOf(intervals))).toEqual([]);
  });

  it('still finds a long hole in a clip of variable rate', () => {
    const phone = Array.from({ length: 150 }, (_, i) => (i % 3 === 0 ? STEP : STEP * 2));
    phone[70] = STEP * 30;
    const gaps = detectTimestampGaps(timesOf(phone));
    expect(gaps).toHaveLength(1);
    expect(gaps[0]).toMatchObject({ frameBefore: 70 });
  });

  it('also ignores a first picture that is shown longer there', () => {
    const phone = Array.from({ length: 150 }, (_, i) => (i % 3 === 0 ? STEP : STEP * 2));
    phone[0] = STEP * 30;
    expect(detectTimestampGaps(timesOf(phone))).toEqual([]);
  });
});
