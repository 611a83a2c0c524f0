import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import os from 'node:os';
import path from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compose, type Services } from '#server/compose.ts';
import { readConfig } from '#server/config.ts';
import { createLogger } from '#server/logger.ts';
import { createTestDatabase, type TestDatabase } from '#server/test/test-database.ts';

const SCRIPT = `console.log(${JSON.stringify('x'.repeat(5000))})`;
const PAGE = '<!doctype html><html><head><title>t</title></head><body></body></html>';

describe('the built pages', () => {
  let database: TestDatabase;
  let services: Services;
  let webDir: string;
  let port: number;
  beforeAll(async () => {
    webDir = await mkdtemp(path.join(os.tmpdir(), 'reelmend-web-'));
    await mkdir(path.join(webDir, 'assets'));
    await writeFile(path.join(webDir, 'index.html'), PAGE);
    await writeFile(path.join(webDir, 'favicon.svg'), '<svg/>');
    await writeFile(path.join(webDir, 'assets', 'index-abc123.js'), SCRIPT);
    await writeFile(path.join(webDir, 'assets', 'index-abc123.js.map'), '{}');
    for (const name of ['gone.js', 'gone-coded.js'])
      await writeFile(path.join(webDir, 'assets', name), SCRIPT);
    database = await createTestDatabase('sqlite');
    services = await compose({
      config: readConfig({ NODE_ENV: 'test', PORT: '0', DATA_DIR: database.dataDir, RATE_LIMITS: 'off' }),
      logger: createLogger('silent'),
      version: '0.0.0-test',
      workerUrl: new URL('../pipeline/worker.ts', import.meta.url),
      tools: { ffmpeg: 'ffmpeg', ffprobe: 'ffprobe' },
      webDir,
      work: [],
    });
    services.httpServer.listen(0, '127.0.0.1');
    await once(services.httpServer, 'listening');
    const address = services.httpServer.address();
    if (address === null || typeof address === 'string') throw new Error('No port.');
    port = address.port;
  });
  afterAll(async () => {
    await services.sockets.close();
    services.httpServer.close();
    services.httpServer.closeAllConnections();
    await services.close();
    await database.remove();
    await rm(webDir, { recursive: true, force: true });
  });

  /** Unlike fetch, sends the path unchanged and leaves the content encoded. */
  function get(urlPath: string, headers: Record<string, string> = {}, method = 'GET') {
    return new Promise<{ status: number; headers: Record<string, unknown>; body: Buffer }>(
      (resolve, reject) => {
        const call = request({ host: '127.0.0.1', port, path: urlPath, method, headers }, (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('end', () =>
            resolve({
              status: response.statusCode ?? 0,
              headers: response.headers,
              body: Buffer.concat(chunks),
            }),
          );
        });
        call.on('error', reject);
        call.end();
      },
    );
  }

  it.each(['/', '/videos', '/editor/some-id', '/verify-email?token=x', '/nothing-here', '/index'])(
    'answer %s with the application, fresh each time',
    async (urlPath) => {
      const answer = await get(urlPath);
      expect(answer.status).toBe(200);
      expect(answer.headers['content-type']).toBe('text/html; charset=utf-8');
      expect(answer.headers['cache-control']).toBe('no-store');
      expect(answer.body.toString()).toContain('<title>t</title>');
    },
  );

  it('carry the nonce of their own policy, a new one each time', async () => {
    const nonces = await Promise.all(
      [1, 2].map(async () => {
        const { headers, body } = await get('/');
        const nonce = /property="csp-nonce" nonce="([^"]+)"/.exec(body.toString())?.[1] ?? '';
        expect(headers['content-security-policy']).toContain(`style-src 'self' 'nonce-${nonce}'`);
        return nonce;
      }),
    );
    expect(new Set(nonces).size).toBe(2);
  });

  it('allow hashed files to be cached for ever, and require others to be revalidated', async () => {
    const script = await get('/assets/index-abc123.js');
    expect(script.headers['cache-control']).toBe('public, max-age=31536000, immutable');
    expect(script.headers['content-type']).toBe('text/javascript; charset=utf-8');
    expect(script.body.toString()).toBe(SCRIPT);
    const icon = await get('/favicon.svg');
    expect(icon.headers['cache-control']).toBe('no-cache');
    const again = await get('/favicon.svg', { 'if-none-match': String(icon.headers['etag']) });
    expect([again.status, again.body.length]).toEqual([304, 0]);
  });

  it('are compressed for clients that accept it', async () => {
    const brotli = await get('/assets/index-abc123.js', { 'accept-encoding': 'gzip, br' });
    expect(brotli.headers['content-encoding']).toBe('br');
    expect(brotliDecompressSync(brotli.body).toString()).toBe(SCRIPT);
    const zipped = await get('/assets/index-abc123.js', { 'accept-encoding': 'gzip' });
    expect(zipped.headers['content-encoding']).toBe('gzip');
    expect(gunzipSync(zipped.body).toString()).toBe(SCRIPT);
    expect(brotli.body.length).toBeLessThan(SCRIPT.length / 10);
  });

  it('have a separate tag for each encoding', async () => {
    const codings = ['identity', 'gzip', 'br'];
    const tagOf = async (coding: string) =>
      String((await get('/assets/index-abc123.js', { 'accept-encoding': coding })).headers['etag']);
    const tags = await Promise.all(codings.map(tagOf));
    expect(new Set(tags).size).toBe(3);
    for (const [at, coding] of codings.entries()) {
      const again = (tag: string) =>
        get('/assets/index-abc123.js', { 'accept-encoding': coding, 'if-none-match': tag });
      expect((await again(tags[at] ?? '')).status).toBe(304);
      expect((await again(tags[(at + 1) % 3] ?? '')).status).toBe(200);
    }
  });

  it.each([
    '/../config.ts',
    '/..%2f..%2fetc/passwd',
    '/%2e%2e/%2e%2e/etc/passwd',
    '/assets/../../session-keys',
    '/session-keys.txt',
    '/reelmend.sqlite',
    '/.env',
    '/.git/HEAD',
    '/package.json',
    '/assets/',
    '/assets/nothing.js',
    '/assets/index-abc123.js.map',
    '/src/main.tsx',
  ])('serve no file for %s', async (urlPath) => {
    const answer = await get(urlPath);
    expect(answer.status).toBe(404);
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
  });

  it.each([
    ['gone.js', undefined],
    ['gone-coded.js', 'br'],
  ])('do not cache that %s is missing while a new build replaces it', async (name, coding) => {
    const file = path.join(webDir, 'assets', name);
    await rm(file);
    const headers: Record<string, string> = coding === undefined ? {} : { 'accept-encoding': coding };
    const missing = await get(`/assets/${name}`, headers);
    expect(missing.status).toBe(404);
    expect(missing.headers['cache-control']).toBe('no-store');
    expect(missing.headers['content-encoding']).toBeUndefined();
    expect(missing.headers['etag']).toBeUndefined();
    expect(JSON.parse(missing.body.toString())).toMatchObject({ code: 'not_found' });
    await writeFile(file, SCRIPT);
    expect((await get(`/assets/${name}`, headers)).status).toBe(200);
  });

  it('are read only', async () => {
    expect((await get('/', {}, 'HEAD')).status).toBe(200);
    expect((await get('/', { origin: `http://127.0.0.1:${port}` }, 'POST')).status).toBe(404);
  });
});
