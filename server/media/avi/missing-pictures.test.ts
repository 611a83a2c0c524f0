import { describe, expect, it } from 'vitest';
import { missingInAvi } from './missing-pictures.ts';

describe('missingInAvi', () => {
  it('counts what is listed after the last picture', () => {
    expect(missingInAvi(180, 179, 180)).toBe(0);
    expect(missingInAvi(180, 83, 84)).toBe(96);
    expect(missingInAvi(5, 0, 1)).toBe(4);
  });

  it('treats entries without a picture as a longer display of the previous one', () => {
    expect(missingInAvi(181, 180, 180)).toBe(0);
    expect(missingInAvi(240, 238, 120)).toBe(0);
    expect(missingInAvi(240, 148, 75)).toBe(45);
  });
});
