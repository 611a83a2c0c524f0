import { describe, expect, it } from 'vitest';
import { findCueProblems } from './captions.ts';
import { layScript, SCRIPT } from './lay-script.ts';

const span = (startMs: number, endMs: number) => ({ startMs, endMs });
const rows = (script: string, speech: { startMs: number; endMs: number }[], durationMs = 60_000) =>
  (layScript(script, speech, durationMs) ?? []).map(({ startMs, endMs, text }) => [startMs, endMs, text]);

describe('layScript', () => {
  it('gives each sentence the stretch that fits it, with pauses between them', () => {
    const speech = [span(1000, 2000), span(3000, 6000), span(8000, 9500)];
    const script = 'Good morning all. Today we walk along the river and look for birds. Then we have tea.';
    expect(rows(script, speech)).toEqual([
      [1000, 2000, 'Good morning all.'],
      [3000, 6000, 'Today we walk along the river and look for birds.'],
      [8000, 9500, 'Then we have tea.'],
    ]);
  });

  it('treats the cues of one long stretch as one stretch', () => {
    const speech = [span(0, 5000), span(5000, 10_000)];
    const cues = rows('Short. A much longer sentence that takes most of the time here.', speech);
    expect(cues[0]?.[0]).toBe(0);
    expect(cues[0]?.[1]).toBeLessThan(2500);
    expect(cues[1]?.[0]).toBe(cues[0]?.[1]);
    expect(cues[1]?.[1]).toBe(10_000);
  });

  it('leaves a pause inside a sentence where it is', () => {
    const cues = rows('One single sentence goes on through the pause.', [span(0, 2000), span(2600, 4000)]);
    expect(cues).toEqual([[0, 4000, 'One single sentence goes on through the pause.']]);
  });

  it('does not leave a single last word when it cuts a long sentence', () => {
    const text =
      'This is the optical and science segment of the telescope in one of the largest cleanrooms there is, Maryland.';
    const cues = rows(text, [span(0, 9000)]);
    expect(cues).toHaveLength(2);
    for (const [, , words] of cues) expect(String(words).length).toBeGreaterThan(40);
  });

  it('does not stretch a sentence to a pause inside the next one', () => {
    const [first, second] = rows(
      'So we looked at it. And we asked what would happen if all of us went there together.',
      [span(0, 5000), span(6000, 10_000)],
    );
    expect(first?.[1]).toBeLessThan(2500);
    expect(second).toEqual([
      first?.[1],
      10_000,
      'And we asked what would happen if all of us went there together.',
    ]);
  });

  it('cuts long sentences at commas, keeps every word and makes a valid list', () => {
    const words = Array.from({ length: 120 }, (_, i) => (i % 9 === 8 ? `word${i},` : `word${i}`)).join(' ');
    const cues = layScript(
      `${words}.\n\nAnd 12 more, said later!`,
      [span(500, 40_000), span(41_000, 44_000)],
      null,
    );
    expect(cues?.map(({ text }) => text).join(' ')).toBe(`${words}. And 12 more, said later!`);
    expect(cues?.every(({ text }) => (text ?? '').length <= SCRIPT.charsPerCue)).toBe(true);
    expect(cues?.every(({ source, confidence }) => source === 'script' && confidence === null)).toBe(true);
    expect(findCueProblems(cues ?? [])).toEqual([]);
    expect(cues?.at(-1)).toMatchObject({ startMs: 41_000, endMs: 44_000 });
  });

  it('spreads over the whole clip when nobody was heard', () => {
    expect(rows('Hello there.', [], 4000)).toEqual([[0, 4000, 'Hello there.']]);
  });

  it('returns nothing without text, without time and for far too much text', () => {
    expect(layScript(' \n ', [span(0, 1000)], 1000)).toBeNull();
    expect(layScript('Words.', [], null)).toBeNull();
    expect(layScript('Many words. '.repeat(100), [span(0, 1000)], 1000)).toBeNull();
  });
});
