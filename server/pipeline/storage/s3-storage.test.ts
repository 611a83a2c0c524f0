import { createHash, randomBytes } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { PutObjectCommand } from '@aws-sdk/client-s3';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { startS3, type S3TestServer } from '#server/test/s3-server.ts';
import { createS3Client } from './s3-client.ts';
import { createS3Storage } from './s3-storage.ts';
import { describeStorage } from './storage-contract.ts';

let s3: S3TestServer;
beforeAll(async () => {
  s3 = await startS3();
});
afterEach(() => s3.meet(null));
afterAll(() => s3.close());

const open = async (change: Partial<S3TestServer['settings']> = {}) => {
  const folder = await s3.newFolder();
  return { folder, storage: await createS3Storage({ ...s3.settings, ...change }, folder) };
};

/** Writes to the bucket without the storage. */
async function write(sha256: string, bytes: Buffer): Promise<void> {
  const { bucket, prefix } = s3.settings;
  const client = createS3Client(s3.settings);
  await client.send(new PutObjectCommand({ Bucket: bucket, Key: `${prefix}${sha256}`, Body: bytes }));
  client.destroy();
}

describeStorage('S3', async () => {
  const { storage } = await open();
  return { storage, spoil: (sha256) => write(sha256, Buffer.from('spoiled')) };
});

const sha256Of = (data: Buffer) => createHash('sha256').update(data).digest('hex');

async function fileOf(data: Buffer): Promise<string> {
  const file = path.join(await s3.newFolder(), 'clip.mp4');
  await writeFile(file, data);
  return file;
}

it('sends large files in parts and returns them whole', async () => {
  const { storage } = await open();
  const data = randomBytes((20 << 20) + 12_345);
  const stored = await storage.put(await fileOf(data));
  expect(stored).toEqual({ sha256: sha256Of(data), sizeBytes: data.length });
  expect(await storage.verify(stored.sha256)).toBe(true);
});

it('gives tools a copy on another machine, once for all simultaneous requests', async () => {
  const { storage } = await open();
  const data = randomBytes(200_000);
  const { sha256 } = await storage.put(await fileOf(data));
  const elsewhere = await open();
  let asked = 0;
  s3.meet(async (ctx, next) => {
    if (ctx.method === 'GET') asked += 1;
    await next();
  });
  const held = await Promise.all([1, 2, 3].map(() => elsewhere.storage.localPath(sha256)));
  for (const { path: file } of held) expect((await readFile(file)).equals(data)).toBe(true);
  expect(asked).toBe(1);
  await Promise.all(held.map(({ release }) => release()));
});

it('never returns bytes that do not match the key', async () => {
  const { storage, folder } = await open();
  const sha256 = sha256Of(randomBytes(8));
  await write(sha256, Buffer.from('something else'));
  await expect(storage.localPath(sha256)).rejects.toThrow(/other bytes/);
  expect(await readdir(folder)).toEqual([]);
});

it('retries when the service is busy, and says so when it stays busy', async () => {
  const { storage } = await open();
  let refusals = 2;
  s3.meet(async (ctx, next) => {
    if (refusals-- <= 0) return next();
    ctx.status = 503;
    ctx.body = '<Error><Code>SlowDown</Code><Message>Reduce your request rate.</Message></Error>';
  });
  const data = randomBytes(100);
  expect(await storage.putBuffer(data)).toEqual({ sha256: sha256Of(data), sizeBytes: 100 });
  refusals = Infinity;
  await expect(storage.putBuffer(randomBytes(10))).rejects.toMatchObject({ code: 'unavailable' });
});

it('keeps the source and leaves no object when an upload fails', async () => {
  const { storage } = await open();
  const data = randomBytes(20 << 20);
  const source = await fileOf(data);
  s3.meet(async (ctx, next) => {
    // The second part never arrives, and the service cannot cancel an upload.
    if (ctx.query.partNumber === '2') ctx.throw(403);
    if (ctx.method === 'DELETE') ctx.status = 204;
    else await next();
  });
  await expect(storage.put(source)).rejects.toThrow();
  s3.meet(null);
  expect(await storage.stat(sha256Of(data))).toBeNull();
  expect((await readFile(source)).equals(data)).toBe(true);
  expect((await storage.put(source)).sizeBytes).toBe(data.length);
});

it.each([
  ['without a bucket of this name', { bucket: 'nobodys' }, /nobodys of S3_BUCKET does not exist/],
  ['where nobody answers', { endpoint: 'http://127.0.0.1:9' }, /does not answer .*Check S3_ENDPOINT/],
])(
  'does not open %s, and says what to do',
  async (_, change, sentence) => {
    await expect(open(change)).rejects.toThrow(sentence);
  },
  60_000,
);

it('says so when another machine answers instead, or none', async () => {
  const { storage } = await open();
  const { sha256 } = await storage.putBuffer(randomBytes(8));
  s3.meet(async (ctx) => {
    ctx.status = 403;
    ctx.body = '<html>Blocked by the proxy';
  });
  await expect(storage.read(sha256)).rejects.toMatchObject({ code: 'unavailable' });
  const gone = await startS3();
  const away = await createS3Storage(gone.settings, await s3.newFolder());
  await gone.close();
  await expect(away.read(sha256)).rejects.toMatchObject({ code: 'unavailable' });
}, 30_000);
