import { describe, expect, it } from 'vitest';
import { texturedView } from '#server/test/textured-view.ts';
import { blockFlow } from './grey-flow.ts';
import { measureJump } from './grey-jumps.ts';
import { createGreyKernel } from './grey-kernel.ts';
import { median } from '../statistics.ts';

const SIZE = { width: 160, height: 88 };

const view = (x: number, y: number) => texturedView(SIZE, x, y);

/** The pictures in a kernel, in places 0 and up. */
function kept(...pictures: Uint8Array[]) {
  const kernel = createGreyKernel(SIZE, pictures.length);
  pictures.forEach((picture, place) => kernel.picture(place).set(picture));
  return kernel;
}

function medianVector(dx: number, dy: number): [number, number] {
  const flow = blockFlow(kept(view(0, 0), view(-dx, -dy)), 0, 1);
  const at = [...flow.valid.keys()].filter((k) => flow.valid[k] === 1);
  expect(at.length).toBeGreaterThan(20);
  const middle = (values: Float64Array) => median(at.map((k) => values[k] ?? 0));
  return [middle(flow.x), middle(flow.y)];
}

describe('blockFlow', () => {
  it.each([
    [0.3, -0.2],
    [2, 1],
    [-4.6, 2.4],
    [7.25, 0],
  ])('measures a displacement of (%f, %f) within a fifth of a pixel', (dx, dy) => {
    const [x, y] = medianVector(dx, dy);
    expect(Math.abs(x - dx)).toBeLessThan(0.2);
    expect(Math.abs(y - dy)).toBeLessThan(0.2);
  });
});

describe('measureJump', () => {
  it('measures the step of a missing picture as twice as long and of the same motion', () => {
    const places = [0, 1.2, 2.4, 4.8, 6, 7.2];
    const jump = measureJump(kept(...places.map((x) => view(x, 0))), [0, 1, 2, 3, 4, 5]);
    expect(jump.slope).toBeCloseTo(2, 1);
    expect(jump.agreement).toBeGreaterThan(0.95);
    expect(jump.steadiness).toBeGreaterThan(0.95);
    expect(jump.excess).toBeGreaterThan(1.8);
  });

  it('finds no jump in even motion', () => {
    const places = [0, 1, 2, 3, 4, 5];
    const jump = measureJump(kept(...places.map((x) => view(x, x / 2))), places);
    expect(jump.slope).toBeCloseTo(1, 1);
  });
});
