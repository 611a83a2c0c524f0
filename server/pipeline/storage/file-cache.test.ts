import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFileCache } from './file-cache.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'reelmend-cache-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Three objects of 100 bytes, and a function that fetches each. */
function objects() {
  return Array.from({ length: 3 }, () => {
    const data = randomBytes(100);
    const sha256 = createHash('sha256').update(data).digest('hex');
    return { data, sha256, fetch: (target: string) => writeFile(target, data) };
  });
}
const never = () => Promise.reject(new Error('it was asked for again'));
const newRoot = () => mkdtemp(path.join(folder, 'root-'));

describe('copies of objects', () => {
  it('are fetched once, and the least recently used are removed when there are too many', async () => {
    const root = await newRoot();
    const cache = createFileCache(root, 250);
    const [a, b, c] = objects();
    if (!a || !b || !c) throw new Error('three objects');
    for (const one of [a, b]) await (await cache.hold(one.sha256, one.fetch)).release();
    const held = await cache.hold(a.sha256, never);
    expect((await readFile(held.path)).equals(a.data)).toBe(true);
    await held.release();
    await (await cache.hold(c.sha256, c.fetch)).release();
    expect((await readdir(root)).toSorted()).toEqual([a.sha256, c.sha256].toSorted());
  });

  it('stay while they are held, however many, even when they are dropped', async () => {
    const root = await newRoot();
    const cache = createFileCache(root, 0);
    const all = objects();
    const held = await Promise.all(all.map((one) => cache.hold(one.sha256, one.fetch)));
    await cache.drop(all[0]?.sha256 ?? '');
    for (const { path: file } of held) expect((await stat(file)).size).toBe(100);
    for (const { release } of held) await release();
    expect(await readdir(root)).toEqual([]);
  });

  it('take over a finished file, and intact files of an earlier process', async () => {
    const root = await newRoot();
    const [a, b] = objects();
    if (!a || !b) throw new Error('two objects');
    const source = path.join(folder, 'finished');
    await writeFile(source, a.data);
    await createFileCache(root, 1000).adopt(a.sha256, source);
    await expect(stat(source)).rejects.toThrow('ENOENT');
    await writeFile(path.join(root, `${b.sha256}.0a0a.part`), 'half');
    const next = createFileCache(root, 1000);
    const held = await next.hold(a.sha256, never);
    expect((await readFile(held.path)).equals(a.data)).toBe(true);
    expect(await readdir(root)).toEqual([a.sha256]);
    await held.release();
    await rm(path.join(root, a.sha256));
    await (await next.hold(a.sha256, a.fetch)).release();
  });

  it('that are requested again while somebody holds dropped ones stay for both', async () => {
    const cache = createFileCache(await newRoot(), 1000);
    const [a] = objects();
    if (!a) throw new Error('an object');
    const first = await cache.hold(a.sha256, a.fetch);
    await cache.drop(a.sha256);
    const second = await cache.hold(a.sha256, never);
    await first.release();
    expect((await readFile(second.path)).equals(a.data)).toBe(true);
    await second.release();
  });

  it('of other bytes than the name says are not copies', async () => {
    const root = await newRoot();
    const [a] = objects();
    const wrong = createFileCache(root, 1000).hold(a?.sha256 ?? '', (target) => writeFile(target, 'else'));
    await expect(wrong).rejects.toThrow(/other bytes/);
    expect(await readdir(root)).toEqual([]);
  });
});
