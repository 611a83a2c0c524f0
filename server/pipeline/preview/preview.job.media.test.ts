import { readdir } from 'node:fs/promises';
import path from 'node:path';
import type { Knex } from 'knex';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { newId } from '#db/base-model.ts';
import { connectDatabase } from '#db/connection.ts';
import { VersionPreview } from '#db/models/version-preview.ts';
import { Video } from '#db/models/video.ts';
import type { ClaimedJob } from '#server/jobs/job-queue.ts';
import type { JobHandler } from '#server/jobs/job-runner.ts';
import { JOB_PAYLOADS } from '#server/jobs/job-types.ts';
import { createDiskStorage } from '#server/pipeline/storage/disk-storage.ts';
import type { MediaStorage, StoredFile } from '#server/pipeline/storage/media-storage.ts';
import { makeMovingClip } from '#server/test/broken-clips.ts';
import { createUser } from '#server/test/factories.ts';
import { FAKE_MEDIA, fakeReport, suppressedWind } from '#server/test/fake-report.ts';
import { insertFinishedVideo } from '#server/test/finished-video.ts';
import { makeFolder, processesNaming, testTools as tools } from '#server/test/media-job.ts';
import { createPreviewJob } from './preview.job.ts';

const SECONDS = 8;
const WIND = suppressedWind(SECONDS);

let folder: Awaited<ReturnType<typeof makeFolder>>;
let db: Knex;
let storage: MediaStorage;
let clip: StoredFile;
let handler: JobHandler;

beforeAll(async () => {
  folder = await makeFolder();
  db = connectDatabase({ databaseUrl: null, sqlitePath: path.join(folder.path, 'reelmend.sqlite') });
  await db.migrate.latest();
  storage = createDiskStorage(path.join(folder.path, 'objects'));
  const file = path.join(folder.path, 'clip.mp4');
  await makeMovingClip({ tools, outputPath: file, seconds: SECONDS, fps: 10, width: 480, height: 272 });
  clip = await storage.put(file);
});
beforeEach(() => {
  const silent = () => undefined;
  handler = createPreviewJob({
    db,
    storage,
    tools,
    threads: 1,
    folder: path.join(folder.path, 'previews'),
    logger: { info: silent, warn: silent, error: silent },
    now: Date.now,
  });
});
afterAll(async () => {
  await db.destroy();
  await folder.remove();
});

/** A video whose result is the clip itself, with a request for its comparison. */
async function wish(original: StoredFile = clip): Promise<{ videoId: string; job: ClaimedJob }> {
  const user = await createUser(db);
  const media = { ...FAKE_MEDIA, durationMs: SECONDS * 1000 };
  const file = { sha256: clip.sha256, sizeBytes: clip.sizeBytes, media };
  const report = fakeReport({ defects: [WIND], original: file, result: file });
  const text = await storage.putBuffer(Buffer.from(JSON.stringify(report)));
  const at = Date.now();
  const { videoId, versionId } = await db.transaction(async (trx) => {
    const stored = { userId: user.id, original, result: clip, report: text, at };
    const made = await insertFinishedVideo(trx, stored);
    const { versionId: id } = made;
    await VersionPreview.query(trx).insert({ versionId: id, state: 'waiting', createdAt: at, updatedAt: at });
    return made;
  });
  const job = { id: newId(), type: 'make-preview', payload: { versionId }, attempt: 1 } as const;
  return { videoId, job: { ...job, userId: user.id, videoId } };
}

const rowOf = async ({ payload }: ClaimedJob) =>
  VersionPreview.query(db).findById(JOB_PAYLOADS['make-preview'].parse(payload).versionId);
const never = () => new AbortController().signal;

describe('the job that makes a comparison', () => {
  it('makes it, stores it and leaves nothing behind; a second run changes nothing', async () => {
    const { job } = await wish();
    expect(await handler.run(job, never())).toEqual({ kind: 'done' });
    const row = await rowOf(job);
    expect(row).toMatchObject({ state: 'ready', progress: 100, message: null });
    expect((await storage.stat(row?.sha256 ?? ''))?.sizeBytes).toBeGreaterThan(10_000);
    expect(await readdir(path.join(folder.path, 'previews'))).toEqual([]);
    expect(await handler.run(job, never())).toEqual({ kind: 'done' });
    expect((await rowOf(job))?.updatedAt).toBe(row?.updatedAt);
  });

  it('stops at once when the process stops, leaves no child process, and is done by the next run', async () => {
    const { job } = await wish();
    const stop = new AbortController();
    const running = handler.run(job, stop.signal);
    const here = path.join(folder.path, 'previews');
    await expect.poll(() => processesNaming(here), { timeout: 20_000 }).not.toEqual([]);
    stop.abort();
    expect(await running).toEqual({ kind: 'interrupted' });
    expect(await processesNaming(here)).toEqual([]);
    expect((await rowOf(job))?.state).toBe('making');
    expect(await handler.run(job, never())).toEqual({ kind: 'done' });
    expect((await rowOf(job))?.state).toBe('ready');
  });

  it('writes nothing for a video that was deleted meanwhile', async () => {
    const { videoId, job } = await wish();
    await Video.query(db).deleteById(videoId);
    expect(await handler.run(job, never())).toEqual({ kind: 'done' });
    expect(await rowOf(job)).toBeUndefined();
  });

  it('says in a sentence when the original cannot be played, and does not retry', async () => {
    const { job } = await wish(await storage.putBuffer(Buffer.from('no video at all')));
    expect(await handler.run(job, never())).toMatchObject({ kind: 'failed', retryable: false });
    expect(await rowOf(job)).toMatchObject({
      state: 'failed',
      message: 'The original cannot be played, so there is nothing to compare the result with.',
    });
  });

  it('is retried when the file cannot be read, and given up with a sentence after the last time', async () => {
    const { job } = await wish({ sha256: 'e'.repeat(64), sizeBytes: 9 });
    await expect(handler.run(job, never())).rejects.toThrow();
    expect((await rowOf(job))?.state).toBe('making');
    expect(await handler.run({ ...job, attempt: 3 }, never())).toMatchObject({ kind: 'failed' });
    expect((await rowOf(job))?.message).toMatch(/The mended video itself is not affected/);
    const other = await wish();
    await handler.exhausted(other.job);
    expect(await rowOf(other.job)).toMatchObject({
      state: 'failed',
      message: 'The comparison was interrupted too many times. Please try again later.',
    });
  });
});
