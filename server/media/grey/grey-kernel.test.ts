import { describe, expect, it } from 'vitest';
import { seededRandom } from '#server/test/seeded-random.ts';
import { BLOCK, type GreySize } from './grey-frame.ts';
import { createGreyKernel } from './grey-kernel.ts';

const WINDOW = 16;
const REACH = 10;

/** Pictures of one size in a kernel, beside their plain bytes. */
function kept(size: GreySize, pictures: readonly Uint8Array[]) {
  const kernel = createGreyKernel(size, pictures.length);
  pictures.forEach((picture, place) => kernel.picture(place).set(picture));
  return kernel;
}

const SIZES: GreySize[] = [
  { width: 160, height: 88 },
  { width: 88, height: 160 },
  { width: 24, height: 16 },
  { width: 16, height: 24 },
  { width: 752, height: 16 },
];

/** Noise, black against white, and nearly flat: what sums may overflow or vanish on. */
const FILLS = [
  (random: () => number) => Math.floor(random() * 256),
  (random: () => number) => (random() < 0.5 ? 0 : 255),
  (random: () => number) => 128 + Math.floor(random() * 3),
  () => 255,
];

const cases = SIZES.flatMap((size) => FILLS.map((fill, at) => ({ ...size, at, fill })));

function twoPictures({ width, height, fill }: (typeof cases)[number]) {
  const random = seededRandom(11);
  const picture = () => Uint8Array.from({ length: width * height }, () => fill(random));
  const [before, after] = [picture(), picture()];
  const level = (place: Uint8Array, x: number, y: number) => place[y * width + x] ?? 0;
  return {
    before,
    after,
    level,
    kernel: kept({ width, height }, [before, after, new Uint8Array(before.length)]),
  };
}

