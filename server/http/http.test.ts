import { once } from 'node:events';
import { connect } from 'node:net';
import Koa from 'koa';
import { pino } from 'pino';
import request from 'supertest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { authApi } from '#common/api/auth.ts';
import { errorBody } from '#common/errors.ts';
import { ideasApi } from '#common/api/ideas.ts';
import { Idea } from '#db/models/idea.ts';
import { AppError } from '#server/errors.ts';
import { startTestApp, TEST_PUBLIC_URL, type TestApp } from '#server/test/test-app.ts';
import type { TestClient } from '#server/test/test-client.ts';
import type { AppState } from './context.ts';
import { answerErrors } from './error-middleware.ts';
import { loggedPath } from './logged-path.ts';
import { withinDeadline } from './validate.ts';

describe('the edge of the API', () => {
  let app: TestApp;
  let client: TestClient;
  beforeAll(async () => {
    app = await startTestApp({ engine: 'sqlite' });
    ({ client } = await app.signIn());
  });
  afterAll(() => app.stop());

  const post = (headers: Record<string, string>, body: string | null = '{"text":"From another site"}') =>
    client.fetch(ideasApi.create.path, { method: 'POST', headers, ...(body === null ? {} : { body }) });
  const JSON_TYPE = { 'content-type': 'application/json' };

  describe('writes', () => {
    it.each([
      ['another site', { origin: 'https://evil.test' }],
      ['an opaque origin', { origin: 'null' }],
      ['another site by Sec-Fetch-Site', { 'sec-fetch-site': 'cross-site' }],
      ['a sibling site', { 'sec-fetch-site': 'same-site' }],
    ])('are refused from %s', async (_name, headers) => {
      const answer = await post({ ...JSON_TYPE, ...headers });
      expect(answer.status).toBe(403);
      expect(await answer.json()).toMatchObject({ code: 'forbidden_origin' });
      expect(answer.headers.get('access-control-allow-origin')).toBeNull();
      expect(await Idea.query(app.db).resultSize()).toBe(0);
    });

    it('are accepted from a program, which sends no origin', async () => {
      const answer = await fetch(new URL(ideasApi.create.path, app.baseUrl), {
        method: 'POST',
        headers: { ...JSON_TYPE, cookie: client.cookies() },
        body: '{"text":"From a script with a cookie jar"}',
      });
      expect(answer.status).toBe(201);
    });

    it('are refused when only the referrer names another site', async () => {
      const answer = await rawRequest(app.baseUrl, [
        `POST ${ideasApi.vote.path.replace(':id', 'none')} HTTP/1.1`,
        `Cookie: ${client.cookies()}`,
        'Referer: https://evil.test/page',
        'Content-Length: 0',
      ]);
      expect(answer).toMatch(/^HTTP\/1.1 403 /);
    });

    it.each([authApi.login, authApi.logout])('of $path are refused from another site', async ({ path }) => {
      const answer = await client.fetch(path, { method: 'POST', headers: { origin: 'https://evil.test' } });
      expect(answer.status).toBe(403);
    });

    it('are accepted from PUBLIC_URL and from the name that the visitor used', async () => {
      for (const origin of [TEST_PUBLIC_URL, app.baseUrl]) {
        expect((await post({ ...JSON_TYPE, origin })).status).toBe(201);
      }
    });

    it('must be JSON', async () => {
      const answer = await post({ 'content-type': 'text/plain' });
      expect(answer.status).toBe(415);
    });

    it('ignore method overrides', async () => {
      const answer = await post({ ...JSON_TYPE, 'x-http-method-override': 'DELETE' });
      expect(answer.status).toBe(201);
    });

    it('answer 400 for malformed JSON and 413 for too much of it', async () => {
      expect((await post(JSON_TYPE, '{"text":')).status).toBe(400);
      expect((await post(JSON_TYPE, JSON.stringify({ text: 'x'.repeat(70_000) }))).status).toBe(413);
    });

    it('answer 400 for a body that is not compressed as its header says', async () => {
      expect((await post({ ...JSON_TYPE, 'content-encoding': 'gzip' })).status).toBe(400);
    });

    it.each([
      ['in a text', { text: 'An idea\0' }],
      ['in a name', { text: 'An idea', userName: 'A\0na' }],
      ['deep inside', { text: 'An idea', more: [{ deep: ['\0'] }] }],
    ])('answer 400 for a NUL character %s, which databases store differently', async (_where, body) => {
      const answer = await post(JSON_TYPE, JSON.stringify(body));
      expect(answer.status).toBe(400);
      expect(await answer.json()).toMatchObject({ code: 'invalid_input' });
    });

    it('accept deep and polluting JSON without harm', async () => {
      const deep = `${'{"a":'.repeat(1000)}1${'}'.repeat(1000)}`;
      expect((await post(JSON_TYPE, deep)).status).toBe(400);
      const polluting =
        '{"text":"An idea","__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}';
      expect((await post(JSON_TYPE, polluting)).status).toBe(400);
      expect('polluted' in {}).toBe(false);
    });
  });

  describe('errors', () => {
    it('have one form, as JSON', async () => {
      for (const [path, status] of [
        ['/api/nothing', 404],
        ['/api/auth/user', 401],
        ['/api', 404],
      ] as const) {
        const answer = await app.client().fetch(path);
        expect(answer.status).toBe(status);
        expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
        const body = errorBody.parse(await answer.json());
        expect(body.error).toBe(body.message);
        expect(body.requestId).toBe(answer.headers.get('x-request-id'));
      }
    });

    // Limits, sessions and cache rules depend on how an address begins, so another spelling would bypass them.
    it.each(['/API/ideas', '/Api/auth/user', '/api/IDEAS', '/Uploads/x'])(
      'answer 404 for %s, which is not one of our addresses',
      async (path) => {
        const answer = await client.fetch(path);
        expect(answer.status).toBe(404);
      },
    );

    it.each(['/api/videos/a%00b/stream', '/api/videos?search=%00'])(
      'answer 400 for the NUL character of %s',
      async (path) => {
        expect((await client.fetch(path)).status).toBe(400);
      },
    );

    it('answer 405 for a method that an address does not support', async () => {
      for (const method of ['GET', 'PUT', 'DELETE']) {
        const answer = await client.fetch(authApi.login.path, { method });
        expect([method, answer.status]).toEqual([method, 405]);
      }
    });

    it.each(['PROPFIND', 'TRACE'])('answer 405 or 501 for %s', async (method) => {
      const answer = await rawRequest(app.baseUrl, [`${method} / HTTP/1.1`]);
      expect(answer).toMatch(/^HTTP\/1.1 (405|501) /);
    });

    it('reveal nothing about an internal failure', async () => {
      const broken = await startTestApp({ engine: 'sqlite' });
      const { client: visitor } = await broken.signIn();
      await broken.db.schema.dropTable('ideaVotes');
      const answer = await visitor.fetch(ideasApi.list.path);
      const text = await answer.text();
      await broken.stop();
      expect(answer.status).toBe(500);
      expect(JSON.parse(text)).toMatchObject({
        code: 'internal',
        message: 'Something went wrong on our side. Please try again.',
      });
      expect(text).not.toMatch(/sqlite|select|table|\.ts/i);
    });

    it.each(["1' OR '1'='1", '1);DROP TABLE ideas;--', '%', '../../etc/passwd', 'a'.repeat(300)])(
      'answer 404 for the id %j',
      async (id) => {
        const answer = await client.call(ideasApi.vote, { params: { id } });
        expect(answer.status).toBe(404);
        expect(await Idea.query(app.db).resultSize()).toBeGreaterThan(0);
      },
    );
  });

  describe('headers', () => {
    it('keep answers of the API out of caches and other sites', async () => {
      const { headers } = await client.fetch(ideasApi.list.path, {
        headers: { origin: 'https://evil.test' },
      });
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('access-control-allow-origin')).toBeNull();
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('cross-origin-resource-policy')).toBe('same-origin');
      expect(headers.get('cross-origin-opener-policy')).toBe('same-origin');
      expect(headers.get('referrer-policy')).toBe('no-referrer');
      expect(headers.get('strict-transport-security')).toBeNull();
    });

    it('forbid inline scripts and frames', async () => {
      const policy = (await client.fetch('/')).headers.get('content-security-policy') ?? '';
      expect(policy).toContain("script-src 'self';");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toMatch(/unsafe-inline|unsafe-eval|upgrade-insecure-requests/);
    });
  });

  it('answers /healthz and /readyz, and is not ready while it stops', async () => {
    const stopping = await startTestApp({ engine: 'sqlite' });
    expect((await stopping.client().fetch('/healthz')).status).toBe(200);
    expect((await stopping.client().fetch('/readyz')).status).toBe(200);
    stopping.stopAccepting();
    expect((await stopping.client().fetch('/readyz')).status).toBe(503);
    expect((await stopping.client().fetch('/healthz')).status).toBe(200);
    await stopping.stop();
  });

  it('warns on the health pages when the disk is emptied at restart, and only then', async () => {
    const forgetful = await startTestApp({ engine: 'sqlite', env: { DYNO: 'web.1' } });
    for (const page of ['/healthz', '/readyz']) {
      const lost = await forgetful.client().fetch(page);
      expect(lost.status).toBe(200);
      expect(await lost.json()).toMatchObject({ warning: expect.stringMatching(/emptied at every restart/) });
      expect(await (await client.fetch(page)).json()).not.toHaveProperty('warning');
    }
    await forgetful.stop();
  });

  describe('ambiguous requests', () => {
    const chunk = '0\r\n\r\n';
    it.each([
      ['two lengths', ['Content-Length: 5', 'Content-Length: 6'], 'hello'],
      ['length and chunks', ['Content-Length: 5', 'Transfer-Encoding: chunked'], chunk],
      ['an unknown coding', ['Transfer-Encoding: xchunked'], chunk],
      ['a folded header', ['X-Folded: a', ' b'], ''],
      ['a blank before the colon', ['Content-Length : 5'], 'hello'],
    ])('with %s are refused and the connection closed', async (_name, lines, body) => {
      const head = [`POST ${authApi.login.path} HTTP/1.1`, ...lines];
      const answer = await rawRequest(app.baseUrl, head, body);
      expect(answer).toMatch(/^HTTP\/1.1 400 /);
      expect(answer.match(/HTTP\/1.1/g)).toHaveLength(1);
    });
  });

  describe('behind https', () => {
    let secure: TestApp;
    beforeAll(async () => {
      secure = await startTestApp({ engine: 'sqlite', env: { PUBLIC_URL: 'https://clips.test' } });
    });
    afterAll(() => secure.stop());
    const viaProxy = { 'x-forwarded-proto': 'https', origin: 'https://clips.test' };

    it('gives a __Host- cookie that is Secure, and HSTS', async () => {
      const { user } = await secure.signIn();
      const answer = await secure.client().call(authApi.login, {
        body: { username: user.username, password: 'Mended-Clip-42' },
        headers: viaProxy,
      });
      expect(answer.status).toBe(200);
      for (const line of answer.headers.getSetCookie()) {
        expect(line).toMatch(/^__Host-sid(\.sig)?=/);
        expect(line).toMatch(/secure/i);
      }
      expect(answer.headers.get('strict-transport-security')).toBe('max-age=31536000; includeSubDomains');
    });

    it('redirects pages and refuses calls that arrive over plain http', async () => {
      const page = await secure.client().fetch('/videos?a=b');
      expect([page.status, page.headers.get('location')]).toEqual([308, 'https://clips.test/videos?a=b']);
      expect((await secure.client().fetch(ideasApi.list.path)).status).toBe(403);
      expect((await secure.client().fetch('/healthz')).status).toBe(200);
    });
  });

  it('limits visitors, but not three tabs that poll as specified', async () => {
    const limited = await startTestApp({ engine: 'sqlite', env: { RATE_LIMITS: 'on' } });
    const { client: tabs } = await limited.signIn();
    const statuses = async (who: TestClient, count: number) =>
      Promise.all(Array.from({ length: count }, async () => (await who.fetch(ideasApi.list.path)).status));
    expect(new Set(await statuses(tabs, 280))).toEqual(new Set([200]));
    expect(await statuses(limited.client(), 910)).toContain(429);
    await limited.stop();
  });
});

