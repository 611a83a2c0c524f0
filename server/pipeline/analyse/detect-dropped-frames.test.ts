import { describe, expect, it } from 'vitest';
import type { PictureTimes } from './analysis.ts';
import { detectTimestampGaps } from './detect-dropped-frames.ts';
import { classifyIntervals } from './picture-intervals.ts';

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

  it('finds nothing in constant rate rounded to milliseconds', () => {
    const milliseconds = Array.from(
      { length: 200 },
      (_, i) => Math.round((i + 1) * 16.683) - Math.round(i * 16.683),
    );
    const times = timesOf(milliseconds, { num: 1, den: 1000 });
    expect(times.variableByNature).toBe(false);
    expect(detectTimestampGaps(times)).toEqual([]);
  });

  it('leaves a camera that alternates between two rates alone', () => {
    const phone = Array.from({ length: 150 }, (_, i) =>
      i % 7 < 4 ? STEP * 2 : i % 7 === 6 ? STEP * 3 : STEP,
    );
    const times = timesOf(phone);
    expect(times.variableByNature).toBe(true);
    expect(detectTimestampGaps(times)).toEqual([]);
  });

  it('leaves a camera that slows down in the dark alone', () => {
    const slowing = [...regular(60), ...Array.from({ length: 14 }, () => STEP * 2), ...regular(60)];
    expect(detectTimestampGaps(timesOf(slowing))).toEqual([]);
  });

  it('still finds a long hole in a clip of variable rate', () => {
    const phone = Array.from({ length: 150 }, (_, i) => (i % 3 === 0 ? STEP : STEP * 2));
    phone[70] = STEP * 30;
    const gaps = detectTimestampGaps(timesOf(phone));
    expect(gaps).toHaveLength(1);
    expect(gaps[0]).toMatchObject({ frameBefore: 70 });
  });
});