describe('createGreyKernel', () => {
  it.each(cases)('sums like plain loops: $width x $height, filling $at', (one) => {
    const { width, height } = one;
    const { before, after, level, kernel } = twoPictures(one);
    for (const rowStep of [1, 2] as const) {
      const sums = Array.from({ length: (width * height) / BLOCK ** 2 }, () => 0);
      for (let y = 0; y < height; y += rowStep) {
        for (let x = 0; x < width; x += 1) {
          const at = Math.floor(y / BLOCK) * (width / BLOCK) + Math.floor(x / BLOCK);
          sums[at] = (sums[at] ?? 0) + Math.abs(level(before, x, y) - level(after, x, y));
        }
      }
      expect([...kernel.blockDifferences(0, 1, rowStep)]).toEqual(sums);
    }
    let gradient = 0;
    const columns = Array.from({ length: width }, () => 0);
    const rows = Array.from({ length: height }, () => 0);
    const counts = Array.from({ length: 256 }, () => 0);
    for (let y = 0; y < height; y += 1) {
      for (let x = 0; x < width; x += 1) {
        const here = level(after, x, y);
        columns[x] = (columns[x] ?? 0) + here;
        rows[y] = (rows[y] ?? 0) + here;
        counts[here] = (counts[here] ?? 0) + 1;
        if (x + 1 === width || y + 1 === height) continue;
        gradient += (level(after, x + 1, y) - here) ** 2 + (level(after, x, y + 1) - here) ** 2;
      }
    }
    expect(kernel.gradient(1)).toBe(gradient);
    expect([...kernel.project(1).columns]).toEqual(columns);
    expect([...kernel.project(1).rows]).toEqual(rows);
    expect([...kernel.histogram(1)]).toEqual(counts);
    expect([...kernel.picture(1)]).toEqual([...after]);
  });

  it.each(cases)('measures windows like plain loops: $width x $height, filling $at', (one) => {
    const { width, height } = one;
    const { before, after, level, kernel } = twoPictures(one);
    for (let top = 0; top + WINDOW <= height; top += WINDOW) {
      for (let left = 0; left + WINDOW <= width; left += WINDOW) {
        let [xx, xy, yy, change] = [0, 0, 0, 0];
        for (let y = top; y < top + WINDOW; y += 1) {
          for (let x = left; x < left + WINDOW; x += 1) {
            change += Math.abs(level(before, x, y) - level(after, x, y));
            if (x === 0 || y === 0 || x === width - 1 || y === height - 1) continue;
            const gx = level(before, x + 1, y) - level(before, x - 1, y);
            const gy = level(before, x, y + 1) - level(before, x, y - 1);
            [xx, xy, yy] = [xx + gx * gx, xy + gx * gy, yy + gy * gy];
          }
        }
        expect([...kernel.texture(0, left, top)]).toEqual([xx, xy, yy]);
        expect(kernel.windowChange(0, 1, left, top)).toBe(change);
      }
    }
  });

  it.each(cases)('finds the same place as plain loops: $width x $height, filling $at', (one) => {
    const { width, height } = one;
    const { before, after, level, kernel } = twoPictures(one);
    const errorAt = (left: number, top: number, dx: number, dy: number) => {
      const inside =
        left + dx >= 0 && top + dy >= 0 && left + dx + WINDOW <= width && top + dy + WINDOW <= height;
      let sum = inside ? 0 : Number.POSITIVE_INFINITY;
      for (let y = top; inside && y < top + WINDOW; y += 2) {
        for (let x = left; x < left + WINDOW; x += 2) {
          sum += Math.abs(level(before, x, y) - level(after, x + dx, y + dy));
        }
      }
      return sum;
    };
    const random = seededRandom(3);
    for (let top = 0; top + WINDOW <= height; top += 3 * WINDOW) {
      for (let left = 0; left + WINDOW <= width; left += 3 * WINDOW) {
        const guess = [Math.floor(random() * 25) - 12, Math.floor(random() * 25) - 12] as const;
        const places: (readonly [number, number])[] = [[0, 0], guess];
        for (let dy = -REACH; dy <= REACH; dy += 1) {
          for (let dx = -REACH; dx <= REACH; dx += 1) places.push([dx, dy]);
        }
        let best: readonly [number, number] = [0, 0];
        for (const place of places) {
          if (errorAt(left, top, ...place) < errorAt(left, top, ...best)) best = place;
        }
        expect(kernel.search(0, 1, left, top, ...guess)).toEqual(best);
      }
    }
  });

  it.each(cases)('finds the first of the best places far away: $width x $height, filling $at', (one) => {
    const { width, height } = one;
    const { before, after, level, kernel } = twoPictures(one);
    for (let top = 0; top + WINDOW <= height; top += 3 * WINDOW) {
      for (let left = 0; left + WINDOW <= width; left += 3 * WINDOW) {
        let best = { error: Infinity, place: [0, 0] };
        for (
          let dy = Math.max(-2 * REACH, 0 - top);
          dy <= Math.min(2 * REACH, height - WINDOW - top);
          dy += 1
        ) {
          for (
            let dx = Math.max(-2 * REACH, 0 - left);
            dx <= Math.min(2 * REACH, width - WINDOW - left);
            dx += 1
          ) {
            let error = 0;
            for (let y = top; y < top + WINDOW; y += 1) {
              for (let x = left; x < left + WINDOW; x += 1)
                error += Math.abs(level(before, x, y) - level(after, x + dx, y + dy));
            }
            if (error < best.error) best = { error, place: [dx, dy] };
          }
        }
        expect(kernel.searchFar(0, 1, left, top)).toEqual(best.place);
      }
    }
  });

  it.each(cases)('compares moved windows like plain loops: $width x $height, filling $at', (one) => {
    const { width, height } = one;
    const { before, after, level, kernel } = twoPictures(one);
    const random = seededRandom(4);
    for (let round = 0; round < 20; round += 1) {
      const corner = () => [
        Math.floor(random() * (width - WINDOW + 1)),
        Math.floor(random() * (height - WINDOW + 1)),
      ];
      const [[left = 0, top = 0], [x = 0, y = 0]] = [corner(), corner()];
      let sum = 0;
      for (let row = 0; row < WINDOW; row += 2) {
        for (let column = 0; column < WINDOW; column += 2)
          sum += Math.abs(level(before, left + column, top + row) - level(after, x + column, y + row));
      }
      expect(kernel.movedChange(0, 1, left, top, x, y)).toBe(sum);
    }
  });

  it('finds a window that has moved', () => {
    const size = { width: 64, height: 48 };
    const random = seededRandom(5);
    const before = Uint8Array.from({ length: 64 * 48 }, () => Math.floor(random() * 256));
    const after = before.map((_, at) => before[at - 3 * 64 + 7] ?? 0);
    expect(kept(size, [before, after]).search(0, 1, 16, 16, 0, 0)).toEqual([-7, 3]);
  });

  it('rejects a place outside its memory', () => {
    const kernel = createGreyKernel({ width: 16, height: 16 }, 1);
    expect(() => kernel.picture(1)).toThrow(RangeError);
    expect(() => kernel.gradient(1)).toThrow(RangeError);
  });
});
