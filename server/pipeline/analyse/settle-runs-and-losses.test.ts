import { describe, expect, it } from 'vitest';
import { besideDamage } from './settle-runs-and-losses.ts';

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
  it('removes nothing right beside damaged data unless the lengths support it', () => {
    expect(besideDamage(run, 1.1, true).history).toBe('held');
    expect(besideDamage(run, -2, true).history).toBe('held');
  });

  it('leaves a run as judged elsewhere, when the picture is longer, and without sound', () => {
    expect(besideDamage(run, 1.1, false)).toEqual(run);
    expect(besideDamage(run, 4.2, true)).toEqual(run);
    expect(besideDamage(run, null, true)).toEqual(run);
  });
});
