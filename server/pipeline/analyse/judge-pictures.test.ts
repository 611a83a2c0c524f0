import { describe, expect, it } from 'vitest';
import { besideDamage } from './judge-pictures.ts';

/** Four repeats. */
const run = {
  first: 16,
  last: 19,
  history: 'inserted',
  startsAtCut: false,
  endsAtCut: false,
  confidence: 0.7,
  quietness: 0.2,
} as const;

describe('besideDamage', () => {
  it('takes nothing out right beside damaged data that the lengths do not speak for', () => {
    expect(besideDamage(run, 1.1, true).history).toBe('held');
    expect(besideDamage(run, -2, true).history).toBe('held');
  });

  it('leaves a run as it is judged elsewhere, where the picture is longer, and without sound', () => {
    expect(besideDamage(run, 1.1, false)).toEqual(run);
    expect(besideDamage(run, 4.2, true)).toEqual(run);
    expect(besideDamage(run, null, true)).toEqual(run);
  });
});
