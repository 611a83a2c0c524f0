import { createHash, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { uploadsApi } from '#common/api/uploads.ts';
import { Session } from '#db/models/session.ts';
import { Video } from '#db/models/video.ts';
import { startTestApp, type TestApp } from '#server/test/test-app.ts';
import type { TestClient } from '#server/test/test-client.ts';
import { ENGINES, hasEngine } from '#server/test/test-database.ts';

describe.each(ENGINES)('uploads behind real sessions on %s', (engine) => {
  if (!hasEngine(engine)) return;
  let app: TestApp;
  beforeAll(async () => {
    app = await startTestApp({ engine });
  });
  afterAll(async () => app.stop());

  const pathOf = (url: string | undefined) => new URL(url ?? '').pathname;
  const patch = (client: TestClient, url: string, offset: number, part: Buffer, headers = {}) =>
    client.fetch(url, {
      method: 'PATCH',
      headers: {
        'tus-resumable': '1.0.0',
        'content-type': 'application/offset+octet-stream',
        'upload-offset': String(offset),
        ...headers,
      },
      body: new Uint8Array(part),
    });
  const offsetOf = async (client: TestClient, url: string) => {
    const head = await client.fetch(url, { method: 'HEAD', headers: { 'tus-resumable': '1.0.0' } });
    return { status: head.status, offset: Number(head.headers.get('upload-offset')) };
  };

  it('continues at the same byte after the session ended and the user signed in again', async () => {
    const { client, user } = await app.signIn();
    const data = randomBytes(300_000);
    const issued = await client.call(uploadsApi.uploadUrl, { body: { fileSize: data.length } });
    const url = pathOf(issued.body?.uploadUrl);
    expect((await patch(client, url, 0, data.subarray(0, 100_000))).status).toBe(204);
    await Session.query(app.db).delete().where({ userId: user.id });
    expect((await patch(client, url, 100_000, data.subarray(100_000))).status).toBe(401);
    const again = (await app.signIn(user)).client;
    expect(await offsetOf(again, url)).toEqual({ status: 200, offset: 100_000 });
    const stranger = (await app.signIn()).client;
    expect((await offsetOf(stranger, url)).status).toBe(404);
    expect((await patch(again, url, 100_000, data.subarray(100_000))).status).toBe(204);
    const done = await again.call(uploadsApi.uploadComplete, {
      body: { fileName: 'a.mp4', fileSize: String(data.length), uploadUrl: issued.body?.uploadUrl },
    });
    const video = await Video.query(app.db).findById(done.body?.videoId ?? '');
    expect(video?.originalSha256).toBe(createHash('sha256').update(data).digest('hex'));
  });

  it('refuses bytes that a page of another site sends with the cookie', async () => {
    const { client } = await app.signIn();
    const issued = await client.call(uploadsApi.uploadUrl, { body: {} });
    const url = pathOf(issued.body?.uploadUrl);
    const evil: Record<string, string>[] = [
      { origin: 'https://evil.test' },
      { origin: 'null' },
      { origin: 'https://evil.test', 'sec-fetch-site': 'cross-site' },
    ];
    for (const headers of evil) {
      expect((await patch(client, url, 0, randomBytes(10), headers)).status).toBe(403);
      const put = await client.fetch(url, {
        method: 'PUT',
        headers: { 'content-type': 'video/mp4', ...headers },
        body: new Uint8Array(10),
      });
      expect(put.status).toBe(403);
      const issue = await client.fetch('/api/videos/upload-url', { method: 'POST', headers });
      expect(issue.status).toBe(403);
    }
    expect(await offsetOf(client, url)).toEqual({ status: 200, offset: 0 });
  });

  it('keeps upload answers out of caches and allows no other origins', async () => {
    const { client } = await app.signIn();
    const issued = await client.call(uploadsApi.uploadUrl);
    expect(issued.headers.get('cache-control')).toBe('no-store');
    const url = pathOf(issued.body?.uploadUrl);
    for (const method of ['OPTIONS', 'HEAD']) {
      const answer = await client.fetch(url, {
        method,
        headers: { 'tus-resumable': '1.0.0', origin: 'https://evil.test' },
      });
      expect(answer.headers.get('access-control-allow-origin')).toBeNull();
    }
    for (const path of [
      '/uploads/',
      '/uploads',
      '/uploads/../reelmend.sqlite',
      '/uploads/%2e%2e/x',
      '/objects/',
    ]) {
      expect((await client.fetch(path)).status).toBeGreaterThanOrEqual(404);
    }
    expect((await client.fetch(url)).status).toBeGreaterThanOrEqual(404);
  });
});
