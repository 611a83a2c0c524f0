import { beforeAll, describe, expect, it } from 'vitest';
import { findCaptionFont, readCaptionFont, type CaptionFont } from './caption-font.ts';
import { drawnText, findUndrawable, layOutCaptions } from './caption-lines.ts';

let font: CaptionFont;
beforeAll(async () => {
  font = await readCaptionFont(findCaptionFont() ?? '');
});

describe('the caption font', () => {
  it('has Latin, Greek and Cyrillic letters and quotes, but no emoji and no script that needs shaping', () => {
    const covered = (text: string) =>
      Array.from(text).filter((char) => font.covers(char.codePointAt(0) ?? 0));
    expect(covered('Añ Ωж “€”…').join('')).toBe('Añ Ωж “€”…');
    expect(covered('😀你हि')).toEqual([]);
  });

  it('measures texts by the widths of their letters', () => {
    // Noto Sans Bold: a full stop is 286 units of 1000, a capital W 966.
    expect(font.widthEm('W')).toBeGreaterThan(3 * font.widthEm('.'));
    expect(font.widthEm('WW')).toBeCloseTo(2 * font.widthEm('W'));
    expect(font.lineEm).toBeGreaterThan(1);
  });
});

describe('words that are drawn', () => {
  it('are checked for characters that the font lacks, and the cue is named', () => {
    const cues = [{ text: 'fine' }, { text: null }, { text: 'so good 😀!' }];
    expect(findUndrawable(cues, font)).toEqual({ cue: 3, char: '😀' });
    expect(findUndrawable(cues.slice(0, 2), font)).toBeNull();
  });

  it('lose only what is invisible', () => {
    expect(drawnText('cafe\u{301}\u{200B} \n au\u{FE0F} lait')).toBe('café au lait');
  });
});

describe('laying captions out', () => {
  const draw = (text: string | null, mostEm = 12) =>
    layOutCaptions([{ startMs: 1000, endMs: 5000, text }], font, mostEm);
  const widths = (lines: readonly (readonly string[])[]) => lines.map((line) => font.widthEm(line.join(' ')));

  it('leaves short words on one line and draws nothing without words', () => {
    expect(draw('Good morning')).toEqual([{ startMs: 1000, endMs: 5000, lines: [['Good', 'morning']] }]);
    expect(draw(null)).toEqual([]);
  });

  it('breaks into two lines of about equal width', () => {
    const [caption] = draw('We walk along the river tonight');
    const [first = 0, second = 0] = widths(caption?.lines ?? []);
    expect(caption?.lines).toHaveLength(2);
    expect(Math.abs(first - second)).toBeLessThan(5);
  });

  it('splits longer cues, with time shared by their words: never more than two lines, never too wide', () => {
    const text = Array.from({ length: 40 }, (_, i) => `word${i}`).join(' ');
    const captions = draw(text);
    expect(captions.length).toBeGreaterThan(3);
    expect(captions.flatMap(({ lines }) => lines.flat()).join(' ')).toBe(text);
    for (const { lines } of captions) {
      expect(lines.length).toBeLessThanOrEqual(2);
      expect(Math.max(...widths(lines))).toBeLessThanOrEqual(12);
    }
    expect([captions[0]?.startMs, captions.at(-1)?.endMs]).toEqual([1000, 5000]);
    captions.slice(1).forEach((one, i) => expect(one.startMs).toBe(captions[i]?.endMs));
  });

  it('cuts a word that is wider than a line', () => {
    const captions = draw('Donaudampfschifffahrtsgesellschaft', 6);
    const pieces = captions.flatMap(({ lines }) => lines);
    expect(pieces.flat().join('')).toBe('Donaudampfschifffahrtsgesellschaft');
    expect(Math.max(...widths(pieces))).toBeLessThanOrEqual(6);
  });
});
