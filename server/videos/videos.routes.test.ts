import { randomBytes } from 'node:crypto';
import { readdir, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { draftsApi } from '#common/api/drafts.ts';
import { statsDto, videoDto, videosApi } from '#common/api/videos.ts';
import { Draft } from '#db/models/draft.ts';
import { StoredObject } from '#db/models/stored-object.ts';
import { Video } from '#db/models/video.ts';
import { startClipServer, type ClipServer, type TestUser } from '#server/test/clip-server.ts';
import { fakeResult } from '#server/test/fake-result.ts';

const MENDED = randomBytes(300_000);
const UNREADABLE = Buffer.from('this is no video');

let server: ClipServer;
let owner: TestUser;
let stranger: TestUser;

beforeAll(async () => {
  server = await startClipServer({
    async process(task) {
      const input = await server.storage.read(task.inputSha256);
      if (!input.equals(UNREADABLE)) return fakeResult(task, MENDED);
      return { ok: false, code: 'not_a_video', message: 'This file is not a video we can read.', detail: '' };
    },
  });
  owner = await server.newUser();
  stranger = await server.newUser();
});
afterAll(async () => server.close());

interface CallOptions {
  readonly user?: TestUser | null;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

function call(method: string, route: string, { user = owner, body, headers }: CallOptions = {}) {
  return fetch(server.url + route, {
    method,
    headers: {
      ...user?.headers,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

const json = async (answer: Promise<Response>): Promise<unknown> => (await answer).json();

async function upload(user: TestUser, data: Buffer, fileName = 'clip.mp4'): Promise<string> {
  const { uploadUrl } = await server.uploads.issue(user, undefined, '');
  const uploadId = uploadUrl.slice(-43);
  await writeFile(server.files.path(uploadId), data);
  return (await server.complete(user, { uploadId, fileName, fileSizeBytes: data.length })).videoId;
}

async function finished(
  user: TestUser,
  data: Buffer = randomBytes(1000),
  fileName?: string,
): Promise<string> {
  const id = await upload(user, data, fileName);
  await expect.poll(async () => (await Video.query(server.db).findById(id))?.status).not.toBe('processing');
  return id;
}

/** A video deleted before any work was done on it, so its unit is given back. */
async function deletedEarly(user: TestUser): Promise<string> {
  const id = await finished(user, randomBytes(60));
  await server.videos.remove(user, id);
  await server.quota.release(id);
  return id;
}

const list = async (user: TestUser) =>
  videosApi.list.response.parse(await json(call('GET', '/api/videos', { user })));

describe('every call on a video', () => {
  it('is 401 for the signed-out, 404 for strangers, and the same 404 for ids that do not exist', async () => {
    const id = await finished(owner);
    const routes: [string, string, unknown?][] = [
      ['GET', '/status'],
      ['PUT', '/rename', { fileName: 'x' }],
      ['DELETE', ''],
      ['POST', '/retry'],
      ['GET', '/report'],
      ['POST', '/share', { shared: true }],
      ['GET', '/stream'],
      ['HEAD', '/stream'],
      ['GET', '/download'],
      ['GET', '/poster'],
      ['GET', '/captions.vtt'],
      ['GET', '/original'],
    ];
    for (const [method, suffix, body] of routes) {
      const route = `/api/videos/${id}${suffix}`;
      expect((await call(method, route, { user: null, body })).status, `${method} ${suffix}`).toBe(401);
      const foreign = await call(method, route, { user: stranger, body });
      const unknown = await call(method, `/api/videos/nothing${suffix}`, { user: stranger, body });
      const hostile = await call(method, `/api/videos/1'%20OR%20'1'='1${suffix}`, { user: stranger, body });
      expect([foreign.status, unknown.status, hostile.status], `${method} ${suffix}`).toEqual([
        404, 404, 404,
      ]);
      expect(await foreign.text()).toBe(await unknown.text());
    }
    expect((await list(owner)).map((video) => video.id)).toContain(id);
    expect(await list(stranger)).toEqual([]);
  });
});

describe('GET /api/videos and status', () => {
  it('gives every field of the contract, newest first', async () => {
    const user = await server.newUser();
    const first = await finished(user);
    server.clock.offsetMs += 1000;
    const second = await finished(user);
    const videos = await list(user);
    expect(videos.map((video) => video.id)).toEqual([second, first]);
    expect(videos[0]).toMatchObject({
      originalFileName: 'clip.mp4',
      fileSize: 1000,
      status: 'completed',
      progress: 100,
      issues: { stutteredCuts: 2 },
      fixesApplied: { stutteredCuts: 2, windNoise: true },
      hasPoster: true,
      hasReport: true,
      hasCaptions: true,
      unchanged: false,
      resultSizeBytes: MENDED.length,
    });
    const status = videosApi.status.response.parse(
      await json(call('GET', `/api/videos/${first}/status`, { user })),
    );
    expect(status).toMatchObject({ status: 'completed', currentStep: null, estimatedTimeRemaining: null });
  });

  it('says why a clip failed', async () => {
    const user = await server.newUser();
    const id = await finished(user, UNREADABLE);
    expect(await json(call('GET', `/api/videos/${id}/status`, { user }))).toMatchObject({
      status: 'failed',
      errorMessage: 'This file is not a video we can read.',
      errorCode: 'not_a_video',
    });
  });
});

describe('PUT /api/videos/:id/rename', () => {
  it('changes the name after trimming and refuses empty names, overlong ones and other types', async () => {
    const id = await finished(owner);
    const rename = (fileName: unknown) => call('PUT', `/api/videos/${id}/rename`, { body: { fileName } });
    const name = '<img src=x onerror=alert(1)> "é\u202e".mp4';
    const renamed = videoDto.parse(await json(rename(`  ${name} `)));
    expect(renamed.originalFileName).toBe(name);
    for (const bad of ['   ', '', null, 1, [], {}, 'x'.repeat(256)])
      expect((await rename(bad)).status).toBe(400);
    const extra = { fileName: 'y.mp4', status: 'failed', userId: stranger.id, plan: 'business' };
    await call('PUT', `/api/videos/${id}/rename`, { body: extra });
    const row = await Video.query(server.db).findById(id);
    expect(row).toMatchObject({ originalFileName: 'y.mp4', status: 'completed', userId: owner.id });
  });
});

describe('DELETE /api/videos/:id', () => {
  it('removes the video everywhere and its files at once, and keeps the draft with its original', async () => {
    const user = await server.newUser();
    const data = randomBytes(2000);
    const id = await finished(user, data);
    const row = await Video.query(server.db).findById(id).withGraphFetched('currentVersion');
    const report = row?.currentVersion?.reportSha256 ?? '';
    server.clock.offsetMs += 10 * 60_000;
    expect((await call('DELETE', `/api/videos/${id}`, { user })).status).toBe(200);
    for (const suffix of ['/status', '/stream', '/download', '/original']) {
      expect((await call('GET', `/api/videos/${id}${suffix}`, { user })).status).toBe(404);
    }
    expect((await call('DELETE', `/api/videos/${id}`, { user })).status).toBe(404);
    expect(await server.storage.stat(report)).toBeNull();
    const drafts = draftsApi.list.response.parse(await json(call('GET', '/api/drafts', { user })));
    expect(drafts).toMatchObject([{ videoId: id, videoExists: false }]);
    expect(await server.storage.read(drafts[0]?.sha256 ?? '')).toEqual(data);
  });
});

describe('POST /api/videos/:id/retry', () => {
  it('processes a failed video again and refuses any other', async () => {
    const user = await server.newUser('starter');
    const id = await finished(user, UNREADABLE);
    expect((await server.quota.read(user.id)).used).toBe(0);
    const before = await Video.query(server.db).findById(id);
    const answer = await call('POST', `/api/videos/${id}/retry`, { user });
    expect(answer.status).toBe(200);
    await expect.poll(async () => (await Video.query(server.db).findById(id))?.status).toBe('failed');
    const after = await Video.query(server.db).findById(id);
    expect(after?.attempt).toBe((before?.attempt ?? 0) + 1);
    expect((await call('POST', `/api/videos/${await finished(user)}/retry`, { user })).status).toBe(409);
  });

  it('says that the file is gone where it is, and keeps the reason of the failure', async () => {
    const user = await server.newUser('starter');
    const id = await finished(user, UNREADABLE);
    const video = await Video.query(server.db).findById(id).throwIfNotFound();
    await server.storage.remove(video.originalSha256);
    const answer = await call('POST', `/api/videos/${id}/retry`, { user });
    expect(answer.status).toBe(409);
    expect(await answer.json()).toMatchObject({ message: 'The stored file is no longer available.' });
    const after = await Video.query(server.db).findById(id);
    expect(after?.errorMessage).toBe('This file is not a video we can read.');
  });
});

describe('report, share, stats', () => {
  it('gives the repair report, and 409 before there is one', async () => {
    const id = await finished(owner);
    const report = await json(call('GET', `/api/videos/${id}/report`));
    expect(videosApi.report.response.parse(report).outcome).toBe('repaired');
    const failed = await finished(owner, UNREADABLE);
    expect((await call('GET', `/api/videos/${failed}/report`)).status).toBe(409);
  });

  it('shows a shared video to everybody until sharing ends', async () => {
    const id = await finished(owner, undefined, 'Summer.mp4');
    const anonymous = { user: null };
    expect((await call('GET', `/api/shared/${id}`, anonymous)).status).toBe(404);
    expect(await json(call('POST', `/api/videos/${id}/share`, { body: { shared: true } }))).toEqual({
      shared: true,
    });
    expect(await json(call('GET', `/api/shared/${id}`, anonymous))).toMatchObject({
      title: 'Summer.mp4',
      width: 1280,
    });
    const stream = await call('GET', `/api/shared/${id}/stream`, {
      ...anonymous,
      headers: { range: 'bytes=0-1' },
    });
    expect([stream.status, Buffer.from(await stream.arrayBuffer())]).toEqual([206, MENDED.subarray(0, 2)]);
    expect((await call('GET', `/api/videos/${id}/stream`, anonymous)).status).toBe(401);
    await call('POST', `/api/videos/${id}/share`, { body: { shared: false } });
    expect((await call('GET', `/api/shared/${id}/stream`, anonymous)).status).toBe(404);
    const failed = await finished(owner, UNREADABLE);
    expect((await call('POST', `/api/videos/${failed}/share`, { body: { shared: true } })).status).toBe(409);
  });

  it('counts videos, drafts, fixes, saved hours and the allowance', async () => {
    const user = await server.newUser('starter');
    for (let count = 0; count < 4; count += 1) await finished(user);
    await finished(user, UNREADABLE);
    const stats = statsDto.parse(await json(call('GET', '/api/stats', { user })));
    expect(stats).toMatchObject({
      videosProcessed: 4,
      draftsSaved: 5,
      issuesFixed: 12,
      timeSaved: '1h',
      quota: { used: 4, limit: 5 },
    });
    expect(new Date(stats.quota?.resetsAt ?? '').getUTCDate()).toBe(1);
    // One clip with seven lost seconds beside three with three fixes each: an hour, plus three quarters of an hour.
    const [one] = await Video.query(server.db).where({ userId: user.id, status: 'completed' });
    await Video.query(server.db)
      .findById(one?.id ?? '')
      .patch({ fixesCount: 214 });
    const many = statsDto.parse(await json(call('GET', '/api/stats', { user })));
    expect(many).toMatchObject({ issuesFixed: 223, timeSaved: '1h' });
    const newcomer = await server.newUser('starter');
    expect(await json(call('GET', '/api/stats', { user: newcomer }))).toMatchObject({
      timeSaved: '0h',
      issuesFixed: 0,
    });
  });
});

describe('stream and download', () => {
  it('answers ranges, conditions and HEAD as RFC 9110 requires', async () => {
    const id = await finished(owner);
    const stream = (headers: Record<string, string> = {}, method = 'GET') =>
      call(method, `/api/videos/${id}/stream`, { headers });
    const whole = await stream();
    expect(whole.status).toBe(200);
    expect(Buffer.from(await whole.arrayBuffer()).equals(MENDED)).toBe(true);
    const tag = whole.headers.get('etag') ?? '';
    expect(tag).toMatch(/^"[0-9a-f]{32}"$/);
    const cases: [Record<string, string>, number, Buffer | null, string | null][] = [
      [{ range: 'bytes=0-1' }, 206, MENDED.subarray(0, 2), `bytes 0-1/${MENDED.length}`],
      [{ range: 'bytes=-1' }, 206, MENDED.subarray(-1), null],
      [{ range: 'bytes=299990-' }, 206, MENDED.subarray(299_990), null],
      [{ range: 'bytes=5-2' }, 200, MENDED, null],
      [{ range: 'bytes=a' }, 200, MENDED, null],
      [{ range: 'bytes=0-0,2-2' }, 200, MENDED, null],
      [{ range: `bytes=${MENDED.length}-` }, 416, null, `bytes */${MENDED.length}`],
      [{ range: 'bytes=0-0', 'if-range': tag }, 206, MENDED.subarray(0, 1), null],
      [{ range: 'bytes=0-0', 'if-range': '"old"' }, 200, MENDED, null],
      [{ 'if-none-match': tag }, 304, null, null],
    ];
    for (const [headers, status, bytes, contentRange] of cases) {
      const answer = await stream(headers);
      expect(answer.status, JSON.stringify(headers)).toBe(status);
      const body = Buffer.from(await answer.arrayBuffer());
      if (bytes) expect(body.equals(bytes), JSON.stringify(headers)).toBe(true);
      if (contentRange) expect(answer.headers.get('content-range')).toBe(contentRange);
    }
    const head = await stream({ range: 'bytes=0-9' }, 'HEAD');
    expect([head.status, head.headers.get('content-length')]).toEqual([206, '10']);
  });

  it('sends fixed headers that prevent the bytes from being a page or being embedded elsewhere', async () => {
    const id = await finished(owner);
    for (const route of ['stream', 'download']) {
      const answer = await call('HEAD', `/api/videos/${id}/${route}`);
      expect(answer.status).toBe(200);
      expect(answer.headers.get('content-type')).toBe('video/mp4');
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
      expect(answer.headers.get('cross-origin-resource-policy')).toBe('same-origin');
      expect(answer.headers.get('content-security-policy')).toMatch(/default-src 'none';.*sandbox/);
      expect(answer.headers.get('cache-control')).toBe('private, max-age=0, must-revalidate');
    }
    const foreign = await call('GET', `/api/videos/${id}/stream`, {
      headers: { 'sec-fetch-site': 'cross-site' },
    });
    expect(foreign.status).toBe(403);
  });

  it('downloads as video-{id}.mp4', async () => {
    const id = await finished(owner, undefined, 'evil";name.mp4');
    const answer = await call('GET', `/api/videos/${id}/download`);
    expect(answer.headers.get('content-disposition')).toBe(`attachment; filename="video-${id}.mp4"`);
    expect(Buffer.from(await answer.arrayBuffer()).equals(MENDED)).toBe(true);
  });

  it('refuses a download with JSON of message and demoMode, never with a 200', async () => {
    const failed = await finished(owner, UNREADABLE);
    const answer = await call('GET', `/api/videos/${failed}/download`);
    expect(answer.status).toBe(409);
    expect(await answer.json()).toMatchObject({
      demoMode: false,
      message: expect.stringContaining('not available'),
    });
    const unknown = await call('GET', '/api/videos/unknown/download');
    expect([unknown.status, await unknown.json()]).toMatchObject([404, { demoMode: false }]);
  });

  it('says 404 when the stored bytes are gone, and keeps running', async () => {
    const user = await server.newUser();
    const id = await finished(user);
    const row = await Video.query(server.db).findById(id).withGraphFetched('currentVersion');
    const sha256 = row?.currentVersion?.sha256 ?? '';
    await server.storage.remove(sha256);
    const answer = await call('GET', `/api/videos/${id}/download`, { user });
    expect([answer.status, await answer.json()]).toMatchObject([
      404,
      { message: 'The stored file is no longer available.', demoMode: false },
    ]);
    expect((await call('GET', `/api/videos/${id}/stream`, { user })).status).toBe(404);
    await server.storage.putBuffer(MENDED);
  });

  it('gives poster, captions and the untouched original with its hash', async () => {
    const data = randomBytes(1234);
    const id = await finished(owner, data, 'holiday.MOV');
    expect((await call('GET', `/api/videos/${id}/poster`)).headers.get('content-type')).toBe('image/jpeg');
    const captions = await call('GET', `/api/videos/${id}/captions.vtt`);
    expect([captions.headers.get('content-type'), await captions.text()]).toEqual([
      'text/vtt; charset=utf-8',
      'WEBVTT\n',
    ]);
    const original = await call('GET', `/api/videos/${id}/original`);
    expect(Buffer.from(await original.arrayBuffer())).toEqual(data);
    expect(original.headers.get('content-type')).toBe('video/quicktime');
    expect(original.headers.get('content-disposition')).toBe(`attachment; filename="original-${id}.mov"`);
    const row = await Video.query(server.db).findById(id);
    expect(original.headers.get('x-content-sha256')).toBe(row?.originalSha256);
  });

  it('closes the files of readers that disconnect', async () => {
    const id = await finished(owner);
    const openFiles = async () => (await readdir('/proc/self/fd')).length;
    const before = await openFiles();
    for (let count = 0; count < 40; count += 1) {
      await new Promise<void>((resolve, reject) => {
        const get = request(
          `${server.url}/api/videos/${id}/stream`,
          { headers: owner.headers },
          (response) => {
            response.once('data', () => {
              response.destroy();
              resolve();
            });
          },
        );
        get.on('error', reject);
        get.end();
      });
    }
    await expect.poll(openFiles).toBeLessThan(before + 5);
  });
});

describe('drafts', () => {
  const draftsOf = async (user: TestUser) =>
    draftsApi.list.response.parse(await json(call('GET', '/api/drafts', { user })));

  it('are made by the upload, kept as long as the plan says, and renewed instead of copied', async () => {
    const user = await server.newUser('starter');
    const id = await finished(user);
    const [draft] = await draftsOf(user);
    expect(draft).toMatchObject({ videoId: id, fileName: 'clip.mp4', integrity: 'ok', videoExists: true });
    const keptMs = Date.parse(draft?.expiresAt ?? '') - Date.parse(draft?.lastModified ?? '');
    expect(keptMs).toBe(7 * 24 * 3600_000);
    server.clock.offsetMs += 5000;
    const renewed = draftsApi.create.response.parse(
      await json(call('POST', '/api/drafts', { user, body: { videoId: id, fileName: 'newer.mp4' } })),
    );
    expect(renewed).toMatchObject({ id: draft?.id, fileName: 'newer.mp4' });
    expect(Date.parse(renewed.lastModified)).toBeGreaterThan(Date.parse(draft?.lastModified ?? ''));
    expect(await draftsOf(user)).toHaveLength(1);
  });

  it('refuse strangers, the signed-out and bad input', async () => {
    const id = await finished(owner);
    const [draft] = await draftsOf(owner);
    const body = { videoId: id, fileName: 'x' };
    expect((await call('POST', '/api/drafts', { user: stranger, body })).status).toBe(404);
    expect((await call('POST', '/api/drafts', { user: null, body })).status).toBe(401);
    expect((await call('POST', '/api/drafts', { body: { videoId: id, fileName: ' ' } })).status).toBe(400);
    for (const [method, suffix] of [
      ['POST', 'restore'],
      ['GET', 'download'],
    ] as const) {
      const route = `/api/drafts/${draft?.id}/${suffix}`;
      expect((await call(method, route, { user: stranger })).status).toBe(404);
      expect((await call(method, route, { user: null })).status).toBe(401);
    }
  });

  it('give the untouched original with its SHA-256', async () => {
    const user = await server.newUser();
    const data = randomBytes(777);
    await finished(user, data);
    const [draft] = await draftsOf(user);
    const answer = await call('GET', `/api/drafts/${draft?.id}/download`, { user });
    expect(Buffer.from(await answer.arrayBuffer())).toEqual(data);
    expect(answer.headers.get('x-content-sha256')).toBe(draft?.sha256);
    expect(answer.headers.get('content-disposition')).toContain('attachment');
  });

  it('restore the original as the current version, any number of times', async () => {
    const user = await server.newUser();
    const data = randomBytes(888);
    const id = await finished(user, data);
    const [draft] = await draftsOf(user);
    const restore = () => call('POST', `/api/drafts/${draft?.id}/restore`, { user });
    for (let round = 0; round < 3; round += 1) {
      const answer = await restore();
      expect([answer.status, await answer.json()]).toEqual([200, { videoId: id }]);
    }
    const stream = await call('GET', `/api/videos/${id}/stream`, { user });
    expect(Buffer.from(await stream.arrayBuffer())).toEqual(data);
    expect((await list(user))[0]).toMatchObject({ unchanged: true, hasPoster: true, fixesApplied: {} });
  });

  it('restore a deleted video under its id, once, however many requests there are', async () => {
    const user = await server.newUser('starter');
    const id = await finished(user);
    const [draft] = await draftsOf(user);
    await call('DELETE', `/api/videos/${id}`, { user });
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => call('POST', `/api/drafts/${draft?.id}/restore`, { user })),
    );
    // Requests that arrive while it is repaired again get a 409.
    for (const answer of answers) expect([200, 409]).toContain(answer.status);
    await expect
      .poll(async () => (await list(user)).map((video) => [video.id, video.status]))
      .toEqual([[id, 'completed']]);
    expect((await server.quota.read(user.id)).used).toBe(1);
  });

  it('count a video that was deleted before any work was done on it, when they restore it', async () => {
    const user = await server.newUser('starter');
    for (let used = 0; used < 4; used += 1) await finished(user, randomBytes(50));
    const ids = [await deletedEarly(user), await deletedEarly(user)];
    expect((await server.quota.read(user.id)).used).toBe(4);
    const drafts = await draftsOf(user);
    const restore = (videoId: string | undefined) => {
      const draft = drafts.find((one) => one.videoId === videoId);
      return call('POST', `/api/drafts/${draft?.id}/restore`, { user });
    };
    expect((await restore(ids[0])).status).toBe(200);
    expect((await server.quota.read(user.id)).used).toBe(5);
    const refused = await restore(ids[1]);
    expect([refused.status, await refused.json()]).toMatchObject([403, { code: 'quota_reached' }]);
    expect(await Video.query(server.db).where({ userId: user.id }).resultSize()).toBe(5);
  });

  it('are gone when they expire', async () => {
    const user = await server.newUser();
    await finished(user);
    const [draft] = await draftsOf(user);
    await Draft.query(server.db).where({ userId: user.id }).patch({ expiresAt: 1 });
    expect(await draftsOf(user)).toEqual([]);
    expect((await call('GET', `/api/drafts/${draft?.id}/download`, { user })).status).toBe(404);
    expect(
      z.object({ draftsSaved: z.literal(0) }).parse(await json(call('GET', '/api/stats', { user })))
        .draftsSaved,
    ).toBe(0);
  });
});

describe('readers that stop reading', () => {
  it('use little memory, however much they requested', async () => {
    const user = await server.newUser();
    const id = await finished(user);
    const big = await server.storage.putBuffer(randomBytes(64 * 1024 * 1024));
    const row = await Video.query(server.db).findById(id).withGraphFetched('currentVersion');
    const at = Date.now();
    await StoredObject.query(server.db).insert({ ...big, createdAt: at, checkedAt: at, damaged: false });
    await row?.$relatedQuery('currentVersion', server.db).patch({ sha256: big.sha256 });
    globalThis.gc?.();
    const before = process.memoryUsage.rss();
    const paused = await Promise.all(
      Array.from(
        { length: 100 },
        () =>
          new Promise<{ destroy(): void }>((resolve, reject) => {
            const get = request(`${server.url}/api/videos/${id}/stream`, {
              headers: user.headers,
              agent: false,
            });
            get.on('error', reject);
            get.on('response', (response) => {
              response.on('error', () => undefined);
              response.pause();
              resolve(response);
            });
            get.end();
          }),
      ),
    );
    await new Promise((resolve) => setTimeout(resolve, 500));
    const grownMb = (process.memoryUsage.rss() - before) / 1024 ** 2;
    for (const response of paused) response.destroy();
    // Reader and server share this process, so each connection counts twice.
    expect(grownMb).toBeLessThan(80);
  });
});
