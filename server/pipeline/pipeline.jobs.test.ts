import { createHash, randomBytes } from 'node:crypto';
import { readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { StoredObject } from '#db/models/stored-object.ts';
import { UsageUnit } from '#db/models/usage-unit.ts';
import { Video } from '#db/models/video.ts';
import { Job } from '#db/models/job.ts';
import type { MediaPool } from '#server/jobs/media-pool.ts';
import { startClipServer, type ClipServer, type TestUser } from '#server/test/clip-server.ts';
import { fakeResult } from '#server/test/fake-result.ts';
import type { MediaFailureCode, ProcessVideoResult } from './worker-protocol.ts';

let server: ClipServer;
afterEach(async () => server.close());

const failure = (code: MediaFailureCode, message: string): ProcessVideoResult => ({
  ok: false,
  code,
  message,
  detail: 'for the log',
});

async function start(process: MediaPool['run']): Promise<TestUser> {
  server = await startClipServer({ process });
  return server.newUser('starter');
}

/**
 * Uploads bytes through the real calls.
 * @returns the video's id
 */
async function upload(user: TestUser, data: Buffer): Promise<string> {
  const { uploadUrl } = await server.uploads.issue(user, undefined, '');
  const id = uploadUrl.slice(-43);
  await writeFile(server.files.path(id), data);
  const { videoId } = await server.complete(user, {
    uploadId: id,
    fileName: 'clip.mp4',
    fileSizeBytes: data.length,
  });
  return videoId;
}

const video = (id: string) => Video.query(server.db).findById(id).withGraphFetched('currentVersion');
const statusOf = async (id: string) => (await video(id))?.status;
const workFolders = () => readdir(path.join(server.dataDir, 'work')).catch(() => []);
const untilAborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });

