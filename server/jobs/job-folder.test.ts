import { mkdir, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Knex } from 'knex';
import { connectDatabase } from '#db/connection.ts';
import { makeFolder } from '#server/test/media-job.ts';
import { createJobFolders, leaveJobFolder, sweepJobFolders } from './job-folder.ts';
import { createTableQueue } from './table-queue.ts';

let folder: Awaited<ReturnType<typeof makeFolder>>;
let db: Knex;

beforeAll(async () => {
  folder = await makeFolder();
  db = connectDatabase({ databaseUrl: null, sqlitePath: path.join(folder.path, 'reelmend.sqlite') });
  await db.migrate.latest();
});
afterAll(async () => {
  await db.destroy();
  await folder.remove();
});

it('removes at start what killed jobs left, but for jobs that go on', async () => {
  const queue = createTableQueue({ db, now: Date.now });
  const goingOn = await queue.enqueue('send-mail', { to: 'a@example.test', subject: '', text: '', html: '' });
  const folders = createJobFolders(path.join(folder.path, 'fixes'));
  await writeFile(path.join(await folders.kept(goingOn), 'piece.mp4'), 'piece');
  await writeFile(path.join(await folders.kept('of-a-finished-job'), 'piece.mp4'), 'piece');
  await folders.fresh();
  const frames = path.join(folder.path, 'frames');
  await mkdir(frames);
  await writeFile(path.join(frames, 'half.jpg'), 'half');

  expect(await sweepJobFolders(db, folder.path)).toBe(3);
  expect(await readdir(path.join(folder.path, 'fixes'))).toEqual([goingOn]);
  expect(await readdir(path.join(folder.path, 'fixes', goingOn))).toEqual(['piece.mp4']);
  expect(await readdir(frames)).toEqual([]);
});

it('gives a job its folder again as it was, and others an empty one', async () => {
  const folders = createJobFolders(path.join(folder.path, 'previews'));
  const kept = await folders.kept('a');
  await writeFile(path.join(kept, 'x'), 'x');
  expect(await readdir(await folders.kept('a'))).toEqual(['x']);
  expect(await readdir(await folders.fresh('a'))).toEqual([]);
  await folders.remove('a');
  expect(await readdir(path.join(folder.path, 'previews'))).toEqual([]);
});

it('keeps the folder of a job that stops in the middle, and removes that of a cancelled one', async () => {
  const queue = createTableQueue({ db, now: Date.now });
  const about = { to: 'a@example.test', subject: '', text: '', html: '' };
  const [stopped, cancelled] = [
    await queue.enqueue('send-mail', about, { videoId: 'stopped' }),
    await queue.enqueue('send-mail', about, { videoId: 'cancelled' }),
  ];
  await queue.cancelForVideo('cancelled');
  const folders = createJobFolders(path.join(folder.path, 'exports'));
  for (const id of [stopped, cancelled, 'forgotten']) {
    await folders.kept(id);
    await leaveJobFolder(db, folders, id);
  }
  expect(await readdir(path.join(folder.path, 'exports'))).toEqual([stopped]);
});
