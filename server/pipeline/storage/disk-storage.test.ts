import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { createDiskStorage, guardSpace } from './disk-storage.ts';
import { describeStorage } from './storage-contract.ts';

const roots: string[] = [];
const newRoot = async () => {
  const root = await mkdtemp(path.join(tmpdir(), 'reelmend-objects-'));
  roots.push(root);
  return root;
};
afterAll(async () => {
  for (const root of roots.splice(0)) await rm(root, { recursive: true, force: true });
});

describeStorage('disk', async () => {
  const root = await newRoot();
  const storage = createDiskStorage(root);
  return {
    storage,
    async spoil(sha256) {
      const { path: file } = await storage.localPath(sha256);
      await writeFile(file, 'spoiled');
    },
  };
});

it('leaves nothing in its temporary folder', async () => {
  const root = await newRoot();
  const storage = createDiskStorage(root);
  await storage.putBuffer(Buffer.from('a'));
  expect(await readdir(path.join(root, 'tmp'))).toEqual([]);
});

it('names a full disk', async () => {
  const full = Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
  await expect(guardSpace(() => Promise.reject(full))).rejects.toMatchObject({ code: 'storage_full' });
});
