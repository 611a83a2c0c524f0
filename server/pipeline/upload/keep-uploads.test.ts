import { createHash, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { rm, truncate } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startS3, type S3TestServer } from '#server/test/s3-server.ts';
import { keepUploads } from './keep-uploads.ts';
import { createS3UploadParts } from './s3-upload-parts.ts';
import { createUploadFiles } from './upload-files.ts';

const PART_BYTES = 1000;
const NO_LIMIT = { checksum: null, maxOffsetBytes: Infinity };

let s3: S3TestServer;
let id: string;
beforeAll(async () => {
  s3 = await startS3();
});
beforeEach(() => {
  id = randomBytes(32).toString('base64url');
});
afterEach(() => s3.meet(null));
afterAll(() => s3.close());

/** A server that has just started on an empty disk. */
async function start() {
  const folder = await s3.newFolder();
  const warnings: string[] = [];
  const logger = { warn: (_: unknown, message: string) => void warnings.push(message) };
  const parts = createS3UploadParts(s3.settings);
  const here = createUploadFiles(folder);
  const { files, settled } = keepUploads({ files: here, parts, logger, partBytes: PART_BYTES });
  const wipe = () => rm(folder, { recursive: true });
  return { files, settled, parts, warnings, wipe, path: here.path(id) };
}

async function* streamOf(bytes: Buffer) {
  for (let at = 0; at < bytes.length; at += 700) yield bytes.subarray(at, at + 700);
}

/** Sends bytes as successive requests bring them. */
async function send(files: Awaited<ReturnType<typeof start>>['files'], requests: readonly Buffer[]) {
  let offset = 0;
  for (const bytes of requests) offset = await files.append(id, offset, streamOf(bytes), NO_LIMIT);
  return offset;
}

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

describe('unfinished uploads on a server with a bucket', () => {
  it('continue at the last byte on a new disk, and end as the file that was sent', async () => {
    const data = randomBytes(5432);
    const before = await start();
    await before.files.create(id);
    await send(before.files, [data.subarray(0, 300), data.subarray(300, 2900), data.subarray(2900, 4000)]);
    await before.settled();
    await before.wipe();

    const { files, settled, path, parts } = await start();
    expect(await Promise.all([files.sizeOf(id), files.sizeOf(id)])).toEqual([4000, 4000]);
    expect(await files.append(id, 4000, streamOf(data.subarray(4000)), NO_LIMIT)).toBe(5432);
    expect(await files.sha256Of(id, 5432)).toBe(sha256(data));
    await settled();
    expect((await parts.list(id)).at(-1)).toMatchObject({ offsetBytes: 5000, sizeBytes: 432 });

    await files.remove(id);
    await settled();
    expect(await parts.list(id)).toEqual([]);
    expect(existsSync(path)).toBe(false);
    expect(await files.sizeOf(id)).toBeNull();
  });

  it('are not delayed while the bucket does not answer, and are stored there from the next bytes on', async () => {
    const data = randomBytes(3000);
    const { files, settled, parts, warnings } = await start();
    await files.create(id);
    s3.meet(async (ctx) => {
      ctx.status = 403;
    });
    await send(files, [data.subarray(0, 2000)]);
    await settled();
    expect(warnings).toEqual(['bytes of an upload are on this disk alone']);

    s3.meet(null);
    await files.append(id, 2000, streamOf(data.subarray(2000)), NO_LIMIT);
    await settled();
    expect((await parts.list(id)).map(({ offsetBytes }) => offsetBytes)).toEqual([0, 1000, 2000]);
    expect(warnings).toHaveLength(1);
  });

  it('are restored as far as they are complete', async () => {
    const before = await start();
    await before.parts.put(id, 0, randomBytes(1000));
    await before.parts.put(id, 1000, randomBytes(500));
    await before.parts.put(id, 2000, randomBytes(500));
    const { files } = await start();
    expect(await files.sizeOf(id)).toBe(1500);
  });

  it('leave nothing half restored', async () => {
    const before = await start();
    await before.parts.put(id, 0, randomBytes(1000));
    await before.parts.put(id, 1000, randomBytes(1000));
    const { files, path } = await start();
    s3.meet(async (ctx, next) => {
      if (ctx.path.endsWith('000000001000')) ctx.status = 403;
      else await next();
    });
    await expect(files.sizeOf(id)).rejects.toThrow('The object storage');
    expect(existsSync(path)).toBe(false);
    s3.meet(null);
    expect(await files.sizeOf(id)).toBe(2000);
  });

  it('start again without the earlier bytes, even if the disk lost some', async () => {
    const before = await start();
    await before.files.create(id);
    await send(before.files, [randomBytes(2500)]);
    await before.settled();

    const data = randomBytes(800);
    await truncate(before.path, 500);
    const restarted = createUploadFiles(before.path.slice(0, -id.length - 1));
    const again = keepUploads({ files: restarted, parts: before.parts, logger: { warn: () => undefined } });
    await again.files.append(id, 500, streamOf(data), NO_LIMIT);
    await again.settled();
    expect(await before.parts.list(id)).toEqual([{ offsetBytes: 0, sizeBytes: 1300 }]);

    await again.files.reset(id);
    expect(await before.parts.list(id)).toEqual([]);
    expect(await again.files.sizeOf(id)).toBe(0);
    await again.files.append(id, 0, streamOf(data), NO_LIMIT);
    await again.settled();
    const { files } = await start();
    expect(await files.sizeOf(id)).toBe(800);
    expect(await files.sha256Of(id, 800)).toBe(sha256(data));
  });

  it('are listed for housekeeping wherever their bytes are', async () => {
    const elsewhere = randomBytes(32).toString('base64url');
    const { files, parts } = await start();
    await files.create(id);
    await parts.put(elsewhere, 0, randomBytes(10));
    const found = await files.list();
    expect(found.map((item) => item.id)).toEqual(expect.arrayContaining([id, elsewhere]));
    for (const { changedAtMs } of found) expect(Math.abs(changedAtMs - Date.now())).toBeLessThan(60_000);
  });
});
