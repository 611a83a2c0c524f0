import { describe, expect, it } from 'vitest';
import { isNear } from './near-figure.ts';

describe('isNear', () => {
  it('treats a figure that another version of ffmpeg rounds differently as the same', () => {
    expect(isNear(0.005, { before: 0.0048, threshold: 0.12 })).toBe(true);
    expect(isNear(51, { before: 50.5, threshold: 60 })).toBe(true);
    expect(isNear(0, { before: 0, threshold: null })).toBe(true);
  });

  it('refutes figures that are farther off, and every different count', () => {
    expect(isNear(0.0068, { before: 0.0048, threshold: 0.12 })).toBe(false);
    expect(isNear(0.3, { before: 0.29, threshold: 0.12 })).toBe(false);
    expect(isNear(22, { before: 21, threshold: 0 })).toBe(false);
    expect(isNear(0.001, { before: 0, threshold: null })).toBe(false);
  });
});
