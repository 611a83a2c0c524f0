import { mkdir, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Draft } from '#db/models/draft.ts';
import { Video } from '#db/models/video.ts';
import { AppError } from '#server/errors.ts';
import type { MediaStorage } from '#server/pipeline/storage/media-storage.ts';
import { createDraftExpiry } from '#server/plans/draft-retention.ts';
import { startClipServer, type ClipServer } from '#server/test/clip-server.ts';
import { SAMPLE_RECIPE } from './make-sample-clip.ts';
import { createMakeSample, createSampleClip, type MakeSample } from './sample.service.ts';

describe('makeSample', () => {
  let server: ClipServer;
  let makeSample: MakeSample;
  let folder: string;

  beforeAll(async () => {
    server = await startClipServer();
    folder = path.join(server.dataDir, 'sample');
    await mkdir(folder);
    await writeFile(path.join(folder, `sample-${SAMPLE_RECIPE}.mp4`), 'a clip that was made before');
    const { db, storage, queue, quota, events, now } = server;
    const clip = createSampleClip({ ffmpeg: '/nowhere', ffprobe: '/nowhere' }, folder);
    const draftExpiry = createDraftExpiry(null);
    makeSample = createMakeSample({ db, storage, queue, quota, draftExpiry, events, now, clip });
  });
  afterAll(async () => server.close());

  it('gives each account its own video, which is neither counted nor backed up', async () => {
    const user = await server.newUser('starter');
    const { videoId } = await makeSample(user);
    expect(await Video.query(server.db).findById(videoId)).toMatchObject({
      userId: user.id,
      isSample: true,
      status: 'processing',
    });
    expect((await server.quota.read(user.id)).used).toBe(0);
    expect(await Draft.query(server.db).where({ userId: user.id }).resultSize()).toBe(0);
    expect(await server.queue.positionOfVideo(videoId)).toBe(0);
    const other = await makeSample(await server.newUser());
    expect(other.videoId).not.toBe(videoId);
    expect(await readdir(folder)).toEqual([`sample-${SAMPLE_RECIPE}.mp4`]);
  });

  it('leaves no copy behind when there is no room for it', async () => {
    const { db, queue, quota, events, now } = server;
    const storage: MediaStorage = {
      ...server.storage,
      put: () => Promise.reject(new AppError('storage_full')),
    };
    const clip = createSampleClip({ ffmpeg: '/nowhere', ffprobe: '/nowhere' }, folder);
    const draftExpiry = createDraftExpiry(null);
    const make = createMakeSample({ db, storage, queue, quota, draftExpiry, events, now, clip });
    await expect(make(await server.newUser())).rejects.toMatchObject({ code: 'storage_full' });
    expect(await readdir(folder)).toEqual([`sample-${SAMPLE_RECIPE}.mp4`]);
  });

  it('asks to come back, and leaves nothing behind, while the clip is still being made', async () => {
    const { db, storage, queue, quota, events, now } = server;
    const made = createSampleClip({ ffmpeg: '/nowhere', ffprobe: '/nowhere' }, folder);
    let isMade = false;
    const clip = { ...made, ready: () => (isMade ? made.ready() : new Promise<string>(() => {})) };
    const draftExpiry = createDraftExpiry(null);
    const waitMs = 5;
    const make = createMakeSample({ db, storage, queue, quota, draftExpiry, events, now, clip, waitMs });
    const user = await server.newUser();
    await expect(make(user)).rejects.toMatchObject({ code: 'unavailable', retryAfterSeconds: 3 });
    expect(await Video.query(db).where({ userId: user.id }).resultSize()).toBe(0);
    isMade = true;
    await expect(make(user)).resolves.toMatchObject({ videoId: expect.any(String) });
    expect(await readdir(folder)).toEqual([`sample-${SAMPLE_RECIPE}.mp4`]);
  });

  it('makes at most one in ten minutes, however often it is asked', async () => {
    const user = await server.newUser();
    const made = await Promise.all(Array.from({ length: 8 }, () => makeSample(user)));
    expect(new Set(made.map((video) => video.videoId)).size).toBe(1);
    server.clock.offsetMs += 10 * 60_000 + 1;
    expect((await makeSample(user)).videoId).not.toBe(made[0]?.videoId);
  });
});
