import { describe, expect, it } from 'vitest';
import { measureLevels } from './grey-frame.ts';
import { measureLook } from './grey-look.ts';
import { seededRandom } from '#server/test/seeded-random.ts';

const size = { width: 160, height: 88 };

/** A picture from a grey level for each place. */
function picture(level: (x: number, y: number) => number): Uint8Array {
  return Uint8Array.from({ length: size.width * size.height }, (_, i) =>
    Math.round(level(i % size.width, Math.floor(i / size.width))),
  );
}

/** Bars 24 pixels wide whose edges rise over so many pixels. */
const bars = (rise: number) => (x: number) => {
  const along = x % 48;
  const up = Math.min(1, Math.max(0, (along - 12) / rise));
  const down = Math.min(1, Math.max(0, (along - 36) / rise));
  return 40 + 160 * (up - down);
};

describe('measureLook', () => {
  it('distinguishes steps from slopes, however bright and in any direction', () => {
    expect(measureLook(picture(bars(1e-6)), size).softness).toBeCloseTo(0.5, 2);
    expect(
      measureLook(
        picture((_, y) => bars(1e-6)(y)),
        size,
      ).softness,
    ).toBeCloseTo(0.5, 2);
    const slope = measureLook(picture(bars(8)), size).softness ?? 0;
    expect(slope).toBeGreaterThan(0.8);
    const dim =
      measureLook(
        picture((x) => bars(8)(x) / 4),
        size,
      ).softness ?? 0;
    expect(Math.abs(dim - slope)).toBeLessThan(0.06);
  });

  it('calls a picture sharp whose edges are sharp in one direction, as in a pan', () => {
    expect(
      measureLook(
        picture((x, y) => (bars(10)(x) + bars(1e-6)(y)) / 2),
        size,
      ).softness,
    ).toBeLessThan(0.55);
  });

  it('counts texture as sharp, and says nothing when nothing is drawn', () => {
    const random = seededRandom(7);
    const look = measureLook(
      picture(() => 60 + 120 * random()),
      size,
    );
    expect(look.softness).toBeLessThan(0.3);
    expect(look.flatShare).toBe(0);
    expect(
      measureLook(
        picture(() => 90),
        size,
      ),
    ).toEqual({ softness: null, flatShare: 1 });
  });

  it('counts the blocks of one grey', () => {
    const random = seededRandom(8);
    const look = measureLook(
      picture((x) => (x < 40 ? 200 * random() : 30)),
      size,
    );
    expect(look.flatShare).toBeCloseTo(0.75, 5);
  });
});

describe('measureLevels', () => {
  it('gives the mean of the brightest tenth, also when a level is only partly in it', () => {
    const counts = new Uint32Array(256);
    counts[10] = 80;
    counts[100] = 15;
    counts[200] = 5;
    expect(measureLevels(counts, 100)).toEqual({ mean: 33, p10: 10, p90: 100, brightest: 150 });
  });
});
