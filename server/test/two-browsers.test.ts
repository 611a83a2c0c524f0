import { createHash, randomBytes } from 'node:crypto';
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { uploadsApi } from '#common/api/uploads.ts';
import { videosApi } from '#common/api/videos.ts';
import { createUser } from './factories.ts';
import { startTestApp, type TestApp } from './test-app.ts';
import type { TestClient } from './test-client.ts';
import { ENGINES, hasEngine } from './test-database.ts';

const MIB = 1024 * 1024;
const PART_BYTES = MIB;
const sha256 = (data: Buffer) => createHash('sha256').update(data).digest('hex');
const tus = { 'tus-resumable': '1.0.0' };

/** One browser's side of an upload; it knows only the file and the account. */
async function openUpload(client: TestClient, data: Buffer) {
  const body = { fileName: 'clip.mp4', fileSize: data.length, fingerprint: sha256(data) };
  const issued = await client.call(uploadsApi.uploadUrl, { body });
  if (!issued.body) throw new Error(`upload-url answered ${issued.status}`);
  const { uploadUrl, offsetBytes } = issued.body;
  return { url: new URL(uploadUrl, client.baseUrl).pathname, offsetBytes };
}

async function offsetOf(client: TestClient, url: string): Promise<number> {
  const head = await client.fetch(url, { method: 'HEAD', headers: tus });
  return head.status === 200 ? Number(head.headers.get('upload-offset')) : Number.NaN;
}

async function sendPart(client: TestClient, url: string, data: Buffer, from: number): Promise<number> {
  const part = data.subarray(from, from + PART_BYTES);
  const answer = await client.fetch(url, {
    method: 'PATCH',
    headers: {
      ...tus,
      'content-type': 'application/offset+octet-stream',
      'upload-offset': String(from),
      'upload-checksum': `sha256 ${createHash('sha256').update(part).digest('base64')}`,
    },
    body: new Uint8Array(part),
  });
  return answer.status;
}

const complete = (client: TestClient, url: string, data: Buffer) =>
  client.call(uploadsApi.uploadComplete, {
    body: { fileName: 'clip.mp4', fileSize: String(data.length), uploadUrl: url },
  });

describe.each(ENGINES.filter(hasEngine))('two browsers of one account on %s', (engine) => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startTestApp({ engine });
  });
  afterAll(() => app.stop());

  async function twoBrowsers(): Promise<[TestClient, TestClient]> {
    const user = await createUser(app.db);
    return [(await app.signIn(user)).client, (await app.signIn(user)).client];
  }
  const storedSha256 = async (client: TestClient) =>
    (await client.call(videosApi.list)).body?.map(({ originalSha256 }) => originalSha256);

  it('continue what the first had sent when it was killed at 40 percent: the second sends only the rest', async () => {
    const [first, second] = await twoBrowsers();
    const data = randomBytes(10 * MIB);
    const upload = await openUpload(first, data);
    for (let part = 0; part < 4; part += 1) {
      expect(await sendPart(first, upload.url, data, part * PART_BYTES)).toBe(204);
    }
    // The kill: a part is on its way when its connection ends.
    await new Promise<void>((resolve) => {
      const headers = {
        ...tus,
        cookie: first.cookies(),
        origin: first.baseUrl,
        'content-type': 'application/offset+octet-stream',
        'content-length': String(PART_BYTES),
        'upload-offset': String(4 * PART_BYTES),
        'upload-checksum': `sha256 ${createHash('sha256').update('of the whole part').digest('base64')}`,
      };
      const call = request(new URL(upload.url, first.baseUrl), { method: 'PATCH', headers });
      call.on('error', () => resolve());
      call.on('close', () => resolve());
      call.write(data.subarray(4 * PART_BYTES, 4 * PART_BYTES + 300_000), () => {
        setTimeout(() => call.destroy(), 100);
      });
    });

    const again = await openUpload(second, data);
    expect(again).toEqual({ url: upload.url, offsetBytes: 4 * PART_BYTES });
    let sentBytes = 0;
    for (let from = again.offsetBytes; from < data.length; from += PART_BYTES) {
      expect(await sendPart(second, again.url, data, from)).toBe(204);
      sentBytes += Math.min(PART_BYTES, data.length - from);
    }
    expect(sentBytes / data.length).toBe(0.6);
    expect((await complete(second, again.url, data)).status).toBe(200);
    expect(await storedSha256(second)).toEqual([sha256(data)]);
  });

  it('send the same file at the same time and store it whole, once', async () => {
    const browsers = await twoBrowsers();
    const data = randomBytes(6 * MIB);
    const statuses = new Set<number>();
    const [first, second] = browsers;
    const { url } = await openUpload(first, data);
    expect((await openUpload(second, data)).url).toBe(url);
    const videoIds = await Promise.all(
      browsers.map(async (client) => {
        // Each continues from the server's offset, as the page does after every refusal.
        for (let tries = 0; tries < 100; tries += 1) {
          const offset = await offsetOf(client, url);
          if (offset === data.length) break;
          if (!Number.isNaN(offset)) statuses.add(await sendPart(client, url, data, offset).catch(() => 0));
        }
        return (await complete(client, url, data)).body?.videoId;
      }),
    );
    expect(videoIds[0]).toBeTruthy();
    expect(videoIds[1]).toBe(videoIds[0]);
    expect(statuses).toContain(204);
    expect(await storedSha256(first)).toEqual([sha256(data)]);
    expect(await app.storage.verify(sha256(data))).toBe(true);
  });
});
