import { describe, expect, it } from 'vitest';
import { texturedView } from '#server/test/textured-view.ts';
import { blockFlow } from './grey-flow.ts';
import { createGreyKernel } from './grey-kernel.ts';
import { NO_VOTES } from './grey-jump-votes.ts';
import { voteAtPlaces } from './grey-jump-places.ts';
import { measureJump } from './grey-jumps.ts';

const SIZE = { width: 160, height: 88 };
/** Pixels of a pan from picture to picture. */
const SPEED = 3;

/** The votes where a pan is three steps old, stands at these places, and then goes on for two. */
function votes(third: number, fourth = third, down = 0) {
  const places = [0, SPEED, 2 * SPEED, third, fourth, 2 * fourth - third];
  const kernel = createGreyKernel(SIZE, places.length);
  places.forEach((x, at) => {
    kernel.picture(at).set(texturedView(SIZE, x, at < 3 ? 0 : down));
  });
  return measureJump(kernel, [0, 1, 2, 3, 4, 5]);
}

describe('voteAtPlaces', () => {
  it('finds the windows of a step beyond the reach of a search', () => {
    const step = 5 * SPEED;
    const jump = votes(2 * SPEED + step, 3 * SPEED + step);
    expect(jump.votes.share).toBeLessThan(0.4);
    expect(jump.atPlaces.voters).toBeGreaterThanOrEqual(10);
    expect(jump.atPlaces.share).toBeGreaterThan(0.8);
    expect(jump.atPlaces.factor).toBeCloseTo(5, 0);
  });

  it('is not used when the search finds the windows', () => {
    const jump = votes(4 * SPEED, 5 * SPEED);
    expect(jump.votes.factor).toBeCloseTo(2, 1);
    expect(jump.atPlaces).toBe(NO_VOTES);
  });

  it('finds nothing when the step leads elsewhere', () => {
    const { voters, share } = votes(2 * SPEED - 7, 3 * SPEED - 7, 31).atPlaces;
    expect(voters).toBeGreaterThanOrEqual(10);
    expect(share).toBeLessThan(0.4);
  });

  it('ignores windows that may as well have moved on as before', () => {
    const kernel = createGreyKernel(SIZE, 4);
    [0, 1, 2, 3].forEach((at) => {
      kernel.picture(at).set(texturedView(SIZE, SPEED * at, 0));
    });
    const [before, after] = [blockFlow(kernel, 0, 1), blockFlow(kernel, 2, 3)];
    expect(voteAtPlaces(kernel, [1, 2], before, after).voters).toBe(0);
    expect(voteAtPlaces(kernel, [0, 3], before, after).share).toBeGreaterThan(0.8);
  });
});
