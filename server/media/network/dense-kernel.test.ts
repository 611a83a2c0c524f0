import { describe, expect, it } from 'vitest';
import { seededRandom } from '#server/test/seeded-random.ts';
import { createDenseMemory, type DenseWeights } from './dense-kernel.ts';

describe('createDenseMemory', () => {
  it.each([
    [1, 3, 1, true],
    [2, 80, 64, true],
    [7, 5, 33, true],
    [7, 5, 33, false],
    [128, 80, 16, false],
  ])(
    'gives the values of plain loops for %i rows of %i inputs and %i neurons, rectified: %s',
    (rows, inputs, neurons, rectified) => {
      const random = seededRandom(rows);
      const weights = { inputs, rows: someNumbers(neurons * (inputs + 1), random), rectified };
      const memory = createDenseMemory(100_000);
      const from = memory.take((rows + 1) * inputs);
      const layer = memory.layer(weights);
      const to = memory.take((rows + 1) * layer.width);
      for (const gain of [1, 30]) {
        from.set(someNumbers(rows * inputs, random).map((value) => gain * value));
        layer.run({ from, rowNumbers: inputs, rows, to });
        for (let row = 0; row < rows; row++) {
          const expected = plain(from.subarray(row * inputs, (row + 1) * inputs), weights);
          expected.forEach((value, n) => {
            expect(Math.abs((to[row * layer.width + n] ?? Number.NaN) - value)).toBeLessThan(1e-4 * gain);
          });
        }
        expect(to.some((value) => value > 0)).toBe(true);
        expect(to.some((value) => value < 0)).toBe(!rectified);
      }
    },
  );

  it('reads rows that overlap, as a convolution does', () => {
    const random = seededRandom(5);
    const weights = { inputs: 12, rows: someNumbers(3 * 13, random), rectified: false };
    const memory = createDenseMemory(10_000);
    const from = memory.take(4 * 9 + 12);
    from.set(someNumbers(from.length, random));
    const layer = memory.layer(weights);
    const to = memory.take(10 * layer.width);
    layer.run({ from, rowNumbers: 4, rows: 10, to });
    for (let row = 0; row < 10; row++) {
      plain(from.subarray(row * 4, row * 4 + 12), weights).forEach((value, n) =>
        expect(to[row * layer.width + n]).toBeCloseTo(value, 4),
      );
    }
  });

  it('works on parts of its arrays, and copies rows between them', () => {
    const random = seededRandom(6);
    const memory = createDenseMemory(10_000);
    const weights = { inputs: 8, rows: someNumbers(16 * 9, random), rectified: false };
    const layer = memory.layer(weights);
    const from = memory.take(100);
    from.set(someNumbers(100, random));
    const to = memory.take(100);
    layer.run({ from, fromAt: 5, rowNumbers: 8, rows: 2, to, toAt: 7 });
    plain(from.subarray(13, 21), weights).forEach((value, n) => expect(to[7 + 16 + n]).toBeCloseTo(value, 5));
    expect(to[6]).toBe(0);
    const copied = memory.take(100);
    const rows = { fromAt: 2, fromRowNumbers: 10, toAt: 3, toRowNumbers: 20, numbers: 8, rows: 3 };
    memory.copyRows({ ...rows, from, to: copied });
    const expected = new Float32Array(100);
    for (let row = 0; row < 3; row++) {
      expected.set(from.subarray(2 + 10 * row, 10 + 10 * row), 3 + 20 * row);
    }
    expect([...copied]).toEqual([...expected]);
  });

  it('rejects more numbers than it was made for', () => {
    expect(() => createDenseMemory(100).take(1_000_000)).toThrow(RangeError);
  });
});

function someNumbers(count: number, random: () => number): Float32Array {
  return Float32Array.from({ length: count }, () => random() - 0.5);
}

function plain(inputs: Float32Array, { rows, rectified }: DenseWeights): number[] {
  const width = inputs.length + 1;
  return Array.from({ length: rows.length / width }, (_, n) => {
    const sum = inputs.reduce((total, value, i) => total + value * (rows[n * width + i] ?? 0), 0);
    const value = sum + (rows[n * width + width - 1] ?? 0);
    return rectified ? Math.max(0, value) : value;
  });
}
