import { describe, expect, it } from 'vitest';
import { createExpectedWork } from './expected-work.ts';

const SHARES = Array.from({ length: 21 }, (_, at) => at / 20);

describe('createExpectedWork', () => {
  it('expects less the longer a clip shows no sign, and next to nothing at its end', () => {
    const work = createExpectedWork(false);
    const expected = SHARES.map((share) => work.later(share));
    expect(expected).toEqual([...expected].sort((a, b) => b - a));
    expect(expected.at(-1)).toBeLessThan(0.2);
  });

  it('lets a bar without signs rise evenly, no farther than a tenth from the truth', () => {
    const work = createExpectedWork(false);
    work.see('calm_sound');
    const end = work.later(1);
    const off = SHARES.map((share) => Math.abs(share / (1 + work.later(share)) - share / (1 + end)));
    expect(Math.max(...off)).toBeLessThan(0.1);
  });

  it('expects the repair of what has shown, whatever the place', () => {
    const work = createExpectedWork(false);
    work.see('picture');
    work.see('calm_sound');
    expect(work.later(0)).toBe(work.later(0.9));
    expect(work.later(0.5)).toBeGreaterThan(2);
    const calm = work.later(0.5);
    work.see('wind');
    expect(work.later(0.5)).toBeGreaterThan(calm + 2);
  });

  it('keeps to coding everything anew when that is certain', () => {
    const work = createExpectedWork(true);
    work.see('calm_sound');
    expect(work.later(1)).toBe(work.later(0));
  });
});
