import { createHash, randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { uploadsApi } from '#common/api/uploads.ts';
import { videosApi } from '#common/api/videos.ts';
import { onPath } from '#server/media/ffmpeg/find-tools.ts';
import { injectRepeats, makeMovingClip } from './broken-clips.ts';
import { startServerProcess, type ServerProcess } from './kill-server.ts';
import { processesNaming, testTools } from './media-job.ts';
import { createTestClient, type TestClient } from './test-client.ts';
import { uploadBytes } from './upload-bytes.ts';

const PASSWORD = 'Mended-Clip-42';
let dataDir: string;
let port: number;
let slowTools: Awaited<ReturnType<typeof makeSlowTools>>;
let server: ServerProcess;
let client: TestClient;

beforeEach(async () => {
  dataDir = await mkdtemp(path.join(tmpdir(), 'reelmend-kill-'));
  port = await freePort();
  slowTools = await makeSlowTools(dataDir);
  server = await start();
  client = createTestClient(server.url);
  const body = { username: 'maker', email: 'maker@example.test', password: PASSWORD };
  const json = { method: 'POST', headers: { 'content-type': 'application/json' } };
  await client.fetch('/api/auth/register', { ...json, body: JSON.stringify(body) });
  const login = { username: 'maker', password: PASSWORD };
  const signedIn = await client.fetch('/api/auth/login', { ...json, body: JSON.stringify(login) });
  expect(signedIn.status).toBe(200);
});
afterEach(async () => {
  await server.kill();
  await rm(dataDir, { recursive: true, force: true });
});

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

const start = () => startServerProcess(dataDir, port, slowTools.searchPath);

async function restart(): Promise<void> {
  await server.kill();
  server = await start();
}

const tusHeaders = { 'tus-resumable': '1.0.0' };

async function offsetOf(url: string): Promise<number> {
  const head = await client.fetch(url, { method: 'HEAD', headers: tusHeaders });
  expect(head.status).toBe(200);
  return Number(head.headers.get('upload-offset'));
}

async function statusOf(id: string) {
  const { body } = await client.call(videosApi.status, { params: { id } });
  if (!body) throw new Error('no status');
  return body;
}

async function makeStutteringClip(folder: string): Promise<string> {
  const [clean, broken] = [path.join(folder, 'clean.mp4'), path.join(folder, 'broken.mp4')];
  await makeMovingClip({ tools: testTools, outputPath: clean, seconds: 12, width: 160, height: 96 });
  const runs = [60, 150, 240].map((frame) => ({ frame, count: 3 }));
  await injectRepeats({ tools: testTools, inputPath: clean, outputPath: broken, history: 'held', runs });
  return broken;
}

/**
 * A folder for the front of PATH whose ffmpeg reads clips no faster than they play, as long as `slow` exists: a repair
 * then lasts longer than the 8 s that a stopping server leaves its work, and costs no more.
 */
async function makeSlowTools(folder: string): Promise<{ searchPath: string; slow: string }> {
  const searchPath = process.env['PATH'] ?? '';
  const [tools, slow] = [path.join(folder, 'slow-tools'), path.join(folder, 'slow')];
  const ffmpeg = await onPath('ffmpeg', searchPath);
  const script = `#!/bin/sh
case "$*" in *'${folder}'*) [ -e '${slow}' ] && exec '${ffmpeg}' -re "$@";; esac
exec '${ffmpeg}' "$@"
`;
  await mkdir(tools);
  await writeFile(path.join(tools, 'ffmpeg'), script, { mode: 0o755 });
  await writeFile(slow, '');
  return { searchPath: [tools, searchPath].join(path.delimiter), slow };
}

describe('a server that is killed', () => {
  it('loses no acknowledged byte of an upload, verified or not', async () => {
    const data = randomBytes(24 * 1024 * 1024);
    const issued = await client.call(uploadsApi.uploadUrl, {
      body: { fileName: 'a.mp4', fileSize: data.length },
    });
    const url = new URL(issued.body?.uploadUrl ?? '').pathname;
    let acknowledged = 0;
    let kills = 0;
    for (let round = 0; acknowledged < data.length; round += 1) {
      const part = data.subarray(acknowledged, acknowledged + 4 * 1024 * 1024);
      const checksum = `sha256 ${createHash('sha256').update(part).digest('base64')}`;
      const sending = client
        .fetch(url, {
          method: 'PATCH',
          headers: {
            ...tusHeaders,
            'content-type': 'application/offset+octet-stream',
            'upload-offset': String(acknowledged),
            ...(round % 2 === 0 ? { 'upload-checksum': checksum } : {}),
          },
          body: new Uint8Array(part),
        })
        .then((answer) => answer.status)
        .catch(() => null);
      if (kills < 3 && round % 2 === kills % 2) {
        await new Promise((resolve) => setTimeout(resolve, 5 + 10 * kills));
        await restart();
        kills += 1;
      }
      if ((await sending) === 204) acknowledged += part.length;
      const offset = await offsetOf(url);
      expect(offset).toBeGreaterThanOrEqual(acknowledged);
      acknowledged = offset;
    }
    expect(kills).toBe(3);
    const done = await client.call(uploadsApi.uploadComplete, {
      body: { fileName: 'a.mp4', fileSize: String(data.length), uploadUrl: url },
    });
    const [video] = (await client.call(videosApi.list)).body ?? [];
    expect(video?.id).toBe(done.body?.videoId);
    expect(video?.originalSha256).toBe(createHash('sha256').update(data).digest('hex'));
    expect(await readdir(path.join(dataDir, 'uploads'))).toEqual([]);
  });

  it('continues a repair after an orderly stop and after a kill, and leaves no media tool running', async () => {
    const id = await uploadBytes(client, await readFile(await makeStutteringClip(dataDir)));
    const underWay = async () => {
      const often = { timeout: 90_000, interval: 250 };
      await expect.poll(() => processesNaming(dataDir), often).not.toEqual([]);
      await expect.poll(async () => (await statusOf(id)).progress, often).toBeGreaterThan(0);
      expect((await statusOf(id)).status).toBe('processing');
    };
    await underWay();
    const startedAt = performance.now();
    expect(await server.stop()).toBe(0);
    expect(performance.now() - startedAt).toBeLessThan(20_000);
    expect(await processesNaming(dataDir)).toEqual([]);

    server = await start();
    await underWay();
    await server.kill();
    await expect.poll(() => processesNaming(dataDir), { timeout: 30_000, interval: 250 }).toEqual([]);

    await rm(slowTools.slow);
    server = await start();
    await expect
      .poll(async () => (await statusOf(id)).status, { timeout: 150_000, interval: 500 })
      .toBe('completed');
    const whole = await client.fetch(`/api/videos/${id}/download`);
    const bytes = Buffer.from(await whole.arrayBuffer());
    const [video] = (await client.call(videosApi.list)).body ?? [];
    expect(createHash('sha256').update(bytes).digest('hex')).toBe(video?.resultSha256);
    expect(await readdir(path.join(dataDir, 'work'))).toEqual([]);
  }, 300_000);
});
