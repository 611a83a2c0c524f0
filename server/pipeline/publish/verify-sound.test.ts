import { describe, expect, it } from 'vitest';
import { commonLag } from './verify-sound.ts';

describe('commonLag', () => {
  it('finds how many packets were cut off at the start', () => {
    expect(commonLag(['a', 'b', 'c', 'd', 'e'], ['c', 'd', 'e'])).toBe(2);
  });

  it('is not misled by repeated packets', () => {
    const loop = ['a', 'b', 'c', 'a', 'b', 'c', 'a', 'b', 'c'];
    expect(commonLag(loop, loop)).toBe(0);
    expect(commonLag(['x', ...loop], loop)).toBe(1);
    const silence = Array.from({ length: 500 }, () => 's');
    expect(commonLag(silence, silence)).toBe(0);
  });

  it('is null when no packet is the same', () => {
    expect(commonLag(['a', 'b'], ['c'])).toBeNull();
  });
});
