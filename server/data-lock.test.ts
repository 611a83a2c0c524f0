import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DataDirInUse, lockDataDir } from './data-lock.ts';

const TIMES = 20;
const TOGETHER = 5;

describe('the lock of a data folder', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'reelmend-lock-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it('is held by one of several servers that start together, also over a lock that a killed server left', async () => {
    for (let time = 0; time < TIMES; time += 1) {
      // Nobody listens on it, as after a kill.
      await writeFile(path.join(folder, 'server.lock'), '');
      const tries = await Promise.allSettled(Array.from({ length: TOGETHER }, () => lockDataDir(folder)));
      const held = tries.filter((one) => one.status === 'fulfilled');
      expect(held).toHaveLength(1);
      for (const one of tries) if (one.status === 'rejected') expect(one.reason).toBeInstanceOf(DataDirInUse);
      await held[0]?.value();
    }
    expect((await readdir(folder)).filter((name) => name.endsWith('.taking'))).toEqual([]);
  });

  it('is acquired when a process was killed while acquiring it', async () => {
    const mark = path.join(folder, 'server.lock.taking');
    await writeFile(mark, '');
    const past = new Date(Date.now() - 60_000);
    await utimes(mark, past, past);
    const unlock = await lockDataDir(folder);
    await expect(lockDataDir(folder)).rejects.toBeInstanceOf(DataDirInUse);
    await unlock();
    await (
      await lockDataDir(folder)
    )();
    expect(await readdir(folder)).toEqual([]);
  });
});
