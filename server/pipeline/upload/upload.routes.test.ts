import { createHash, randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { request } from 'node:http';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { uploadsApi } from '#common/api/uploads.ts';
import { MAX_OPEN_UPLOADS } from '#common/limits.ts';
import { Draft } from '#db/models/draft.ts';
import { Job } from '#db/models/job.ts';
import { Upload } from '#db/models/upload.ts';
import { UsageUnit } from '#db/models/usage-unit.ts';
import { Video } from '#db/models/video.ts';
import { startClipServer, type ClipServer, type TestUser } from '#server/test/clip-server.ts';
import { ENGINES, hasEngine } from '#server/test/test-database.ts';

const sha256 = (data: Buffer) => createHash('sha256').update(data).digest('hex');
const MIB = 1024 * 1024;

let server: ClipServer;

async function post(user: TestUser | null, route: string, body?: unknown) {
  const response = await fetch(server.url + route, {
    method: 'POST',
    headers: { ...user?.headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const answer: unknown = await response.json();
  return { status: response.status, body: answer };
}

async function issue(user: TestUser, intent?: unknown) {
  const { status, body } = await post(user, '/api/videos/upload-url', intent);
  expect(status).toBe(200);
  return uploadsApi.uploadUrl.response.parse(body);
}

const complete = (
  user: TestUser | null,
  uploadUrl: string,
  fileSize: number | string,
  fileName = 'clip.mp4',
) => post(user, '/api/videos/upload-complete', { fileName, fileSize: String(fileSize), uploadUrl });

const videoIdOf = (body: unknown) => z.object({ videoId: z.string() }).parse(body).videoId;

function put(user: TestUser | null, url: string, data: Buffer, headers: Record<string, string> = {}) {
  return fetch(url, {
    method: 'PUT',
    headers: { 'content-type': 'video/mp4', ...user?.headers, ...headers },
    body: new Uint8Array(data),
  });
}

function tus(
  user: TestUser,
  url: string,
  method: string,
  headers: Record<string, string> = {},
  data?: Buffer,
) {
  return fetch(url, {
    method,
    headers: { 'tus-resumable': '1.0.0', ...user.headers, ...headers },
    ...(data ? { body: new Uint8Array(data) } : {}),
  });
}

const patch = (user: TestUser, url: string, offset: number | string, data: Buffer, headers = {}) =>
  tus(
    user,
    url,
    'PATCH',
    { 'content-type': 'application/offset+octet-stream', 'upload-offset': String(offset), ...headers },
    data,
  );

async function offsetOf(user: TestUser, url: string): Promise<number> {
  const head = await tus(user, url, 'HEAD');
  expect(head.status).toBe(200);
  return Number(head.headers.get('upload-offset'));
}

/** Sends part of a body, then breaks the connection. */
function cutAfter(
  user: TestUser,
  url: string,
  method: string,
  headers: Record<string, string>,
  sent: Buffer,
) {
  return new Promise<void>((resolve) => {
    const call = request(url, { method, headers: { ...user.headers, ...headers } });
    call.on('error', () => resolve());
    call.on('close', () => resolve());
    call.write(sent, () => setTimeout(() => call.destroy(), 150));
  });
}

describe.each(ENGINES)('uploads on %s', (engine) => {
  if (!hasEngine(engine)) return;
  beforeAll(async () => {
    server = await startClipServer({ engine });
  });
  afterAll(async () => server.close());

  describe('POST /api/videos/upload-url', () => {
    it('answers 401 when nobody is signed in', async () => {
      expect((await post(null, '/api/videos/upload-url')).status).toBe(401);
    });

    it('issues an address outside /api on the host that the caller used, also without a body', async () => {
      const user = await server.newUser();
      const { uploadUrl, offsetBytes } = await issue(user);
      expect(uploadUrl).toMatch(new RegExp(`^${server.url}/uploads/[A-Za-z0-9_-]{43}$`));
      expect(offsetBytes).toBe(0);
    });

    it('refuses more than 2 GB and invalid sizes', async () => {
      const user = await server.newUser();
      for (const fileSize of [2 ** 31 + 1, 0, -1, 1.5, '1e3', '2147483649']) {
        expect((await post(user, '/api/videos/upload-url', { fileSize })).status).toBe(400);
      }
      const messageFor = async (fileSize: number) =>
        (await post(user, '/api/videos/upload-url', { fileSize })).body;
      expect(await messageFor(0)).toMatchObject({ message: 'The file is empty.' });
      expect(await messageFor(2 ** 31 + 1)).toMatchObject({
        message: 'The file is larger than the limit of 2 GB.',
      });
      for (const fileSize of [2 ** 31, '2147483648'])
        expect((await post(user, '/api/videos/upload-url', { fileSize })).status).toBe(200);
    });

    it('refuses one unfinished upload too many but reuses old empty slots', async () => {
      const user = await server.newUser();
      for (let count = 0; count < MAX_OPEN_UPLOADS; count += 1) await issue(user);
      const refused = await post(user, '/api/videos/upload-url');
      expect(refused.status).toBe(429);
      server.clock.offsetMs += 61_000;
      expect((await post(user, '/api/videos/upload-url')).status).toBe(200);
    });

    it('returns the unfinished upload of the same file with its offset, only to its owner', async () => {
      const user = await server.newUser();
      const data = randomBytes(3 * MIB);
      const intent = { fileName: 'a.mp4', fileSize: data.length, fingerprint: sha256(data) };
      const first = await issue(user, intent);
      await patch(user, first.uploadUrl, 0, data.subarray(0, MIB));
      expect(await issue(user, intent)).toEqual({
        uploadUrl: first.uploadUrl,
        offsetBytes: MIB,
        known: null,
      });
      const other = await issue(user, { ...intent, fingerprint: sha256(Buffer.from('another content')) });
      expect(other.uploadUrl).not.toBe(first.uploadUrl);
      const stranger = await issue(await server.newUser(), intent);
      expect(stranger).toMatchObject({ offsetBytes: 0 });
      expect(stranger.uploadUrl).not.toBe(first.uploadUrl);
    });

    it('returns the video made from the same file, on request and only to its owner', async () => {
      const user = await server.newUser();
      const data = randomBytes(4000);
      const intent = { fileName: 'a.mp4', fileSize: data.length, fingerprint: sha256(data) };
      const asking = { ...intent, tellKnown: true };
      const first = await issue(user, asking);
      expect(first).toMatchObject({ known: null });
      await put(user, first.uploadUrl, data);
      const videoId = videoIdOf((await complete(user, first.uploadUrl, data.length, 'a.mp4')).body);
      const known = { videoId, fileName: 'a.mp4' };
      const slots = () => Upload.query(server.db).where({ userId: user.id }).resultSize();
      const before = await slots();
      expect(await issue(user, asking)).toEqual({ uploadUrl: '', offsetBytes: 0, known });
      expect(await slots()).toBe(before);
      expect(await issue(await server.newUser(), asking)).toMatchObject({ known: null });
      // A failed one may be tried again, and a deleted one is not known.
      await Video.query(server.db).patch({ status: 'failed' }).where({ id: videoId });
      expect(await issue(user, asking)).toMatchObject({ known: null });
      await Video.query(server.db).patch({ status: 'completed' }).where({ id: videoId });
      const again = await issue(user, intent);
      expect(again.uploadUrl).not.toBe('');
    });

    it('refuses with 507 when the disk is nearly full', async () => {
      const full = await startClipServer({ reserveBytes: Number.MAX_SAFE_INTEGER });
      try {
        const user = await full.newUser();
        const response = await fetch(`${full.url}/api/videos/upload-url`, {
          method: 'POST',
          headers: user.headers,
        });
        expect(response.status).toBe(507);
        expect(await response.json()).toMatchObject({ code: 'storage_full' });
      } finally {
        await full.close();
      }
    });
  });

  describe('PUT /uploads/:token', () => {
    it('stores the file unchanged, and upload-complete makes video, draft, unit and job from it', async () => {
      const user = await server.newUser();
      const data = randomBytes(2 * MIB + 17);
      const { uploadUrl } = await issue(user);
      const stored = await put(user, uploadUrl, data);
      expect(stored.status).toBe(200);
      const { status, body } = await complete(user, uploadUrl, data.length, 'My clip.MOV');
      expect(status).toBe(200);
      const videoId = videoIdOf(body);
      const video = await Video.query(server.db).findById(videoId);
      expect(video).toMatchObject({
        originalFileName: 'My clip.MOV',
        fileSize: data.length,
        originalSha256: sha256(data),
        status: 'processing',
      });
      expect((await server.storage.read(sha256(data))).equals(data)).toBe(true);
      expect(await Draft.query(server.db).where({ videoId }).resultSize()).toBe(1);
      expect(await UsageUnit.query(server.db).where({ videoId }).resultSize()).toBe(1);
      expect(await Job.query(server.db).where({ videoId, state: 'queued' }).resultSize()).toBe(1);
      expect(await readdir(path.join(server.dataDir, 'uploads'))).not.toContain(uploadUrl.slice(-43));
    });

    it('a repeated PUT replaces the file', async () => {
      const user = await server.newUser();
      const { uploadUrl } = await issue(user);
      await put(user, uploadUrl, randomBytes(5000));
      const data = randomBytes(3000);
      expect((await put(user, uploadUrl, data)).status).toBe(200);
      expect((await complete(user, uploadUrl, 5000)).status).toBe(422);
      const { body } = await complete(user, uploadUrl, 3000);
      const video = await Video.query(server.db).findById(videoIdOf(body));
      expect(video?.originalSha256).toBe(sha256(data));
    });

    it('needs no cookie: the address is the key', async () => {
      const user = await server.newUser();
      const { uploadUrl } = await issue(user);
      const data = randomBytes(100);
      expect((await put(null, uploadUrl, data)).status).toBe(200);
      expect((await put(null, `${server.url}/uploads/${'A'.repeat(43)}`, data)).status).toBe(404);
      expect((await complete(user, uploadUrl, 100)).status).toBe(200);
    });

    it('refuses strangers, wrong types, empty files and declared sizes that are too large', async () => {
      const user = await server.newUser();
      const { uploadUrl } = await issue(user);
      const data = randomBytes(100);
      expect((await put(await server.newUser(), uploadUrl, data)).status).toBe(404);
      expect((await put(user, uploadUrl, data, { 'content-type': 'text/html' })).status).toBe(415);
      expect((await put(user, uploadUrl, Buffer.alloc(0))).status).toBe(400);
      const giant = await new Promise<number | undefined>((resolve, reject) => {
        const call = request(
          uploadUrl,
          {
            method: 'PUT',
            headers: { ...user.headers, 'content-type': 'video/mp4', 'content-length': 2 ** 31 + 1 },
          },
          (response) => {
            resolve(response.statusCode);
            call.destroy();
          },
        );
        call.on('error', reject);
        call.flushHeaders();
      });
      expect(giant).toBe(413);
      expect(await offsetOf(user, uploadUrl)).toBe(0);
    });

    it('keeps what arrived before a cut, and tus continues after it', async () => {
      const user = await server.newUser();
      const data = randomBytes(MIB);
      const { uploadUrl } = await issue(user);
      const headers = { 'content-type': 'video/mp4', 'content-length': String(data.length) };
      await cutAfter(user, uploadUrl, 'PUT', headers, data.subarray(0, 300_000));
      const offset = await offsetOf(user, uploadUrl);
      expect(offset).toBeGreaterThan(0);
      expect(offset).toBeLessThanOrEqual(300_000);
      expect((await complete(user, uploadUrl, data.length)).status).toBe(409);
      expect((await patch(user, uploadUrl, offset, data.subarray(offset))).status).toBe(204);
      const { body } = await complete(user, uploadUrl, data.length);
      const video = await Video.query(server.db).findById(videoIdOf(body));
      expect(video?.originalSha256).toBe(sha256(data));
    });
  });

  describe('tus verbs on /uploads/:token', () => {
    it('states its capabilities in OPTIONS', async () => {
      const response = await fetch(`${server.url}/uploads/x`, { method: 'OPTIONS' });
      expect(response.status).toBe(204);
      expect(response.headers.get('tus-version')).toBe('1.0.0');
      expect(response.headers.get('tus-max-size')).toBe(String(2 ** 31));
      expect(response.headers.get('tus-extension')).toContain('checksum');
      expect(response.headers.get('tus-checksum-algorithm')).toBe('sha1,sha256');
      expect(response.headers.get('access-control-allow-origin')).toBeNull();
    });

    it('accepts a file in parts, also when its length is stated late', async () => {
      const user = await server.newUser();
      const data = randomBytes(MIB);
      const { uploadUrl } = await issue(user);
      const half = MIB / 2;
      expect((await patch(user, uploadUrl, 0, data.subarray(0, half))).headers.get('upload-offset')).toBe(
        String(half),
      );
      const head = await tus(user, uploadUrl, 'HEAD');
      expect(head.headers.get('upload-defer-length')).toBe('1');
      expect(head.headers.get('cache-control')).toContain('no-store');
      const last = await patch(user, uploadUrl, half, data.subarray(half), { 'upload-length': String(MIB) });
      expect(last.status).toBe(204);
      const { status } = await complete(user, uploadUrl, MIB);
      expect(status).toBe(200);
    });

    it('refuses wrong offsets, types and headers without a change', async () => {
      const user = await server.newUser();
      const { uploadUrl } = await issue(user, { fileSize: 1000 });
      const part = randomBytes(100);
      expect((await patch(user, uploadUrl, 5, part)).status).toBe(409);
      expect((await patch(user, uploadUrl, '10abc', part)).status).toBe(400);
      expect((await patch(user, uploadUrl, '-1', part)).status).toBe(400);
      expect((await patch(user, uploadUrl, 0, part, { 'content-type': 'video/mp4' })).status).toBe(400);
      expect((await patch(user, uploadUrl, 0, part, { 'tus-resumable': '0.2.0' })).status).toBe(412);
      expect((await patch(user, uploadUrl, 0, randomBytes(1001))).status).toBe(413);
      expect((await patch(user, uploadUrl, 0, Buffer.alloc(0))).status).toBe(204);
      expect(await offsetOf(user, uploadUrl)).toBe(0);
    });

    it('hides uploads of other people with 404 and asks the signed-out to sign in, for every verb', async () => {
      const owner = await server.newUser();
      const stranger = await server.newUser();
      const { uploadUrl } = await issue(owner, { fileSize: 1000 });
      for (const method of ['HEAD', 'PATCH', 'DELETE']) {
        const headers = { 'content-type': 'application/offset+octet-stream', 'upload-offset': '0' };
        const nobody = { ...stranger, headers: {} };
        expect((await tus(stranger, uploadUrl, method, headers)).status).toBe(404);
        expect((await tus(nobody, uploadUrl, method, headers)).status).toBe(401);
      }
      expect(await offsetOf(owner, uploadUrl)).toBe(0);
    });

    it('refuses a part whose checksum is wrong with 460 and keeps nothing of it', async () => {
      const user = await server.newUser();
      const data = randomBytes(200_000);
      const { uploadUrl } = await issue(user, { fileSize: data.length });
      const first = data.subarray(0, 120_000);
      const sum = (part: Buffer) => `sha256 ${createHash('sha256').update(part).digest('base64')}`;
      const broken = Buffer.from(first);
      broken[77] = (broken[77] ?? 0) ^ 1;
      expect((await patch(user, uploadUrl, 0, broken, { 'upload-checksum': sum(first) })).status).toBe(460);
      expect(await offsetOf(user, uploadUrl)).toBe(0);
      expect((await patch(user, uploadUrl, 0, first, { 'upload-checksum': sum(first) })).status).toBe(204);
      const sha1 = `sha1 ${createHash('sha1').update(data.subarray(120_000)).digest('base64')}`;
      const rest = await patch(user, uploadUrl, 120_000, data.subarray(120_000), { 'upload-checksum': sha1 });
      expect(rest.status).toBe(204);
      expect((await patch(user, uploadUrl, 0, first, { 'upload-checksum': 'md5 xyz' })).status).toBe(400);
      const { body } = await complete(user, uploadUrl, data.length);
      const video = await Video.query(server.db).findById(videoIdOf(body));
      expect(video?.originalSha256).toBe(sha256(data));
    });

    it('discards unverified bytes of a cut part, and keeps verified ones', async () => {
      const user = await server.newUser();
      const data = randomBytes(MIB);
      const { uploadUrl } = await issue(user, { fileSize: data.length });
      const headers = {
        'tus-resumable': '1.0.0',
        'content-type': 'application/offset+octet-stream',
        'upload-offset': '0',
        'content-length': String(data.length),
      };
      const checksum = `sha256 ${createHash('sha256').update(data).digest('base64')}`;
      await cutAfter(
        user,
        uploadUrl,
        'PATCH',
        { ...headers, 'upload-checksum': checksum },
        data.subarray(0, 400_000),
      );
      expect(await offsetOf(user, uploadUrl)).toBe(0);
      await cutAfter(user, uploadUrl, 'PATCH', headers, data.subarray(0, 400_000));
      const offset = await offsetOf(user, uploadUrl);
      expect(offset).toBeGreaterThan(0);
      const file = await readFile(path.join(server.dataDir, 'uploads', uploadUrl.slice(-43)));
      expect(file.equals(data.subarray(0, offset))).toBe(true);
    });

    it('lets the newest request take over a half-open upload', async () => {
      const user = await server.newUser();
      const data = randomBytes(MIB);
      const { uploadUrl } = await issue(user, { fileSize: data.length });
      const hanging = request(uploadUrl, {
        method: 'PATCH',
        headers: {
          ...user.headers,
          'tus-resumable': '1.0.0',
          'content-type': 'application/offset+octet-stream',
          'upload-offset': '0',
          'content-length': String(data.length),
        },
      });
      hanging.on('error', () => undefined);
      hanging.write(data.subarray(0, 100_000));
      await new Promise((resolve) => {
        setTimeout(resolve, 200);
      });
      const startedAt = performance.now();
      const offset = await offsetOf(user, uploadUrl);
      expect(performance.now() - startedAt).toBeLessThan(3000);
      expect(offset).toBe(100_000);
      expect((await patch(user, uploadUrl, offset, data.subarray(offset))).status).toBe(204);
      hanging.destroy();
      expect((await complete(user, uploadUrl, data.length)).status).toBe(200);
    });

    it('answers requests after the end without a second video', async () => {
      const user = await server.newUser();
      const data = randomBytes(4000);
      const { uploadUrl } = await issue(user, { fileSize: data.length });
      await patch(user, uploadUrl, 0, data);
      const first = await complete(user, uploadUrl, data.length);
      expect((await patch(user, uploadUrl, data.length, Buffer.alloc(0))).status).toBe(204);
      expect((await patch(user, uploadUrl, data.length, Buffer.alloc(0))).status).toBe(204);
      expect(await offsetOf(user, uploadUrl)).toBe(data.length);
      expect((await tus(user, uploadUrl, 'DELETE')).status).toBe(400);
      expect((await put(user, uploadUrl, data)).status).toBe(409);
      expect(await complete(user, uploadUrl, data.length)).toEqual(first);
      expect(await Video.query(server.db).where({ userId: user.id }).resultSize()).toBe(1);
    });
  });

  describe('POST /api/videos/upload-complete', () => {
    it('makes one video from fifty simultaneous calls', async () => {
      const user = await server.newUser();
      const data = randomBytes(100_000);
      const { uploadUrl } = await issue(user);
      await put(user, uploadUrl, data);
      const answers = await Promise.all(
        Array.from({ length: 50 }, () => complete(user, uploadUrl, data.length)),
      );
      expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([200]));
      expect(new Set(answers.map((answer) => videoIdOf(answer.body))).size).toBe(1);
      const mine = { userId: user.id };
      expect(await Video.query(server.db).where(mine).resultSize()).toBe(1);
      expect(await Draft.query(server.db).where(mine).resultSize()).toBe(1);
      expect(await UsageUnit.query(server.db).where(mine).resultSize()).toBe(1);
      expect(await Job.query(server.db).where({ userId: user.id }).resultSize()).toBe(1);
    });

    it('accepts its own address with and without the host', async () => {
      const user = await server.newUser();
      const { uploadUrl } = await issue(user);
      await put(user, uploadUrl, randomBytes(10));
      const answer = await complete(user, new URL(uploadUrl).pathname, 10);
      expect(answer.status).toBe(200);
      expect(await complete(user, uploadUrl, 10)).toEqual(answer);
    });

    it('refuses foreign, unknown and hostile addresses', async () => {
      const user = await server.newUser();
      const owner = await server.newUser();
      const { uploadUrl } = await issue(owner);
      await put(owner, uploadUrl, randomBytes(10));
      const token = uploadUrl.slice(-43);
      const host = new URL(server.url).host;
      const hostile = [
        'file:///etc/passwd',
        '/uploads/../../etc/passwd',
        `/uploads/../uploads/${token}`,
        `${server.url}/uploads/../uploads/${token}`,
        `http://evil.test/uploads/${token}`,
        `http://${host}@evil.test/uploads/${token}`,
        `http://user@${host}/uploads/${token}`,
        `http://127.0.0.1:9/uploads/${token}`,
        `http://169.254.169.254/uploads/${token}`,
        `${server.url}/uploads/${token}?x=1`,
        `${server.url}/uploads/${token}#x`,
        `ftp://${host}/uploads/${token}`,
        `//${host}/uploads/${token}`,
        `javascript:alert(1)`,
        token,
      ];
      for (const address of hostile) expect((await complete(owner, address, 10)).status).toBe(400);
      expect((await complete(user, uploadUrl, 10)).status).toBe(404);
      expect((await complete(user, `/uploads/${'A'.repeat(43)}`, 10)).status).toBe(404);
      expect((await complete(null, uploadUrl, 10)).status).toBe(401);
      expect((await complete(owner, uploadUrl, 10)).status).toBe(200);
    });

    it('checks the size', async () => {
      const user = await server.newUser();
      const { uploadUrl } = await issue(user);
      expect((await complete(user, uploadUrl, 10)).status).toBe(409);
      await put(user, uploadUrl, randomBytes(10));
      for (const size of [9, 11]) expect((await complete(user, uploadUrl, size)).status).toBe(422);
      for (const size of ['-1', '1e3', 'NaN', '', '1.5', '9'.repeat(20)]) {
        expect((await complete(user, uploadUrl, size)).status).toBe(400);
      }
      expect((await complete(user, uploadUrl, 2 ** 31 + 1)).status).toBe(413);
      expect((await complete(user, uploadUrl, 10)).status).toBe(200);
      expect((await complete(user, uploadUrl, 11)).status).toBe(422);
    });

    it('answers 404 after the video was deleted', async () => {
      const user = await server.newUser();
      const { uploadUrl } = await issue(user);
      await put(user, uploadUrl, randomBytes(10));
      const { body } = await complete(user, uploadUrl, 10);
      await fetch(`${server.url}/api/videos/${videoIdOf(body)}`, { method: 'DELETE', headers: user.headers });
      expect((await complete(user, uploadUrl, 10)).status).toBe(404);
    });

    it('continues when the process ended between the storage and the database', async () => {
      const user = await server.newUser();
      const data = randomBytes(5000);
      const { uploadUrl } = await issue(user);
      await put(user, uploadUrl, data);
      const id = uploadUrl.slice(-43);
      await Upload.query(server.db)
        .findById(id)
        .patch({ state: 'received', sha256: sha256(data) });
      await server.storage.put(server.files.path(id), sha256(data));
      const { status, body } = await complete(user, uploadUrl, data.length);
      expect(status).toBe(200);
      const video = await Video.query(server.db).findById(videoIdOf(body));
      expect(video?.originalSha256).toBe(sha256(data));
    });

    it('gives a starter exactly five videos, however the calls race', async () => {
      const user = await server.newUser('starter');
      const urls = await Promise.all(
        Array.from({ length: 8 }, async () => {
          const { uploadUrl } = await issue(user);
          await put(user, uploadUrl, randomBytes(100));
          return uploadUrl;
        }),
      );
      const answers = await Promise.all(urls.map((url) => complete(user, url, 100)));
      expect(answers.filter((answer) => answer.status === 200)).toHaveLength(5);
      expect(answers.filter((answer) => answer.status === 403)).toHaveLength(3);
      const refused = await post(user, '/api/videos/upload-url');
      expect(refused.status).toBe(403);
      expect(refused.body).toMatchObject({
        code: 'quota_reached',
        message: expect.stringContaining('5 of 5'),
      });
    });
  });

  describe('GET and DELETE /api/uploads', () => {
    it('lists what can be continued and discards it', async () => {
      const user = await server.newUser();
      await issue(user);
      const { uploadUrl } = await issue(user, { fileName: 'a.mp4', fileSize: 1000 });
      await patch(user, uploadUrl, 0, randomBytes(400));
      const list = await fetch(`${server.url}/api/uploads`, { headers: user.headers });
      const open = uploadsApi.openUploads.response.parse(await list.json());
      expect(open).toMatchObject([{ fileName: 'a.mp4', sizeBytes: 1000, offsetBytes: 400, uploadUrl }]);
      const discard = (who: TestUser) =>
        fetch(`${server.url}/api/uploads/${open[0]?.id}`, { method: 'DELETE', headers: who.headers });
      expect((await discard(await server.newUser())).status).toBe(404);
      expect((await discard(user)).status).toBe(200);
      expect((await tus(user, uploadUrl, 'HEAD')).status).toBe(410);
      expect((await put(user, uploadUrl, randomBytes(5))).status).toBe(410);
      expect((await complete(user, uploadUrl, 1000)).status).toBe(410);
    });
  });
});
