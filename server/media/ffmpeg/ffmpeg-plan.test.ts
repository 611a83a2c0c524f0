import { describe, expect, it } from 'vitest';
import { sumOf } from './ffmpeg-plan.ts';

function depthOf(expression: string): number {
  let depth = 0;
  let deepest = 0;
  for (const sign of expression) {
    if (sign === '(') depth += 1;
    if (sign === ')') depth -= 1;
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}

describe('sumOf', () => {
  it('writes few terms unchanged', () => {
    expect(sumOf([])).toBe('0');
    expect(sumOf(['a'])).toBe('a');
    expect(sumOf(['a', 'b', 'c'])).toBe('(a+(b+c))');
  });

  it('keeps every term, nested no deeper than ffmpeg accepts', () => {
    const terms = Array.from({ length: 3000 }, (_, index) => `t${index}`);
    const sum = sumOf(terms);
    expect(sum.replaceAll(/[()]/g, '').split('+')).toEqual(terms);
    expect(depthOf(sum)).toBeLessThanOrEqual(12);
  });
});
