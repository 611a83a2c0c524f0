import { describe, expect, it } from 'vitest';
import { seededRandom } from '#server/test/seeded-random.ts';
import { texturedView } from '#server/test/textured-view.ts';
import type { Flow } from './grey-flow.ts';
import { voteOnJump } from './grey-jump-votes.ts';
import { measureJump } from './grey-jumps.ts';
import { createGreyKernel } from './grey-kernel.ts';

const WINDOWS = 50;

/** A flow of which each window goes where `at` says. */
function flow(at: (window: number) => readonly [number, number]): Flow {
  const vectors = Array.from({ length: WINDOWS }, (_, window) => at(window));
  return {
    x: Float64Array.from(vectors.map(([x]) => x)),
    y: Float64Array.from(vectors.map(([, y]) => y)),
    valid: new Uint8Array(WINDOWS).fill(1),
  };
}

const pan = flow(() => [0.8, 0.3]);
const random = seededRandom(7);
const anywhere = Array.from({ length: WINDOWS }, () => [20 * random() - 10, 20 * random() - 10] as const);

describe('voteOnJump', () => {
  it('finds the factor by which all windows go farther', () => {
    const votes = voteOnJump(
      pan,
      flow(() => [2.4, 0.9]),
      pan,
    );
    expect(votes).toMatchObject({ voters: WINDOWS, share: 1 });
    expect(votes.factor).toBeCloseTo(3, 3);
  });

  it('is not misled by windows that were lost on the way', () => {
    const half = flow((window) => (window % 2 === 0 ? [3.2, 1.2] : (anywhere[window] ?? [0, 0])));
    const votes = voteOnJump(pan, half, pan);
    expect(votes.share).toBeGreaterThanOrEqual(0.5);
    expect(votes.factor).toBeCloseTo(4, 1);
  });

  it('finds no common factor when each window appears somewhere else', () => {
    const votes = voteOnJump(
      pan,
      flow((window) => anywhere[window] ?? [0, 0]),
      pan,
    );
    expect(votes.share).toBeLessThan(0.2);
  });

  it('ignores windows that are still or move differently after the step than before it', () => {
    const step = flow(() => [2.4, 0.9]);
    expect(
      voteOnJump(
        pan,
        step,
        flow(() => [-0.8, -0.3]),
      ).voters,
    ).toBe(0);
    const still = flow(() => [0.02, 0]);
    expect(voteOnJump(still, step, still)).toEqual({ voters: 0, share: 0, factor: 1 });
  });

  it('counts a window that cannot be followed across the step as undecided', () => {
    const step = flow(() => [2.4, 0.9]);
    step.valid.fill(0, 0, 30);
    expect(voteOnJump(pan, step, pan)).toMatchObject({ voters: WINDOWS, share: 0.4 });
  });

  it('distinguishes a lost pair in a pan from a cut to another place, in pictures', () => {
    const size = { width: 160, height: 88 };
    const votesOver = (gapX: number, gapY: number) => {
      const kernel = createGreyKernel(size, 6);
      const places = [0, 1, 2, 3, 4, 5];
      places.forEach((i) =>
        kernel.picture(i).set(i < 3 ? texturedView(size, i, 0) : texturedView(size, i - 1 + gapX, gapY)),
      );
      return measureJump(kernel, places).votes;
    };
    const lost = votesOver(3, 0);
    expect(lost.share).toBeGreaterThan(0.85);
    expect(lost.factor).toBeCloseTo(3, 0);
    expect(votesOver(-3, 5).share).toBeLessThan(0.2);
  });
});
