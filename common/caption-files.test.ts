import { describe, expect, it } from 'vitest';
import { toSrt, toTimestamp, toWebVtt } from './caption-files.ts';

describe('toWebVtt', () => {
  it('writes cues without words as [speech] and says why', () => {
    const file = toWebVtt([{ startMs: 61_005, endMs: 63_000, text: null }]);
    expect(file.startsWith('WEBVTT\n\nNOTE\n')).toBe(true);
    expect(file).toContain('1\n00:01:01.005 --> 00:01:03.000\n[speech]\n');
  });

  it('prevents words from ending or marking up a cue', () => {
    const file = toWebVtt([{ startMs: 0, endMs: 1000, text: 'a <b>&\n\n--> c' }]);
    expect(file).toContain('a &lt;b&gt;&amp;\n--&gt; c\n');
    expect(file).not.toContain('NOTE');
  });

  it('prints hours', () => {
    expect(toTimestamp(3_723_004)).toBe('01:02:03.004');
  });
});

describe('toSrt', () => {
  it('writes commas and numbers, and words unchanged', () => {
    const file = toSrt([
      { startMs: 0, endMs: 1500, text: 'Tea & <cake>\n\nfor two' },
      { startMs: 2000, endMs: 3000, text: null },
    ]);
    expect(file).toBe(
      '1\n00:00:00,000 --> 00:00:01,500\nTea & <cake>\nfor two\n\n2\n00:00:02,000 --> 00:00:03,000\n[speech]\n\n',
    );
  });
});
