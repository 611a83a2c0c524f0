import { describe, expect, it } from 'vitest';
import { CUE_LIMITS, makeTimedCues } from './add-captions.ts';

describe('makeTimedCues', () => {
  it('gives every cue a readable length and invents no words', () => {
    const cues = makeTimedCues(
      [
        { startMs: 300, endMs: 700 },
        { startMs: 3000, endMs: 23_500 },
        { startMs: 24_400, endMs: 24_700 },
      ],
      25_000,
    );
    for (const cue of cues) {
      expect(cue.text).toBeNull();
      expect(cue.source).toBe('timing_only');
      expect(cue.endMs - cue.startMs).toBeGreaterThanOrEqual(CUE_LIMITS.leastMs);
      expect(cue.endMs - cue.startMs).toBeLessThanOrEqual(CUE_LIMITS.mostMs);
      expect(cue.endMs).toBeLessThanOrEqual(25_000);
    }
    cues.slice(1).forEach((cue, i) => expect(cue.startMs).toBeGreaterThanOrEqual(cues[i]?.endMs ?? 0));
    expect(cues).toHaveLength(5);
  });

  it('makes no cue without speech', () => {
    expect(makeTimedCues([], 10_000)).toEqual([]);
  });
});