it('writes no upload address, which is the key to the upload, into the log of refusals', async () => {
  const lines: string[] = [];
  const logger = pino({}, { write: (line: string) => void lines.push(line) });
  const app = new Koa<AppState, Record<never, never>>();
  app.use(async (ctx, next) => {
    ctx.state.logger = logger;
    await next();
  });
  app.use(answerErrors());
  app.use(() => {
    throw new AppError('unsupported_type');
  });
  const secret = 'k'.repeat(43);
  await request(app.callback()).put(`/uploads/${secret}`).expect(415);
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain('"path":"/uploads/kkkkkk..."');
  expect(lines[0]).not.toContain(secret);
  expect(loggedPath(`/api/uploads/${secret}`)).toBe('/api/uploads/kkkkkk...');
  expect(loggedPath('/api/videos/kkkkkkkkkk/stream')).toBe('/api/videos/kkkkkkkkkk/stream');
});

it.each([
  ['ends under a query', 'Connection terminated unexpectedly'],
  ['ended before one', 'Client has encountered a connection error and is not queryable'],
  ['was closed before one', 'Client was closed and is not queryable'],
])('answers 503, with a retry, when a Postgres connection %s', async (_when, message) => {
  const app = new Koa<AppState>();
  app.use(async (ctx, next) => {
    ctx.state.logger = pino({ level: 'silent' });
    await next();
  });
  app.use(answerErrors());
  app.use(() => {
    throw new Error(`select 1 - ${message}`);
  });
  const answer = await request(app.callback()).get('/').expect(503);
  expect(answer.headers['retry-after']).toBe('5');
});

