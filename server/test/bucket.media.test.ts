import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildPath } from '#common/api/build-path.ts';
import { uploadsApi } from '#common/api/uploads.ts';
import { mediaPaths, videosApi } from '#common/api/videos.ts';
import { Video } from '#db/models/video.ts';
import { createS3UploadParts } from '#server/pipeline/upload/s3-upload-parts.ts';
import { makeMovingClip } from './broken-clips.ts';
import { createUser } from './factories.ts';
import { testTools as tools } from './media-job.ts';
import { startS3, type S3TestServer } from './s3-server.ts';
import { startTestApp, type TestApp } from './test-app.ts';
import type { TestClient } from './test-client.ts';
import { uploadBytes } from './upload-bytes.ts';

let folder: string;
let s3: S3TestServer;
let app: TestApp;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'reelmend-bucket-'));
  s3 = await startS3();
  app = await startTestApp({
    engine: 'sqlite',
    work: ['media', 'mail'],
    tools,
    env: s3.env,
  });
});
afterAll(async () => {
  await app.stop();
  await s3.close();
  await rm(folder, { recursive: true, force: true });
});

const sha256Of = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
const copies = () => path.join(app.config.dataDir, 'copies');

async function make(name: string, seconds: number): Promise<Buffer> {
  const outputPath = path.join(folder, name);
  await makeMovingClip({ tools, outputPath, seconds, width: 320, height: 192 });
  return readFile(outputPath);
}

async function mended(client: TestClient, bytes: Buffer): Promise<string> {
  const id = await uploadBytes(client, new Uint8Array(bytes));
  const until = Date.now() + 60_000;
  for (;;) {
    const { status, errorMessage } = await Video.query(app.db).findById(id).throwIfNotFound();
    if (status === 'completed') return id;
    if (status === 'failed' || Date.now() > until) throw new Error(`${status}: ${errorMessage}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function bytesOf(client: TestClient, id: string, of: 'download' | 'original'): Promise<Uint8Array> {
  const answer = await client.fetch(buildPath(mediaPaths[of], { id }));
  expect(answer.status).toBe(200);
  return new Uint8Array(await answer.arrayBuffer());
}

it('clips in a bucket survive the loss of the disk: they are repaired, returned whole and deleted', async () => {
  const { client } = await app.signIn(await createUser(app.db, { plan: 'creator-pro' }));
  const clip = await make('clip.mp4', 2);
  const id = await mended(client, clip);
  expect(existsSync(path.join(app.config.dataDir, 'objects'))).toBe(false);
  const result = sha256Of(await bytesOf(client, id, 'download'));

  await rm(copies(), { recursive: true });
  expect(sha256Of(await bytesOf(client, id, 'original'))).toBe(sha256Of(clip));
  expect(sha256Of(await bytesOf(client, id, 'download'))).toBe(result);
  const { body: part, status } = await client.fetch(buildPath(mediaPaths.download, { id }), {
    headers: { range: 'bytes=0-99' },
  });
  await part?.cancel();
  expect(status).toBe(206);

  // A clip without its index is read with the help of the first one, which must be fetched for it.
  const longer = await make('longer.mp4', 3);
  const index = longer.indexOf('moov') - 4;
  const media = [longer.subarray(0, index), longer.subarray(index + longer.readUInt32BE(index))];
  const again = await mended(client, Buffer.concat(media));
  const video = await Video.query(app.db).findById(again).throwIfNotFound();
  expect(video.durationMs).toBeGreaterThan(2900);
  expect((await readdir(copies())).toSorted()).toContain(sha256Of(clip));

  expect((await client.call(videosApi.remove, { params: { id } })).status).toBe(200);
}, 120_000);

it('an interrupted upload survives the loss of the disk too', async () => {
  const { client } = await app.signIn(await createUser(app.db));
  const clip = await make('half.mp4', 2);
  const issued = await client.call(uploadsApi.uploadUrl, { body: { fileSize: clip.length } });
  const uploadUrl = issued.body?.uploadUrl ?? '';
  const { pathname } = new URL(uploadUrl);
  const tus = { 'tus-resumable': '1.0.0' };
  const send = (offset: number, bytes: Buffer) =>
    client.fetch(pathname, {
      method: 'PATCH',
      headers: {
        ...tus,
        'content-type': 'application/offset+octet-stream',
        'upload-offset': String(offset),
      },
      body: new Uint8Array(bytes),
    });
  const half = clip.length >> 1;
  expect((await send(0, clip.subarray(0, half))).status).toBe(204);

  // The state of a new dyno.
  const here = path.join(app.config.dataDir, 'uploads', path.basename(pathname));
  const parts = createS3UploadParts(app.config.s3 ?? s3.settings);
  await expect.poll(() => parts.list(path.basename(pathname))).toHaveLength(1);
  await rm(here);

  const head = await client.fetch(pathname, { method: 'HEAD', headers: tus });
  expect(head.headers.get('upload-offset')).toBe(String(half));
  expect((await send(half, clip.subarray(half))).status).toBe(204);
  const done = await client.call(uploadsApi.uploadComplete, {
    body: { fileName: 'half.mp4', fileSize: String(clip.length), uploadUrl },
  });
  const id = done.body?.videoId ?? '';
  expect(sha256Of(await bytesOf(client, id, 'original'))).toBe(sha256Of(clip));
  await expect.poll(() => parts.list(path.basename(pathname))).toEqual([]);
}, 60_000);
