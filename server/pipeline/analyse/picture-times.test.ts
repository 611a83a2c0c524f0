import { describe, expect, it } from 'vitest';
import { steadyEnd } from './picture-times.ts';

const steady = (count: number, interval: number) => Array.from({ length: count }, (_, i) => i * interval);

describe('steadyEnd', () => {
  it('is one interval behind the last picture', () => {
    expect(steadyEnd(steady(50, 40))).toBe(2000);
    expect(steadyEnd([80])).toBe(80);
    expect(steadyEnd([])).toBe(null);
  });

  it('leaves out pictures at the very end that stand behind a hole', () => {
    expect(steadyEnd([...steady(50, 40), 2120])).toBe(2000);
    expect(steadyEnd([...steady(50, 40), 2080, 2200])).toBe(2000);
  });

  it('counts holes elsewhere, and all pictures where the rate varies', () => {
    expect(steadyEnd([...steady(25, 40), ...steady(25, 40).map((time) => time + 1200)])).toBe(2200);
    const varying = [0, 30, 90, 120, 200, 230, 330, 350, 500];
    expect(steadyEnd(varying)).toBe(562.5);
  });
});
