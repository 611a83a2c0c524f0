import { beforeAll, describe, expect, it } from 'vitest';
import { placeCaptions, toAss, type AssInput } from './ass-file.ts';
import { findCaptionFont, readCaptionFont, type CaptionFont } from './caption-font.ts';

let font: CaptionFont;
beforeAll(async () => {
  font = await readCaptionFont(findCaptionFont() ?? '');
});

const SIZE = { width: 1920, height: 1080 };
const script = (text: string | null, change: Partial<AssInput> = {}) =>
  toAss({
    cues: [{ startMs: 61_005, endMs: 62_504, text }],
    style: 'box',
    size: SIZE,
    white: 'sdr',
    font,
    ...change,
  });
const events = (ass: string) => ass.split('\n').filter((line) => line.startsWith('Dialogue'));

describe('the script of captions', () => {
  it('writes times in hundredths and draws no cue without words', () => {
    expect(events(script('Hello'))).toEqual(['Dialogue: 0,0:01:01.01,0:01:02.50,caption,,0,0,0,,Hello']);
    expect(events(script(null))).toEqual([]);
  });

  it('escapes words that would be commands', () => {
    const [line] = events(script('{\\b1} C:\\New'));
    expect(line?.slice(line.indexOf(',,0,0,0,,') + 9)).toBe('\\{\\\u{2060}b1\\} C:\\\u{2060}New');
  });

  it('highlights one word after the other, without a gap', () => {
    const lines = events(script('one two three', { style: 'words' }));
    expect(lines.map((line) => /\}(\w+)\{\\r\}/.exec(line)?.[1])).toEqual(['one', 'two', 'three']);
    const times = lines.map((line) => line.split(',').slice(1, 3));
    expect([times[0]?.[0], times[2]?.[1]]).toEqual(['0:01:01.01', '0:01:02.50']);
    expect([times[0]?.[1], times[1]?.[1]]).toEqual([times[1]?.[0], times[2]?.[0]]);
  });

  it('draws darker text in high dynamic range, where full white would dazzle', () => {
    const white = (of: AssInput['white']) =>
      /Noto Sans,[\d.]+,&H00(\w\w)/.exec(script('x', { white: of }))?.[1];
    expect([white('sdr'), white('hlg'), white('pq')]).toEqual(['FF', 'BF', '94']);
  });

  it('keeps clear of the platforms’ buttons in upright pictures, and grows with the picture', () => {
    const upright = placeCaptions({ width: 1080, height: 1920 });
    expect(upright.bottom).toBeGreaterThan(450);
    expect(upright.side).toBeGreaterThan(120);
    const small = placeCaptions({ width: 540, height: 960 });
    expect(small.em * 2).toBeCloseTo(upright.em);
    expect(placeCaptions(SIZE).bottom).toBeLessThan(120);
    expect(placeCaptions({ width: 720, height: 720 }).bottom).toBeCloseTo(72);
  });
});
