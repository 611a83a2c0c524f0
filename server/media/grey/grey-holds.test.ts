import { describe, expect, it } from 'vitest';
import { texturedView } from '#server/test/textured-view.ts';
import { createGreySeries } from './grey-series.ts';
import { joinSeries } from './grey-series-join.ts';

const SIZE = { width: 160, height: 88 };

/** The measured series of pictures that see a texture from these places. */
function seriesOf(places: readonly number[]) {
  const series = createGreySeries(SIZE);
  for (const x of places) series.add(texturedView(SIZE, x, 0));
  return series.finish();
}

const steady = Array.from({ length: 30 }, (_, i) => i * 0.8);
/** Picture 12 shown four times more, in place of those behind it or before them. */
const held = steady.map((x, i) => (i > 12 && i <= 16 ? (steady[12] ?? 0) : x));
const inserted = [
  ...steady.slice(0, 13),
  ...Array.from({ length: 4 }, () => steady[12] ?? 0),
  ...steady.slice(13),
];

describe('createHoldFollower', () => {
  it('measures a step as long as the run across lost pictures', () => {
    const hold = seriesOf(held).holds.get(17);
    expect(hold?.repeats).toBe(4);
    expect(hold?.slope).toBeCloseTo(5, 0);
    expect(hold?.agreement).toBeGreaterThan(0.9);
  });

  it('measures an ordinary step after inserted copies', () => {
    const hold = seriesOf(inserted).holds.get(17);
    expect(hold?.repeats).toBe(4);
    expect(hold?.slope).toBeCloseTo(1, 1);
  });

  it('keeps the measure when two parts of a series are joined', () => {
    const whole = seriesOf(held);
    const joined = joinSeries(seriesOf(held.slice(0, 8)), 8, whole, 8);
    expect(joined.holds.get(17)).toEqual(whole.holds.get(17));
  });

  it('compares only some runs of a clip that repeats pictures throughout', () => {
    const often = Array.from(
      { length: 180 },
      (_, i) => 0.9 * (4 * Math.floor(i / 6) + Math.max(0, (i % 6) - 2)),
    );
    expect(seriesOf(often).holds.size).toBe(24);
    expect(seriesOf(steady).holds.size).toBe(0);
  });
});
