import { SHA256_HEX } from '#common/sha256.ts';
import { randomBytes } from 'node:crypto';
import { copyFile, mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { hasCode, hashFile, ignoreMissing } from './disk-storage.ts';
import { createKeyedLock } from './keyed-lock.ts';

/** Local copies of objects that live elsewhere, named by the SHA-256 of their content. */
export interface FileCache {
  /**
   * A local path with these bytes, which stays until it is released.
   * @param fetch writes the bytes to a path, when they are not here
   * @throws what `fetch` throws; Error when other bytes came
   */
  hold(
    sha256: string,
    fetch: (targetPath: string) => Promise<void>,
  ): Promise<{ path: string; release: () => Promise<void> }>;
  /** Moves a finished file in, because it is likely to be needed next. */
  adopt(sha256: string, sourcePath: string): Promise<void>;
  /** Removes these bytes; a holder keeps the file until releasing it. */
  drop(sha256: string): Promise<void>;
}

interface Entry {
  readonly sizeBytes: number;
  usedAt: number;
  holders: number;
  dropped: boolean;
}

const PART = '.part';

/**
 * Copies in `root`. When all together take more than `mostBytes`, those unused for the longest time are removed; held
 * ones stay, however many they are. Whole files of an earlier process are taken over.
 * @throws system errors, among them ENOSPC
 */
export function createFileCache(root: string, mostBytes: number): FileCache {
  const lock = createKeyedLock();
  const entries = new Map<string, Entry>();
  const fileOf = (sha256: string) => path.join(root, sha256);
  let uses = 0;
  let opened: Promise<void> | null = null;

  const makeRoot = () => mkdir(root, { recursive: true, mode: 0o700 });

  /** Only whole files get their names, so everything except parts can be trusted. */
  async function takeOver(): Promise<void> {
    await makeRoot();
    const found = [];
    for (const name of await readdir(root)) {
      const file = path.join(root, name);
      const about = await stat(file).catch(ignoreMissing);
      if (!SHA256_HEX.test(name)) await rm(file, { force: true });
      else if (about) found.push({ name, sizeBytes: about.size, at: about.atimeMs });
    }
    for (const { name, sizeBytes } of found.toSorted((a, b) => a.at - b.at)) enter(name, sizeBytes);
    await makeRoom();
  }

  function enter(sha256: string, sizeBytes: number, holders = 0): Entry {
    const entry = { sizeBytes, usedAt: (uses += 1), holders, dropped: false };
    entries.set(sha256, entry);
    return entry;
  }

  async function makeRoom(): Promise<void> {
    const bytes = () => [...entries.values()].reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    const longestUnused = [...entries].toSorted(([, a], [, b]) => a.usedAt - b.usedAt);
    for (const [sha256] of longestUnused) {
      if (bytes() <= mostBytes) return;
      await lock(sha256, () => forget(sha256));
    }
  }

  /** Must be called while holding the lock of these bytes. */
  async function forget(sha256: string): Promise<void> {
    if ((entries.get(sha256)?.holders ?? 0) > 0) return;
    entries.delete(sha256);
    await rm(fileOf(sha256), { force: true });
  }

  async function bring(sha256: string, fetch: (targetPath: string) => Promise<void>): Promise<Entry> {
    const part = `${fileOf(sha256)}.${randomBytes(6).toString('hex')}${PART}`;
    try {
      await makeRoot();
      await fetch(part);
      if ((await hashFile(part)) !== sha256) throw new Error(`The stored object ${sha256} has other bytes.`);
      const { size } = await stat(part);
      await rename(part, fileOf(sha256));
      return enter(sha256, size, 1);
    } finally {
      await rm(part, { force: true });
    }
  }

  /**
   * The local copy of these bytes, held once more so that it is not removed meanwhile. Must be called while holding
   * their lock. Files may be removed by hand; a missing one is fetched again.
   */
  async function take(sha256: string): Promise<Entry | null> {
    const entry = entries.get(sha256);
    if (!entry) return null;
    entry.holders += 1;
    if (await stat(fileOf(sha256)).catch(ignoreMissing)) {
      entry.dropped = false;
      entry.usedAt = uses += 1;
      return entry;
    }
    if (entries.get(sha256) === entry) entries.delete(sha256);
    return null;
  }

  return {
    async hold(sha256, fetch) {
      await (opened ??= takeOver());
      const entry = await lock(sha256, async () => (await take(sha256)) ?? (await bring(sha256, fetch)));
      await makeRoom();
      let released = false;
      return {
        path: fileOf(sha256),
        async release() {
          if (released) return;
          released = true;
          entry.holders -= 1;
          if (entry.dropped) await lock(sha256, () => forget(sha256));
          await makeRoom();
        },
      };
    },

    async adopt(sha256, sourcePath) {
      await (opened ??= takeOver());
      await lock(sha256, async () => {
        const here = await take(sha256);
        if (here) {
          here.holders -= 1;
          return rm(sourcePath, { force: true });
        }
        const { size } = await stat(sourcePath);
        await makeRoot();
        await rename(sourcePath, fileOf(sha256)).catch(async (error: unknown) => {
          if (!hasCode(error, 'EXDEV')) throw error;
          const part = `${fileOf(sha256)}.${randomBytes(6).toString('hex')}${PART}`;
          await copyFile(sourcePath, part);
          await rename(part, fileOf(sha256));
          await rm(sourcePath, { force: true });
        });
        enter(sha256, size);
      });
      await makeRoom();
    },

    async drop(sha256) {
      await (opened ??= takeOver());
      await lock(sha256, async () => {
        const entry = entries.get(sha256);
        if (entry) entry.dropped = true;
        await forget(sha256);
      });
    },
  };
}
