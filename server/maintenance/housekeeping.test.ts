import { createHash, randomBytes } from 'node:crypto';
import { readdir, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Draft } from '#db/models/draft.ts';
import { Notification } from '#db/models/notification.ts';
import { StoredObject } from '#db/models/stored-object.ts';
import { Upload } from '#db/models/upload.ts';
import { Video } from '#db/models/video.ts';
import type { MediaStorage } from '#server/pipeline/storage/media-storage.ts';
import {
  createNotificationsService,
  type NotificationsService,
} from '#server/notifications/notifications.service.ts';
import { startClipServer, type ClipServer, type TestUser } from '#server/test/clip-server.ts';
import { createHousekeeping, type Housekeeping } from './housekeeping.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

let server: ClipServer;
let user: TestUser;
let housekeeping: Housekeeping;
let notify: NotificationsService['notify'];
const logger = pino({ level: 'silent' });

beforeEach(async () => {
  server = await startClipServer();
  user = await server.newUser('starter');
  const { db, storage, gc, files, locks, complete, work, events, now } = server;
  ({ notify } = createNotificationsService({ db, events, logger, now }));
  housekeeping = createHousekeeping({
    db,
    storage,
    gc,
    files,
    locks,
    complete,
    work,
    events,
    now,
    notify,
    logger,
  });
});
afterEach(async () => server.close());

const sha256 = (data: Buffer) => createHash('sha256').update(data).digest('hex');

/** An upload with all of its bytes, of which nobody told. */
async function arrived(data: Buffer): Promise<string> {
  const { uploadUrl } = await server.uploads.issue(user, { fileName: 'late.mp4', fileSize: data.length }, '');
  const id = uploadUrl.slice(-43);
  await writeFile(server.files.path(id), data);
  await Upload.query(server.db).findById(id).patch({ offsetBytes: data.length });
  return id;
}

async function makeVideo(data: Buffer): Promise<string> {
  const uploadId = await arrived(data);
  return (await server.complete(user, { uploadId, fileName: 'clip.mp4', fileSizeBytes: data.length }))
    .videoId;
}

describe('housekeeping of uploads', () => {
  it('makes the video of an upload whose last answer was lost', async () => {
    const data = randomBytes(500);
    await arrived(data);
    expect(await housekeeping.run()).toMatchObject({ uploadsRegistered: 0 });
    server.clock.offsetMs += 11 * MINUTE_MS;
    expect(await housekeeping.run()).toMatchObject({ uploadsRegistered: 1 });
    const [video] = await Video.query(server.db).where({ userId: user.id });
    expect(video).toMatchObject({ originalFileName: 'late.mp4', originalSha256: sha256(data) });
    expect(await housekeeping.run()).toMatchObject({ uploadsRegistered: 0 });
  });

  it('removes unfinished uploads after seven days, with their bytes', async () => {
    const { uploadUrl } = await server.uploads.issue(user, { fileName: 'a.mp4', fileSize: 100 }, '');
    const id = uploadUrl.slice(-43);
    server.clock.offsetMs += 7 * DAY_MS - MINUTE_MS;
    expect(await housekeeping.run()).toMatchObject({ uploadsExpired: 0 });
    server.clock.offsetMs += 2 * MINUTE_MS;
    expect(await housekeeping.run()).toMatchObject({ uploadsExpired: 1 });
    expect((await Upload.query(server.db).findById(id))?.state).toBe('discarded');
    expect(await readdir(path.join(server.dataDir, 'uploads'))).toEqual([]);
  });

  it('removes stray files but no file of an unfinished upload', async () => {
    const { uploadUrl } = await server.uploads.issue(user, { fileName: 'a.mp4' }, '');
    const stray = 'S'.repeat(43);
    const past = new Date(Date.now() - 2 * 60 * MINUTE_MS);
    await writeFile(server.files.path(stray), 'left over');
    for (const id of [stray, uploadUrl.slice(-43)]) await utimes(server.files.path(id), past, past);
    expect(await housekeeping.run()).toMatchObject({ strayFiles: 1 });
    expect(await readdir(path.join(server.dataDir, 'uploads'))).toEqual([uploadUrl.slice(-43)]);
  });
});

