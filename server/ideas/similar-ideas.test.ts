import { describe, expect, it } from 'vitest';
import { keywords, similarity, trigrams } from './similar-ideas.ts';

const alike = (a: string, b: string) => similarity(trigrams(a), trigrams(b));

describe('similar ideas', () => {
  it.each([
    ['Dark mode for the editor', 'dark mode in editor'],
    ['Automatic subtitles in Spanish', 'Spanish subtitles, automatically'],
    ['Upload several files at once', 'uploading several files'],
    ['Untertitel für Reels', 'untertitel fur reels'],
  ])('holds %j and %j for alike', (a, b) => {
    expect(alike(a, b)).toBeGreaterThan(0.25);
  });

  it.each([
    ['Dark mode for the editor', 'Export straight to YouTube'],
    ['Automatic subtitles in Spanish', 'Cheaper yearly plan'],
    ['Upload several files at once', 'Keyboard shortcuts'],
  ])('holds %j and %j for different', (a, b) => {
    expect(alike(a, b)).toBeLessThan(0.25);
  });

  it('is 1 for the same words, 0 without words', () => {
    expect(alike('One two', 'two ONE!')).toBe(1);
    expect(alike('!!!', '???')).toBe(0);
  });

  it('searches for the longest words, each once, without punctuation', () => {
    expect(keywords('The editor: %_ the EDITOR in a subtitle', 2)).toEqual(['subtitle', 'editor']);
  });
});
