import { describe, expect, it } from 'vitest';
import { CUE_LIMITS, makeTimedCues, toTimestamp, toWebVtt } from './add-captions.ts';

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

describe('toWebVtt', () => {
  it('writes cues without words as [speech] and says why', () => {
    const file = toWebVtt([
      { startMs: 61_005, endMs: 63_000, text: null, source: 'timing_only', confidence: null },
    ]);
    expect(file.startsWith('WEBVTT\n\nNOTE\n')).toBe(true);
    expect(file).toContain('1\n00:01:01.005 --> 00:01:03.000\n[speech]\n');
  });

  it('keeps words from ending or marking up a cue', () => {
    const file = toWebVtt([
      { startMs: 0, endMs: 1000, text: 'a <b>&\n\n--> c', source: 'engine', confidence: 0.9 },
    ]);
    expect(file).toContain('a &lt;b&gt;&amp;\n--&gt; c\n');
    expect(file).not.toContain('NOTE');
  });

  it('prints hours', () => {
    expect(toTimestamp(3_723_004)).toBe('01:02:03.004');
  });
});
