import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { MediaStorage } from './media-storage.ts';

const sha256 = (data: Buffer) => createHash('sha256').update(data).digest('hex');

async function bytesOf(stream: AsyncIterable<unknown>): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of stream) if (Buffer.isBuffer(part)) parts.push(part);
  return Buffer.concat(parts);
}

/** The contract of every storage adapter; run once for each of them. */
export function describeStorage(
  name: string,
  make: () => Promise<{ storage: MediaStorage; spoil: (sha256: string) => Promise<void> }>,
): void {
  describe(`storage: ${name}`, () => {
    let storage: MediaStorage;
    let spoil: (sha256: string) => Promise<void>;
    let folder: string;
    const source = async (data: Buffer) => {
      const file = path.join(folder, randomBytes(6).toString('hex'));
      await writeFile(file, data);
      return file;
    };

    beforeAll(async () => {
      ({ storage, spoil } = await make());
      folder = await mkdtemp(path.join(tmpdir(), 'reelmend-storage-'));
    });
    afterAll(async () => rm(folder, { recursive: true, force: true }));

    it('keeps a file under the SHA-256 of its bytes and consumes the source', async () => {
      const data = randomBytes(100_000);
      const file = await source(data);
      const stored = await storage.put(file);
      expect(stored).toEqual({ sha256: sha256(data), sizeBytes: data.length });
      await expect(stat(file)).rejects.toThrow('ENOENT');
      expect(await storage.stat(stored.sha256)).toEqual(stored);
      expect((await storage.read(stored.sha256)).equals(data)).toBe(true);
    });

    it('stores the same bytes once', async () => {
      const data = randomBytes(1000);
      await storage.putBuffer(data);
      await storage.put(await source(data));
      let count = 0;
      for await (const object of storage.list()) if (object.sha256 === sha256(data)) count += 1;
      expect(count).toBe(1);
    });

    it('opens any range, both ends included', async () => {
      const data = randomBytes(5000);
      const { sha256: key } = await storage.putBuffer(data);
      expect(await bytesOf(await storage.open(key))).toEqual(data);
      expect(await bytesOf(await storage.open(key, { start: 0, end: 0 }))).toEqual(data.subarray(0, 1));
      expect(await bytesOf(await storage.open(key, { start: 4990, end: 4999 }))).toEqual(data.subarray(4990));
    });

    it('gives a reader all bytes of an object that is removed meanwhile', async () => {
      const data = randomBytes(3_000_000);
      const { sha256: key } = await storage.putBuffer(data);
      const stream = await storage.open(key);
      await storage.remove(key);
      expect((await bytesOf(stream)).equals(data)).toBe(true);
      expect(await storage.stat(key)).toBeNull();
    });

    it('removes an object only when it was not put again since the given moment', async () => {
      const { sha256: key } = await storage.putBuffer(randomBytes(10));
      expect(await storage.remove(key, Date.now() - 60_000)).toBe(false);
      expect(await storage.stat(key)).not.toBeNull();
      expect(await storage.remove(key, Date.now() + 60_000)).toBe(true);
      expect(await storage.stat(key)).toBeNull();
      expect(await storage.remove(key)).toBe(true);
    });

    it('finds changed bytes, and a new put of the right ones heals them', async () => {
      const data = randomBytes(2000);
      const { sha256: key } = await storage.putBuffer(data);
      expect(await storage.verify(key)).toBe(true);
      await spoil(key);
      expect(await storage.verify(key)).toBe(false);
      await storage.putBuffer(data);
      expect(await storage.verify(key)).toBe(true);
    });

    it('answers "not found" for what does not exist and for keys that are no hash', async () => {
      const missing = sha256(randomBytes(8));
      expect(await storage.stat(missing)).toBeNull();
      await expect(storage.open(missing)).rejects.toMatchObject({ code: 'not_found' });
      await expect(storage.read('../../etc/passwd')).rejects.toMatchObject({ code: 'not_found' });
    });

    it('gives a local path with the bytes', async () => {
      const data = randomBytes(64);
      const { sha256: key } = await storage.putBuffer(data);
      const local = await storage.localPath(key);
      expect((await stat(local.path)).size).toBe(64);
      await local.release();
    });

    it('takes the same content from many sides at once', async () => {
      const data = randomBytes(50_000);
      const files = await Promise.all(Array.from({ length: 20 }, () => source(data)));
      const stored = await Promise.all(files.map((file) => storage.put(file)));
      expect(new Set(stored.map((object) => object.sha256))).toEqual(new Set([sha256(data)]));
      expect(await storage.verify(sha256(data))).toBe(true);
    });

    it('says how much room is left', async () => {
      const free = await storage.freeBytes();
      expect(free === null || free > 0).toBe(true);
    });
  });
}
