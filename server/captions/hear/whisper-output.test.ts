import { describe, expect, it } from 'vitest';
import { dropPhraseLoops, readWhisperOutput } from './whisper-output.ts';

interface Segment {
  readonly text: string;
  readonly from?: number;
  readonly to?: number;
  readonly p?: readonly number[];
}

/** The form of `output_json` of whisper.cpp's command-line program, including parts that are not read. */
function output(segments: readonly Segment[]): string {
  const transcription = segments.map(({ text, from = 0, to = 2000, p = [0.9] }) => ({
    timestamps: { from: '00:00:00,000', to: '00:00:02,000' },
    offsets: { from, to },
    text,
    tokens: [
      { text: '[_BEG_]', timestamps: {}, offsets: { from: 0, to: 0 }, id: 50_364, p: 0.01, t_dtw: -1 },
      ...p.map((one) => ({ text: ' word', offsets: { from: 0, to: 100 }, id: 5, p: one, t_dtw: -1 })),
      { text: '[_TT_100]', id: 50_464, p: 0.02, t_dtw: -1 },
    ],
  }));
  const model = { type: 'base', multilingual: true, vocab: 51_865 };
  return JSON.stringify(
    { systeminfo: 'AVX = 1', model, result: { language: 'en' }, transcription },
    null,
    '\t',
  );
}

describe('the output of the speech engine', () => {
  it('gives words with their times and the engine’s confidence, without the engine’s own marks', () => {
    const heard = readWhisperOutput(output([{ text: ' Ask not what', from: 120, to: 1480, p: [0.9, 0.7] }]));
    expect(heard).toEqual([{ startMs: 120, endMs: 1480, text: 'Ask not what', confidence: 0.8 }]);
  });

  it('drops segments that only describe a sound', () => {
    const sounds = ['[BLANK_AUDIO]', ' (soft music)', '♪ ♪', '*applause*', '  '];
    expect(readWhisperOutput(output(sounds.map((text) => ({ text }))))).toEqual([]);
  });

  it('keeps one copy of what a stuck engine repeats, and leaves what people say twice', () => {
    const texts = [
      'No.',
      'No!',
      'Thanks for watching.',
      'Thanks for watching',
      'thanks for watching!',
      'Bye.',
    ];
    const heard = readWhisperOutput(
      output(texts.map((text, i) => ({ text, from: i * 100, to: i * 100 + 100_000 }))),
    );
    expect(heard.map(({ text }) => text)).toEqual(['No.', 'No!', 'Thanks for watching.', 'Bye.']);
    expect(dropPhraseLoops('so thank you thank you thank you thank you very much')).toBe(
      'so thank you very much',
    );
    expect(dropPhraseLoops('very, very, very good')).toBe('very, very, very good');
  });

  it('has low confidence in words that nobody can say in that time', () => {
    const [fast] = readWhisperOutput(output([{ text: 'x'.repeat(100), from: 0, to: 1000, p: [0.99] }]));
    expect(fast?.confidence).toBe(0.3);
  });

  it('is refused when it has another form', () => {
    expect(() => readWhisperOutput('{"transcription": 1}')).toThrow();
    expect(() => readWhisperOutput('error: failed to open')).toThrow();
  });
});
