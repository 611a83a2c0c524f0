import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = path.resolve(import.meta.dirname, '../..');
/** Where the thread's code may be; the folder of a new feature must be added. */
const ALLOWED = [
  /^common\//,
  /^server\/media\//,
  /^server\/pipeline\//,
  /^server\/(errors|error-detail)\.ts$/,
];
/** The main thread's part of the journey of a file. */
const MAIN_THREAD = /^server\/pipeline\/(upload|storage|preview)\/|\.(routes|service|jobs?)\.ts$/;
const FORBIDDEN_PACKAGES = new Set(['koa', '@koa/router', 'knex', 'objection', 'socket.io', '@tus/server']);

/** Every file of ours, and every package, reachable from `entry` by import statements. */
function reachable(entry: string): { files: Map<string, string>; packages: Map<string, string> } {
  const files = new Map<string, string>();
  const packages = new Map<string, string>();
  const queue: [file: string, from: string][] = [[entry, '']];
  for (let next = queue.pop(); next; next = queue.pop()) {
    const [file, from] = next;
    if (files.has(file)) continue;
    files.set(file, from);
    const source = readFileSync(path.join(ROOT, file), 'utf8');
    for (const match of source.matchAll(/(?:from|import)\s*\(?\s*['"]([^'"]+)['"]/g)) {
      const name = match[1] ?? '';
      if (name.startsWith('#')) queue.push([name.slice(1), file]);
      else if (name.startsWith('.')) queue.push([path.posix.join(path.posix.dirname(file), name), file]);
      else if (!name.startsWith('node:')) packages.set(name, file);
    }
  }
  return { files, packages };
}

describe('the media thread', () => {
  const { files, packages } = reachable('server/pipeline/worker.ts');

  it('follows real files', () => {
    expect(files.size).toBeGreaterThan(10);
    expect([...files.keys()].filter((file) => !existsSync(path.join(ROOT, file)))).toEqual([]);
  });

  it('cannot reach the database, http, config, events or a feature', () => {
    const reached = [...files].filter(
      ([file]) => !ALLOWED.some((pattern) => pattern.test(file)) || MAIN_THREAD.test(file),
    );
    expect(reached.map(([file, from]) => `${from} -> ${file}`)).toEqual([]);
  });

  it('loads no server package', () => {
    const loaded = [...packages].filter(([name]) => FORBIDDEN_PACKAGES.has(name));
    expect(loaded.map(([name, from]) => `${from} -> ${name}`)).toEqual([]);
  });
});
