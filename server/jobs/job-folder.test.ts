import { mkdir, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Knex } from 'knex';
import { connectDatabase } from '#db/connection.ts';
import { makeFolder } from '#server/test/media-job.ts';
import { createJobFolders, inKeptFolder, sweepJobFolders } from './job-folder.ts';
import type { ClaimedJob, JobOutcome } from './job-queue.ts';
import { JOB_OPTIONS } from './job-types.ts';
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

it('removes at start what killed jobs left, except for jobs that continue', async () => {
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

it('gives a job its folder back unchanged, and other jobs an empty one', async () => {
  const folders = createJobFolders(path.join(folder.path, 'previews'));
  const kept = await folders.kept('a');
  await writeFile(path.join(kept, 'x'), 'x');
  expect(await readdir(await folders.kept('a'))).toEqual(['x']);
  expect(await readdir(await folders.fresh('a'))).toEqual([]);
  await folders.remove('a');
  expect(await readdir(path.join(folder.path, 'previews'))).toEqual([]);
});

describe('the folder of a job', () => {
  const about = { to: 'a@example.test', subject: '', text: '', html: '' };

  /** The content of the folder after one attempt that ends in this way. */
  async function leftBehind(
    end: () => Promise<JobOutcome>,
    { attempt = 1, isCancelled = false } = {},
  ): Promise<string[]> {
    const queue = createTableQueue({ db, now: Date.now });
    const id = await queue.enqueue('send-mail', about, { videoId: 'clip' });
    if (isCancelled) await queue.cancelForVideo('clip');
    const folders = createJobFolders(path.join(folder.path, 'exports'));
    const handler = inKeptFolder(
      { db, folders },
      {
        async run(job) {
          await folders.kept(job.id);
          return end();
        },
        exhausted: async () => undefined,
      },
    );
    const job: ClaimedJob = { id, type: 'send-mail', payload: about, userId: null, videoId: 'clip', attempt };
    await handler.run(job, new AbortController().signal).catch(() => undefined);
    const left = await readdir(path.join(folder.path, 'exports'));
    await handler.exhausted(job);
    expect(await readdir(path.join(folder.path, 'exports'))).not.toContain(id);
    return left.filter((name) => name === id);
  }
  const fails = async (): Promise<JobOutcome> => {
    throw new Error('the disk is away');
  };
  const last = { attempt: JOB_OPTIONS['send-mail'].maxAttempts };

  it('stays when another attempt follows', async () => {
    expect(await leftBehind(async () => ({ kind: 'interrupted' }))).toHaveLength(1);
    expect(await leftBehind(async () => ({ kind: 'waiting', reason: '', forMs: 1 }))).toHaveLength(1);
    expect(await leftBehind(async () => ({ kind: 'failed', error: '', retryable: true }))).toHaveLength(1);
    expect(await leftBehind(fails)).toHaveLength(1);
  });

  it('is removed with a job that has ended or was cancelled', async () => {
    expect(await leftBehind(async () => ({ kind: 'done' }))).toEqual([]);
    expect(await leftBehind(async () => ({ kind: 'failed', error: '', retryable: false }))).toEqual([]);
    expect(await leftBehind(fails, last)).toEqual([]);
    expect(await leftBehind(async () => ({ kind: 'interrupted' }), { isCancelled: true })).toEqual([]);
  });
});
