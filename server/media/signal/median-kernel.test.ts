import { describe, expect, it } from 'vitest';
import { seededRandom } from '#server/test/seeded-random.ts';
import { createMedianKernel, createSparseMedianKernel } from './median-kernel.ts';

/** The value that stands in the middle, the upper of two, of everything around a place. */
function sortedMedian(rows: readonly Float64Array[], place: number, reach: number): number {
  const around = rows.flatMap((row) => [...row.subarray(Math.max(0, place - reach), place + reach + 1)]);
  return around.sort((a, b) => a - b)[around.length >> 1] ?? Number.NaN;
}

describe('createMedianKernel', () => {
  it.each([
    { rows: 1, length: 16, reach: 0 },
    { rows: 1, length: 137, reach: 8 },
    { rows: 1, length: 7, reach: 3 },
    { rows: 3, length: 3, reach: 1 },
    { rows: 3, length: 256, reach: 4 },
    { rows: 3, length: 91, reach: 7 },
    { rows: 5, length: 20, reach: 2 },
  ])('equals sorting, $rows rows of $length and $reach to each side', (shape) => {
    const kernel = createMedianKernel(shape);
    const random = seededRandom(shape.length);
    for (let round = 0; round < 20; round += 1) {
      // Many orders of magnitude, and many equal values among them.
      const rows = Array.from({ length: shape.rows }, (_, row) =>
        kernel.row(row).map(() => (random() < 0.3 ? 0 : Math.exp(40 * random() - 30))),
      );
      rows.forEach((row, place) => kernel.row(place).set(row));
      kernel.run();
      expect([...kernel.medians]).toEqual(
        Array.from(kernel.medians, (_, place) => sortedMedian(rows, place, shape.reach)),
      );
    }
  });

  it.each([
    { rows: 1, length: 16, reach: 0 },
    { rows: 3, length: 3, reach: 1 },
    { rows: 3, length: 91, reach: 7 },
    { rows: 3, length: 342, reach: 7 },
    { rows: 5, length: 20, reach: 2 },
  ])('gives the same at every second place, $rows rows of $length and $reach to each side', (shape) => {
    const [all, sparse] = [createMedianKernel(shape), createSparseMedianKernel(shape)];
    const random = seededRandom(shape.length);
    for (let row = 0; row < shape.rows; row += 1) {
      const values = sparse.row(row).map(() => Math.exp(40 * random() - 30));
      sparse.row(row).set(values);
      all.row(row).set(values);
    }
    all.run();
    sparse.run();
    expect([...sparse.medians]).toEqual(Array.from(all.medians).filter((_, place) => place % 2 === 0));
  });

  it.each([
    { rows: 2, length: 8, reach: 1 },
    { rows: 3, length: 8, reach: 4 },
  ])('rejects $rows rows of $length with $reach to each side, whose ends could not be balanced', (shape) => {
    expect(() => createMedianKernel(shape)).toThrow(RangeError);
  });
});
