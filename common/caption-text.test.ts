import { describe, expect, it } from 'vitest';
import { readCaptionText, toCaptionText } from './caption-text.ts';
import { CAPTION_LIMITS, type VideoCue } from './captions.ts';
import { toWebVtt } from './caption-files.ts';

const CUES: VideoCue[] = [
  { startMs: 500, endMs: 1500, text: 'Fish & <b>chips</b>\nfor two', source: 'script', confidence: null },
  { startMs: 1500, endMs: 2500, text: null, source: 'timing_only', confidence: null },
  { startMs: 3_600_000, endMs: 3_601_000, text: '42', source: 'speech_model', confidence: 0.4 },
];
const problems = (text: string) =>
  readCaptionText(text, []).errors.map(({ line, problem }) => `${line} ${problem}`);

describe('captions as one text', () => {
  it('come back unchanged, with the source of their words, from SubRip and from WebVTT', () => {
    expect(readCaptionText(toCaptionText(CUES), CUES)).toEqual({ cues: CUES, errors: [] });
    const vtt = toWebVtt(CUES.filter(({ text }) => text !== null));
    expect(readCaptionText(vtt, CUES)).toEqual({ cues: [CUES[0], CUES[2]], errors: [] });
    expect(readCaptionText('', CUES)).toEqual({ cues: [], errors: [] });
  });

  it('keep the source of words that only moved, and count changed ones as typed', () => {
    const moved = '1\n00:00:07,000 --> 00:00:08,000\n42\n\n2\n00:00:09,000 --> 00:00:10,000\n43';
    expect(readCaptionText(moved, CUES).cues).toEqual([
      { startMs: 7000, endMs: 8000, text: '42', source: 'speech_model', confidence: 0.4 },
      { startMs: 9000, endMs: 10_000, text: '43', source: 'manual', confidence: null },
    ]);
  });

  it.each([
    ['a cue without times', '1\nHello\n\n2\n00:01.000 --> 00:02.000\nthere', ['2 no_time']],
    ['words alone', 'Hello\nthere', ['1 no_time']],
    ['a minute of 75', '00:75:00,000 --> 01:20:00,000\nx', ['1 bad_time']],
    ['a cue that ends early', '\n00:02.000 --> 00:01.000\nx', ['2 ends_early']],
    ['cues that overlap', '00:01.000 --> 00:03.000\na\n\n00:02.000 --> 00:04.000\nb', ['4 overlaps']],
    ['no blank line between two', '00:01.000 --> 00:02.000\na\n2\n00:03.000 --> 00:04.000\nb', ['4 no_gap']],
    ['a position', '00:01.000 --> 00:02.000 line:0\na', ['1 settings']],
    ['notes and styles', 'WEBVTT\n\nNOTE mine\n\n00:01.000 --> 00:02.000\na', ['3 comment']],
    ['a word without end', `00:01.000 --> 00:02.000\n${'x'.repeat(501)}`, ['1 too_long']],
  ])('name the line of %s', (_name, text, expected) => {
    expect(problems(text)).toEqual(expected);
  });

  it('are refused when there are too many, at the first one over the limit', () => {
    const many = Array.from({ length: CAPTION_LIMITS.cues + 2 }, (_, i) => {
      return {
        startMs: i * 100,
        endMs: i * 100 + 100,
        text: 'x',
        source: 'manual',
        confidence: null,
      } as const;
    });
    expect(problems(toCaptionText(many))).toEqual([`${CAPTION_LIMITS.cues * 4 + 2} too_many`]);
  });
});
