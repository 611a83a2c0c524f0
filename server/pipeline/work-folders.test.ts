import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createWorkFolders } from './work-folders.ts';

describe('work folders', () => {
  let root: string;
  beforeAll(async () => {
    root = await mkdtemp(path.join(tmpdir(), 'reelmend-work-'));
  });
  afterAll(async () => rm(root, { recursive: true, force: true }));

  it('keep the last of several steps that finish at once', async () => {
    const work = createWorkFolders(root);
    await work.open('clip');
    const counts = Array.from({ length: 20 }, (_, i) => i + 1);
    await Promise.all(counts.map((count) => work.keepFinishedSteps('clip', count)));
    expect(await work.finishedSteps('clip')).toBe(20);
  });

  it('say when a folder is gone, and continue counting in others', async () => {
    const work = createWorkFolders(root);
    await work.open('other');
    await expect(work.keepFinishedSteps('gone', 1)).rejects.toThrow('ENOENT');
    await work.keepFinishedSteps('other', 2);
    expect(await work.finishedSteps('other')).toBe(2);
    expect(await work.finishedSteps('gone')).toBe(0);
  });
});
