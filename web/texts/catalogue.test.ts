import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { landingTexts } from './landing.ts';

const WEB = path.resolve(import.meta.dirname, '..');
const JSX_WORDS = />\s*([A-Z][a-z]+(?:[ ,.!?'][^<>{}=;]*)?)\s*<\//g;
const ATTRIBUTE_WORDS = /\s(?:aria-label|title|placeholder|alt|label)="([^"]*[A-Za-z]{2}[^"]*)"/g;

/** Words that a component shows without taking them from the catalogue. */
function strayWords(source: string): string[] {
  const code = source.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '');
  return [JSX_WORDS, ATTRIBUTE_WORDS].flatMap((pattern) =>
    [...code.matchAll(pattern)].map((match) => match[1] ?? ''),
  );
}

const SENTENCE = /'([A-Z][^'\n]* [^'\n]*[.!?])'/g;

/** All literals of a folder that are whole sentences. */
function sentencesOf(folder: string): Set<string> {
  const files = readdirSync(folder, { encoding: 'utf8', recursive: true }).filter(
    (file) => file.endsWith('.ts') && !/\.test\.ts$|^(test|bench)\//.test(file),
  );
  return new Set(
    files.flatMap((file) =>
      [...readFileSync(path.join(folder, file), 'utf8').matchAll(SENTENCE)].map((match) => match[1] ?? ''),
    ),
  );
}

describe('the catalogue of texts', () => {
  it('is the only place of visible words', () => {
    const files = readdirSync(WEB, { encoding: 'utf8', recursive: true }).filter(
      (file) => file.endsWith('.tsx') && !/\.test\.tsx$|^test/.test(file),
    );
    expect(files.length).toBeGreaterThan(50);
    const stray = files.flatMap((file) =>
      strayWords(readFileSync(path.join(WEB, file), 'utf8')).map((words) => `${file}: ${words}`),
    );
    // The format of an expiry date is the specification's own and the same in every language.
    expect(stray.filter((line) => !line.endsWith(': MM/YY'))).toEqual([]);
  });

  it('takes from common/ what the server says too', () => {
    const pages = sentencesOf(path.join(WEB, 'texts'));
    const others = ['common', 'server'].flatMap((folder) => [...sentencesOf(path.join(WEB, '..', folder))]);
    expect(pages.size).toBeGreaterThan(300);
    expect(others.length).toBeGreaterThan(300);
    expect(others.filter((sentence) => pages.has(sentence))).toEqual([]);
  });

  it('would be found out by words in a component', () => {
    expect(strayWords('<p>Good morning</p>')).toEqual(['Good morning']);
    expect(strayWords('<img alt="A harbour" />')).toEqual(['A harbour']);
    expect(strayWords('<p>{texts.morning}</p>')).toEqual([]);
  });

  it('speaks to creators of short clips and their teams', () => {
    expect(landingTexts.hero.lead).toMatch(/short-form creators and their teams/);
  });
});
