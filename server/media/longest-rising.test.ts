import { describe, expect, it } from 'vitest';
import { longestRising } from './longest-rising.ts';

describe('longestRising', () => {
  it('leaves out the fewest values that contradict the others, and unknown ones', () => {
    expect(longestRising([0, 1, 7, 2, null, 3, 4])).toEqual([0, 1, 3, 5, 6]);
    expect(longestRising([])).toEqual([]);
  });

  it('takes equal values one behind the other only where asked to', () => {
    expect(longestRising([2, 2, 3])).toEqual([1, 2]);
    expect(longestRising([2, 2, 3], true)).toEqual([0, 1, 2]);
  });
});
