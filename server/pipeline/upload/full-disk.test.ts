import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, rmdirSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, describe, expect, it } from 'vitest';
import { createDiskStorage } from '../storage/disk-storage.ts';
import { createUploadFiles } from './upload-files.ts';

const MIB = 1024 * 1024;

/** Mounts a disk of four MiB; null if this account may not. */
function mountSmallDisk(): string | null {
  const folder = mkdtempSync(path.join(tmpdir(), 'reelmend-full-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', folder], { stdio: 'ignore' });
    return folder;
  } catch {
    rmdirSync(folder);
    return null;
  }
}

const disk = mountSmallDisk();

describe.skipIf(disk === null)('a full disk', () => {
  const folder = disk ?? '';
  const storage = createDiskStorage(path.join(folder, 'objects'));
  const files = createUploadFiles(path.join(folder, 'uploads'));
  const id = 'F'.repeat(43);
  const limits = { checksum: null, maxOffsetBytes: 100 * MIB };
  afterAll(async () => {
    execFileSync('umount', [folder]);
    await rm(folder, { recursive: true, force: true });
  });

  it('refuses an object with "storage_full", leaves nothing of it, and works again when there is room', async () => {
    await expect(storage.putBuffer(randomBytes(6 * MIB))).rejects.toMatchObject({ code: 'storage_full' });
    const list = async () => {
      const found = [];
      for await (const object of storage.list()) found.push(object);
      return found;
    };
    expect(await list()).toEqual([]);
    expect(readdirSync(path.join(folder, 'objects', 'tmp'))).toEqual([]);
    const small = await storage.putBuffer(randomBytes(MIB));
    expect(await storage.verify(small.sha256)).toBe(true);
    await storage.remove(small.sha256);
  });

  it('keeps the bytes of an upload that fitted, reports the right offset, and continues after them', async () => {
    const data = randomBytes(3 * MIB);
    const filler = path.join(folder, 'filler');
    await writeFile(filler, randomBytes(2 * MIB));
    await files.create(id);
    const chunks = (part: Buffer) =>
      Readable.from(
        Array.from({ length: Math.ceil(part.length / 65_536) }, (_, i) =>
          part.subarray(i * 65_536, (i + 1) * 65_536),
        ),
      );
    await expect(files.append(id, 0, chunks(data), limits)).rejects.toMatchObject({ code: 'storage_full' });
    const offset = await files.sizeOf(id);
    expect(offset).toBeGreaterThan(MIB);
    expect(offset).toBeLessThan(3 * MIB);
    await rm(filler);
    const from = offset ?? 0;
    expect(await files.append(id, from, chunks(data.subarray(from)), limits)).toBe(data.length);
    expect(await files.sha256Of(id, data.length)).toBe(createHash('sha256').update(data).digest('hex'));
  });
});