describe('process-video job', () => {
  it('publishes the result, its poster, captions and report, and clears the work folder', async () => {
    const mended = randomBytes(4000);
    const user = await start(async (task, { onMessage }) => {
      onMessage({ type: 'progress', step: 'fixing_cuts', share: 0.4, remainingSeconds: 9.2 });
      return fakeResult(task, mended);
    });
    const completed: string[] = [];
    server.events.on('video.completed', ({ videoId }) => completed.push(videoId));
    const original = randomBytes(3000);
    const id = await upload(user, original);
    await expect.poll(() => statusOf(id)).toBe('completed');
    const row = await video(id);
    expect(row).toMatchObject({
      progress: 100,
      currentStep: null,
      errorMessage: null,
      width: 1280,
      durationMs: 8000,
    });
    expect(row?.fixesApplied).toEqual({ stutteredCuts: 2, windNoise: true });
    expect(await server.storage.read(row?.currentVersion?.sha256 ?? '')).toEqual(mended);
    expect(await server.storage.read(row?.originalSha256 ?? '')).toEqual(original);
    expect(completed).toEqual([id]);
    await expect.poll(workFolders).toEqual([]);
    expect(await StoredObject.query(server.db).resultSize()).toBe(5);
  });

  it('stores its result again when the same bytes are already stored: they may be damaged, or about to be removed', async () => {
    const mended = randomBytes(4000);
    const user = await start((task) => fakeResult(task, mended));
    const { sha256 } = await server.storage.putBuffer(mended);
    await writeFile((await server.storage.localPath(sha256)).path, randomBytes(4000));
    const beforeMs = Date.now();
    const id = await upload(user, randomBytes(3000));
    await expect.poll(() => statusOf(id)).toBe('completed');
    expect(await server.storage.read(sha256)).toEqual(mended);
    expect(await server.storage.remove(sha256, beforeMs)).toBe(false);
  });

  it('uses the original of an unchanged clip, without a copy', async () => {
    const user = await start((task) => fakeResult(task, null));
    const id = await upload(user, randomBytes(3000));
    await expect.poll(() => statusOf(id)).toBe('completed');
    const row = await video(id);
    expect(row?.currentVersion?.sha256).toBe(row?.originalSha256);
  });

  it('passes measured progress on, at most about twice a second, in rising versions', async () => {
    const user = await start(async (task, { onMessage }) => {
      for (let share = 0; share < 1; share += 0.01) {
        onMessage({ type: 'progress', step: 'analyzing', share, remainingSeconds: 5 });
        await new Promise((resolve) => {
          setTimeout(resolve, 10);
        });
      }
      return fakeResult(task, null);
    });
    const seen: { version: number; progress: number }[] = [];
    server.events.on('video.changed', ({ videoId }) => {
      void video(videoId).then((row) => row && seen.push({ version: row.version, progress: row.progress }));
    });
    const id = await upload(user, randomBytes(100));
    await expect.poll(() => statusOf(id)).toBe('completed');
    expect(seen.length).toBeGreaterThan(2);
    expect(seen.length).toBeLessThan(10);
    const versions = seen.map((news) => news.version);
    expect(versions).toEqual([...versions].sort((a, b) => a - b));
    const progress = seen.map((news) => news.progress);
    expect(progress).toEqual([...progress].sort((a, b) => a - b));
  });

  it('waits on a full disk, says so, and continues without using up an attempt when there is room', async () => {
    let rounds = 0;
    let room = false;
    const user = await start(async (task) => {
      rounds += 1;
      return room ? fakeResult(task, null) : failure('storage_full', 'There is no room left.');
    });
    const id = await upload(user, randomBytes(100));
    await expect.poll(() => rounds).toBeGreaterThan(4);
    await expect.poll(async () => (await video(id))?.errorMessage).toContain('no room left');
    expect(await statusOf(id)).toBe('processing');
    room = true;
    await expect.poll(() => statusOf(id)).toBe('completed');
    expect((await video(id))?.errorMessage).toBeNull();
  });

  it("reports a clip's own failure at once, in a sentence, and gives the unit back", async () => {
    let runs = 0;
    const user = await start(async (_task, { onMessage }) => {
      runs += 1;
      onMessage({ type: 'steps', steps: [{ step: 'analyzing', state: 'running', tookMs: null, note: '' }] });
      return failure('not_a_video', 'This file is not a video we can read.');
    });
    const id = await upload(user, randomBytes(100));
    await expect.poll(() => statusOf(id)).toBe('failed');
    expect(await video(id)).toMatchObject({
      errorCode: 'not_a_video',
      errorMessage: 'This file is not a video we can read.',
      steps: [{ step: 'analyzing', state: 'failed' }],
    });
    expect(runs).toBe(1);
    expect(await UsageUnit.query(server.db).findOne({ videoId: id })).toMatchObject({
      releasedAt: expect.any(Number),
    });
    expect((await server.quota.read(user.id)).used).toBe(0);
  });

  it('retries our own failures three times', async () => {
    let runs = 0;
    const user = await start(async () => {
      runs += 1;
      return failure('stalled', 'The repair stopped making progress.');
    });
    const id = await upload(user, randomBytes(100));
    for (const round of [1, 2, 3]) {
      await expect.poll(() => runs).toBe(round);
      if (round === 3) break;
      // The wait for the next attempt is written when this one is over.
      const waiting = Job.query(server.db).where({ videoId: id, state: 'queued', attempts: round });
      await expect.poll(() => waiting.clone().patch({ runAfter: 0 })).toBe(1);
    }
    await expect.poll(() => statusOf(id)).toBe('failed');
    expect((await video(id))?.errorMessage).toBe('The repair stopped making progress.');
  });

  it('gives up on a video that killed its process three times, and says so', async () => {
    const user = await start((task) => fakeResult(task, null));
    await server.runner?.drain(0);
    const id = await upload(user, randomBytes(100));
    for (const round of [1, 2, 3]) {
      expect(await server.queue.claim(`killed${round}`, ['process-video'])).toMatchObject({ attempt: round });
      if (round < 3) await server.queue.recover(0);
    }
    const next = await startClipServer({
      process: (task) => fakeResult(task, null),
      database: { databaseUrl: null, sqlitePath: path.join(server.dataDir, 'reelmend.sqlite') },
    });
    try {
      expect(await video(id)).toMatchObject({
        status: 'failed',
        errorMessage: 'Processing was interrupted too many times.',
      });
    } finally {
      await next.close();
    }
  });

  it('does not give up on a video that gets further with every interrupted attempt', async () => {
    const user = await start((task) => fakeResult(task, null));
    await server.runner?.drain(0);
    const id = await upload(user, randomBytes(100));
    for (let round = 1; round <= 6; round += 1) {
      const job = await server.queue.claim(`killed${round}`, ['process-video']);
      expect(job).not.toBeNull();
      await server.queue.madeHeadway(job?.id ?? '');
      await server.queue.recover(0);
    }
    const next = await startClipServer({
      process: (task) => fakeResult(task, null),
      database: { databaseUrl: null, sqlitePath: path.join(server.dataDir, 'reelmend.sqlite') },
    });
    try {
      // The files are in the first server's folder, so the other one can only say that they are gone, which shows that
      // it took the job.
      await expect.poll(() => statusOf(id)).toBe('failed');
      expect((await video(id))?.errorMessage).toBe('The stored file is no longer available.');
    } finally {
      await next.close();
    }
  });

  it('records the headway of a running attempt', async () => {
    let jobAttempts: number | undefined;
    const user = await start(async (task, { onMessage }) => {
      await Job.query(server.db).where({ videoId: task.videoId }).patch({ attempts: 3 });
      onMessage({ type: 'steps', steps: [{ step: 'analyzing', state: 'done', tookMs: 5, note: '' }] });
      await expect.poll(() => server.work.finishedSteps(task.videoId)).toBe(1);
      await expect
        .poll(async () => {
          jobAttempts = (await Job.query(server.db).findOne({ videoId: task.videoId }))?.attempts;
          return jobAttempts;
        })
        .toBe(1);
      return fakeResult(task, null);
    });
    const id = await upload(user, randomBytes(100));
    await expect.poll(() => statusOf(id)).toBe('completed');
    expect(jobAttempts).toBe(1);
  });

  it('stops within two seconds when the video is deleted, and leaves no file of it', async () => {
    let stoppedAt = 0;
    const user = await start(async (task, _handlers, signal) => {
      await writeFile(path.join(task.workDir, 'half.mp4'), randomBytes(1000));
      await untilAborted(signal);
      stoppedAt = performance.now();
      return failure('cancelled', 'Processing was cancelled.');
    });
    const id = await upload(user, randomBytes(100));
    await expect.poll(workFolders).toEqual([id]);
    const deletedAt = performance.now();
    await server.videos.remove(user, id);
    await expect.poll(() => stoppedAt).toBeGreaterThan(0);
    expect(stoppedAt - deletedAt).toBeLessThan(2000);
    await expect.poll(workFolders).toEqual([]);
    expect(await video(id)).toBeUndefined();
    expect((await Job.query(server.db).findOne({ videoId: id }))?.state).toBe('cancelled');
  });

  it('does not publish the late result of a deleted video', async () => {
    let release: () => void = () => undefined;
    const user = await start(async (task) => {
      await new Promise<void>((resolve) => {
        release = resolve;
      });
      return fakeResult(task, randomBytes(100));
    });
    const id = await upload(user, randomBytes(100));
    await expect.poll(workFolders).toEqual([id]);
    await server.videos.remove(user, id);
    release();
    await expect.poll(() => server.runner?.running()).toBe(0);
    expect(await video(id)).toBeUndefined();
    expect(await workFolders()).toEqual([]);
  });

  it('publishes a finished result after a kill without repeating the work', async () => {
    let runs = 0;
    const user = await start(async (task) => {
      runs += 1;
      return fakeResult(task, randomBytes(50));
    });
    const id = await upload(user, randomBytes(100));
    await expect.poll(() => statusOf(id)).toBe('completed');
    // The video as a kill would leave it: processing again, the result kept, its file already moved.
    const row = await video(id);
    const workDir = await server.work.open(id);
    const kept = await fakeResult(
      {
        kind: 'process-video',
        videoId: id,
        inputPath: (await server.storage.localPath(row?.originalSha256 ?? '')).path,
        inputSha256: row?.originalSha256 ?? '',
        workDir,
        tools: { ffmpeg: '', ffprobe: '' },
        limits: { threads: 1, preset: 'veryfast', maxEncodePixels: 1, maxDurationMs: 1, maxPictures: 1 },
        reelmendVersion: '',
        referencePaths: [],
      },
      Buffer.from('finished before the kill'),
    );
    await server.work.keepResult(id, kept);
    await server.storage.put(path.join(workDir, 'result.mp4'));
    await Video.query(server.db).findById(id).patch({ status: 'processing' });
    await server.queue.enqueue('process-video', { videoId: id }, { videoId: id });
    await expect.poll(() => statusOf(id)).toBe('completed');
    expect(runs).toBe(1);
    expect((await video(id))?.currentVersion?.sha256).toBe(
      createHash('sha256').update('finished before the kill').digest('hex'),
    );
  });

  it('says when the stored original is gone', async () => {
    const user = await start((task) => fakeResult(task, null));
    await server.runner?.drain(0);
    const id = await upload(user, randomBytes(100));
    await rm(path.join(server.dataDir, 'objects'), { recursive: true });
    const other = await startClipServer({
      process: (task) => fakeResult(task, null),
      database: { databaseUrl: null, sqlitePath: path.join(server.dataDir, 'reelmend.sqlite') },
    });
    try {
      await expect.poll(() => statusOf(id)).toBe('failed');
      expect((await video(id))?.errorMessage).toBe('The stored file is no longer available.');
    } finally {
      await other.close();
    }
  });
});
