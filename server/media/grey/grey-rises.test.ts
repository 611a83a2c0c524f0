import { describe, expect, it } from 'vitest';
import { BLOCK } from './grey-frame.ts';
import { createStepRises } from './grey-rises.ts';

/** Block sums of a step in which block `k` changes by `levels[k]` grey levels per pixel. */
const step = (levels: readonly number[]) => Int32Array.from(levels, (level) => level * BLOCK * BLOCK);

function risesOf(steps: readonly (Int32Array | null)[]) {
  const rises = createStepRises();
  for (const one of steps) rises.add(one);
  return rises.finish();
}

describe('createStepRises', () => {
  const even = step([4, 6, 8, 2, 3, 0]);

  it('measures twice the change in every lively block as the logarithm of two', () => {
    const twice = even.map((sum) => 2 * sum);
    const rise = risesOf([null, even, twice, even, even])[2];
    expect(rise?.overMean).toBeCloseTo(Math.log(2), 6);
    expect(rise?.overMax).toBeCloseTo(Math.log(2), 6);
  });

  it('does not rise when something appears in one block while the others move on', () => {
    const appeared = step([4, 6, 8, 2, 90, 0]);
    expect(risesOf([null, even, appeared, even])[2]?.overMean).toBeCloseTo(0, 6);
  });

  it('is undefined at both ends and when too few blocks are lively', () => {
    const quiet = step([9, 9, 9, 0.2, 0.1, 0]);
    expect(risesOf([null, even, even])).toEqual([null, null, null]);
    expect(risesOf([null, quiet, quiet, quiet])[2]).toBeNull();
  });
});
