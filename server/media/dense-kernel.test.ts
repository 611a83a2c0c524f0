import { describe, expect, it } from 'vitest';
import { seededRandom } from '#server/test/seeded-random.ts';
import { createDenseKernel } from './dense-kernel.ts';

describe('createDenseKernel', () => {
  it.each([
    [1, 3, [1]],
    [2, 80, [64, 32]],
    [7, 5, [17, 33, 16]],
    [128, 80, [64, 32]],
  ])('gives the values of plain loops for %i rows of %i inputs, layers %j', (rows, inputs, widths) => {
    const random = seededRandom(rows);
    const layers = widths.map((neurons, l) => {
      const from = widths[l - 1] ?? inputs;
      return Float32Array.from({ length: neurons * (from + 1) }, () => random() - 0.5);
    });
    const kernel = createDenseKernel(rows, inputs, layers);
    for (const gain of [1, 30]) {
      const values = Float32Array.from({ length: rows * inputs }, () => gain * (random() - 0.5));
      kernel.inputs.set(values);
      kernel.run();
      for (let row = 0; row < rows; row++) {
        const expected = plain([...values.subarray(row * inputs, (row + 1) * inputs)], layers);
        expected.forEach((value, n) => {
          const got = kernel.outputs[row * kernel.outputWidth + n] ?? Number.NaN;
          expect(Math.abs(got - value)).toBeLessThan(1e-4 * gain);
        });
        expect(expected.some((value) => value > 0)).toBe(true);
      }
    }
  });
});

function plain(inputs: number[], layers: readonly Float32Array[]): number[] {
  return layers.reduce((values, layer) => {
    const width = values.length + 1;
    return Array.from({ length: layer.length / width }, (_, n) => {
      const sum = values.reduce((total, value, i) => total + value * (layer[n * width + i] ?? 0), 0);
      return Math.max(0, sum + (layer[n * width + width - 1] ?? 0));
    });
  }, inputs);
}