describe('housekeeping of drafts', () => {
  it('announces the end three days before, once, and removes the draft but never the video', async () => {
    const data = randomBytes(300);
    const videoId = await makeVideo(data);
    server.clock.offsetMs += 4 * DAY_MS + MINUTE_MS;
    expect(await housekeeping.run()).toMatchObject({ draftsNoticed: 1, draftsExpired: 0 });
    expect(await housekeeping.run()).toMatchObject({ draftsNoticed: 0 });
    const notices = await Notification.query(server.db).where({ userId: user.id, kind: 'draft_expiry' });
    expect(notices).toMatchObject([{ body: expect.stringContaining('clip.mp4') }]);
    server.clock.offsetMs += 3 * DAY_MS;
    expect(await housekeeping.run()).toMatchObject({ draftsExpired: 1 });
    expect(await Draft.query(server.db).resultSize()).toBe(0);
    expect(await Video.query(server.db).findById(videoId)).toBeDefined();
    expect((await server.storage.read(sha256(data))).equals(data)).toBe(true);
  });

  it('removes the bytes with the last thing that refers to them', async () => {
    const data = randomBytes(300);
    const videoId = await makeVideo(data);
    server.clock.offsetMs += 10 * MINUTE_MS;
    await server.videos.remove(user, videoId);
    expect(await server.storage.stat(sha256(data))).not.toBeNull();
    server.clock.offsetMs += 8 * DAY_MS;
    await housekeeping.run();
    expect(await server.storage.stat(sha256(data))).toBeNull();
    expect(await StoredObject.query(server.db).resultSize()).toBe(0);
  });
});

describe('housekeeping of objects', () => {
  it('removes objects that nothing refers to when they are a day old, not before', async () => {
    const { sha256: orphan } = await server.storage.putBuffer(randomBytes(100));
    const kept = randomBytes(200);
    await makeVideo(kept);
    expect(await housekeeping.run()).toMatchObject({ objects: 0 });
    server.clock.offsetMs += 25 * 60 * MINUTE_MS;
    expect(await housekeeping.run()).toMatchObject({ objects: 1 });
    expect(await server.storage.stat(orphan)).toBeNull();
    expect(await server.storage.stat(sha256(kept))).not.toBeNull();
  });

  it('finds changed bytes, marks the draft, and lifts the mark when the same content comes again', async () => {
    const data = randomBytes(400);
    await makeVideo(data);
    const { path: file } = await server.storage.localPath(sha256(data));
    const flipped = Buffer.from(data);
    flipped[100] = (flipped[100] ?? 0) ^ 1;
    await writeFile(file, flipped);
    const told: unknown[] = [];
    server.events.on('draft.changed', (fact) => told.push(fact));
    server.clock.offsetMs += 25 * 60 * MINUTE_MS;
    expect(await housekeeping.run()).toMatchObject({ damaged: 1 });
    expect((await server.drafts.list(user))[0]).toMatchObject({ integrity: 'damaged' });
    expect(told).toHaveLength(1);
    const notices = () => Notification.query(server.db).where({ userId: user.id, kind: 'draft_damaged' });
    expect(await notices()).toMatchObject([{ link: '/drafts', body: expect.stringContaining('clip.mp4') }]);
    await makeVideo(data);
    expect((await server.drafts.list(user)).map((draft) => draft.integrity)).toEqual(['ok', 'ok']);
    server.clock.offsetMs += 25 * 60 * MINUTE_MS;
    expect(await housekeeping.run()).toMatchObject({ damaged: 0 });
  });
});

describe('objects on a failing disk', () => {
  it('are marked, and do not keep the others from being read again', async () => {
    const [lost, whole] = [randomBytes(400), randomBytes(300)];
    for (const data of [lost, whole]) await makeVideo(data);
    const { db, gc, files, locks, complete, work, events, now } = server;
    const storage: MediaStorage = {
      ...server.storage,
      async verify(key) {
        if (key === sha256(lost)) throw Object.assign(new Error('i/o error'), { code: 'EIO' });
        return server.storage.verify(key);
      },
    };
    const parts = { db, storage, gc, files, locks, complete, work, events, now, notify };
    server.clock.offsetMs += 25 * 60 * MINUTE_MS;
    const done = await createHousekeeping({ ...parts, logger }).run();
    expect(done).toMatchObject({ scrubbed: 2, damaged: 1 });
    expect(await StoredObject.query(db).findById(sha256(lost))).toMatchObject({ damaged: true });
  });
});

describe('housekeeping of work folders', () => {
  it('removes those of videos that are gone or finished and keeps those at work', async () => {
    const videoId = await makeVideo(randomBytes(50));
    await server.work.open(videoId);
    await server.work.open('of-a-deleted-video');
    expect(await housekeeping.run()).toMatchObject({ workFolders: 1 });
    expect(await server.work.list()).toEqual([videoId]);
  });
});

it('does all other parts where one fails', async () => {
  await makeVideo(randomBytes(50));
  await arrived(randomBytes(60));
  server.clock.offsetMs += 8 * DAY_MS;
  const { db, storage, gc, files, locks, work, events, now } = server;
  const complete = () => Promise.reject(new Error('this upload cannot be read'));
  const parts = { db, storage, gc, files, locks, complete, work, events, now, notify };
  await Upload.query(db).patch({ expiresAt: now() + DAY_MS });
  const done = await createHousekeeping({ ...parts, logger }).run();
  expect(done).toMatchObject({ uploadsRegistered: 0, draftsExpired: 1, scrubbed: 1 });
});
