import { describe, expect, it } from 'vitest';
import { toSrt, toWebVtt } from './caption-files.ts';
import { CAPTION_LIMITS, findCueProblems } from './captions.ts';
import { parseCaptionFile } from './parse-captions.ts';

const read = (file: string) => {
  const found = parseCaptionFile(file);
  if (!found) throw new Error('no cue was found');
  return { ...found, rows: found.cues.map(({ startMs, endMs, text }) => [startMs, endMs, text]) };
};

describe('parseCaptionFile', () => {
  it('reads SubRip with a byte order mark, CRLF and commas, and drops styles with a count', () => {
    const file =
      '\u{FEFF}1\r\n00:00:01,500 --> 00:00:03,000\r\n<i>Hello</i> {\\an8}there\r\nfriend\r\n\r\n' +
      '2\r\n00:01:00,000 --> 00:01:02,250\r\n5 < 6 & so on\r\n';
    const { rows, notes, cues } = read(file);
    expect(rows).toEqual([
      [1500, 3000, 'Hello there\nfriend'],
      [60_000, 62_250, '5 < 6 & so on'],
    ]);
    expect(notes).toEqual({ styled: 1, retimed: 0, joined: 0, divided: 0 });
    expect(cues.every(({ source, confidence }) => source === 'imported' && confidence === null)).toBe(true);
  });

  it('reads WebVTT without hours, with names, notes, voices, settings and entities', () => {
    const file =
      'WEBVTT - from somewhere\n\nSTYLE\n::cue { color: red }\n\nNOTE nothing\n\nintro\n' +
      '00:02.000 --> 00:04.000 line:0 align:start\n<v Mara>Fish &amp; chips</v>\n\n' +
      '01:00:00.000 --> 01:00:01.000\n[speech]\n';
    const { rows, notes, cues } = read(file);
    expect(rows).toEqual([
      [2000, 4000, 'Fish & chips'],
      [3_600_000, 3_601_000, null],
    ]);
    expect(notes.styled).toBe(1);
    expect(cues[1]?.source).toBe('timing_only');
  });

  it('puts overlapping and unordered cues into a valid order, and says so', () => {
    const file =
      '00:00:05,000 --> 00:00:04,000\nbackwards\n\n00:00:01,0 --> 00:00:05,500\nlong\n\n' +
      '00:00:01,000 --> 00:00:02,000\nsame start\n';
    const { rows, cues, notes } = read(file);
    expect(rows).toEqual([
      [1000, 5000, 'long\nsame start'],
      [5000, 6500, 'backwards'],
    ]);
    expect(findCueProblems(cues)).toEqual([]);
    expect(notes).toEqual({ styled: 0, retimed: 2, joined: 1, divided: 0 });
  });

  it('splits a cue that is too long, and loses no word', () => {
    const words = Array.from({ length: 300 }, (_, i) => `word${i}`).join(' ');
    const { cues, notes } = read(`00:00:00,000 --> 00:01:00,000\n${words}\n`);
    expect(notes.divided).toBe(1);
    expect(cues.every(({ text }) => (text ?? '').length <= CAPTION_LIMITS.chars)).toBe(true);
    expect(cues.map(({ text }) => text).join(' ')).toBe(words);
    expect(findCueProblems(cues)).toEqual([]);
    expect(cues.at(-1)?.endMs).toBe(60_000);
  });

  it('parses both of our own formats', () => {
    const cues = [
      { startMs: 0, endMs: 900, text: 'a <b>&\n--> c' },
      { startMs: 1000, endMs: 2000, text: null },
    ];
    const expected = cues.map(({ startMs, endMs, text }) => [startMs, endMs, text]);
    expect(read(toWebVtt(cues)).rows).toEqual(expected);
    expect(read(toSrt([{ startMs: 0, endMs: 900, text: 'one\ntwo' }])).rows).toEqual([[0, 900, 'one\ntwo']]);
  });

  it('finds nothing in a file without captions', () => {
    expect(parseCaptionFile('PK\u0003\u0004 nothing here')).toBeNull();
    expect(parseCaptionFile('')).toBeNull();
  });
});
