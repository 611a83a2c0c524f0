import { describe, expect, it } from 'vitest';
import { inRange } from './in-range.ts';

describe('inRange', () => {
  it.each([
    ['yuv420p', []],
    ['yuvj422p', []],
    ['yuv420p10le', ['limiter=max=1023']],
    ['yuv422p12le', ['limiter=max=4095']],
  ])('limits values to a format’s bits when it stores more (%s)', (format, filters) => {
    expect(inRange(format)).toEqual(filters);
  });
});
