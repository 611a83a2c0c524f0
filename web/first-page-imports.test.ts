import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = path.resolve(import.meta.dirname, '..');
const WITHOUT_VALUES = /^\s*type\s|^\{(\s*type\s+\w+(\s+as\s+\w+)?\s*,?)+\s*\}\s*$/;

/** Every file of ours that a page loads before anything else, by the imports left after removing types. */
function loadedAtOnce(entry: string): Map<string, string> {
  const files = new Map<string, string>();
  const queue: [file: string, from: string][] = [[entry, '']];
  for (let next = queue.pop(); next; next = queue.pop()) {
    const [file, from] = next;
    if (files.has(file)) continue;
    files.set(file, from);
    if (!/\.tsx?$/.test(file)) continue;
    const source = readFileSync(path.join(ROOT, file), 'utf8');
    for (const [, names = '', name = ''] of source.matchAll(
      /^(?:import|export)\s+(?:([^;'"]*?)\s+from\s+)?['"]([^'"]+)['"]/gm,
    )) {
      if (WITHOUT_VALUES.test(names)) continue;
      if (name.startsWith('#')) queue.push([name.slice(1), file]);
      else if (name.startsWith('.')) queue.push([path.posix.join(path.posix.dirname(file), name), file]);
    }
  }
  return files;
}

describe('what every page loads at once', () => {
  const files = loadedAtOnce('web/main.tsx');

  it('follows real files', () => {
    expect(files.size).toBeGreaterThan(30);
    expect([...files.keys()].filter((file) => !existsSync(path.join(ROOT, file)))).toEqual([]);
  });

  // A schema created before zod is configured tries code from text, which the security policy blocks; and the first
  // page would wait for all of them.
  it('makes no schema: those of the calls come with the page that needs them', () => {
    const withSchemas = [...files].filter(
      ([file]) =>
        file !== 'web/browser-libraries.ts' &&
        /\.tsx?$/.test(file) &&
        /^import (?!type).*from 'zod';/m.test(readFileSync(path.join(ROOT, file), 'utf8')),
    );
    expect(withSchemas.map(([file, from]) => `${from} -> ${file}`)).toEqual([]);
  });
});
