import { expect, it } from 'vitest';
import { otherShares } from './vector-shares.ts';

it('doubled distances scale vectors alike, except for rounding of long ones', () => {
  expect(otherShares([-5, -3, -2, -1, 1, 2, 3, 4], 2)).toBe(0);
  expect(otherShares([-5, -3, -2, -1, 1, 2, 3, 4], 6)).toBe(0);
  // 4 of 10 is a share of 102 and not of 103 256ths.
  expect(otherShares([4, 10], 4)).toBe(1);
  // What is cut off has lost its share.
  expect(otherShares([40, 20], 4)).toBeGreaterThan(0);
});