it('waits for a slowly arriving body no longer than allowed, and ends the connection', async () => {
  const app = new Koa<AppState>();
  app.use(async (ctx, next) => {
    ctx.state.logger = pino({ level: 'silent' });
    await next();
  });
  app.use(answerErrors());
  app.use(async (ctx) => {
    const whole = new Promise((resolve) => ctx.req.on('end', resolve).resume());
    await withinDeadline(ctx, whole, 200);
    ctx.body = 'came';
  });
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const head = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n';
  const send = (bytes: string) =>
    new Promise<string>((resolve) => {
      const socket = connect(address.port, '127.0.0.1');
      let answer = '';
      socket.write(head + bytes);
      const drip = setInterval(() => socket.write(' '), 20);
      socket.on('data', (chunk: Buffer) => {
        answer += chunk.toString();
        if (answer.includes('came')) socket.destroy();
      });
      // The client may write into a connection that the server has ended.
      socket.on('error', () => undefined);
      socket.on('close', () => {
        clearInterval(drip);
        resolve(answer);
      });
    });
  try {
    expect(await send('{')).toMatch(/^HTTP\/1.1 408 /);
    expect(await send('x'.repeat(1000))).toMatch(/^HTTP\/1.1 200 /);
  } finally {
    server.close();
    server.closeAllConnections();
  }
});

/** Sends exactly these lines; `fetch` would add or refuse some. */
function rawRequest(baseUrl: string, lines: readonly string[], body = ''): Promise<string> {
  const { hostname, port, host } = new URL(baseUrl);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    let answer = '';
    socket.on('data', (chunk: Buffer) => {
      answer += chunk.toString();
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(answer));
    socket.end([...lines, `Host: ${host}`, 'Connection: close', '', body].join('\r\n'));
  });
}
