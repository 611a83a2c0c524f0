import { describe, expect, it } from 'vitest';
import { leastEdited } from './detect-hidden-drops-lengths.ts';

describe('leastEdited', () => {
  it('is a fifth of a second, within what can be counted, and at most a third of a second at a low rate', () => {
    expect([60, 50, 30, 24].map(leastEdited)).toEqual([8, 8, 6, 6]);
    expect(leastEdited(10)).toBeCloseTo(3.5);
    expect(leastEdited(5)).toBe(3);
  });
});
