import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
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

it('removes what a killed process was writing an hour ago, but nothing that is being written', async () => {
  const root = await newRoot();
  const folder = path.join(root, 'tmp');
  await mkdir(folder);
  for (const name of ['old', 'new']) await writeFile(path.join(folder, name), 'half a file');
  const past = new Date(Date.now() - 2 * 3600_000);
  await utimes(path.join(folder, 'old'), past, past);
  await createDiskStorage(root).putBuffer(Buffer.from('a'));
  expect(await readdir(folder)).toEqual(['new']);
});

it('reports a full disk', async () => {
  const full = Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
  await expect(guardSpace(() => Promise.reject(full))).rejects.toMatchObject({ code: 'storage_full' });
});
