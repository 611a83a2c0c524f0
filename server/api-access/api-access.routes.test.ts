import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accountApi, accountExportPath } from '#common/api/account.ts';
import { apiAccessApi, apiDocsPath, apiDocumentPath } from '#common/api/api-access.ts';
import { authApi } from '#common/api/auth.ts';
import { draftsApi } from '#common/api/drafts.ts';
import { buildPath } from '#common/api/endpoint.ts';
import { subscriptionApi } from '#common/api/subscription.ts';
import { videosApi } from '#common/api/videos.ts';
import { User } from '#db/models/user.ts';
import { createUser } from '#server/test/factories.ts';
import { startTestApp, type TestApp } from '#server/test/test-app.ts';
import type { TestClient } from '#server/test/test-client.ts';
import { ENGINES, hasEngine } from '#server/test/test-database.ts';
import { uploadBytes } from '#server/test/upload-bytes.ts';
import { allOperations, fileOperations } from './operations.ts';

const BOTH = { name: 'laptop', scopes: ['read', 'write'] };

describe.each(ENGINES)('API access on %s', (engine) => {
  describe.skipIf(!hasEngine(engine))('with a running server', () => {
    let app: TestApp;
    let visitor: TestClient;

    beforeAll(async () => {
      app = await startTestApp({ engine });
      visitor = app.client();
    });
    afterAll(async () => app.stop());

    async function business() {
      const user = await createUser(app.db, { plan: 'business' });
      return { user, client: (await app.signIn(user)).client };
    }

    async function tokenWith(scopes: readonly string[], client?: TestClient) {
      const owner = client ?? (await business()).client;
      const made = await owner.call(apiAccessApi.create, { body: { name: 'program', scopes } });
      if (!made.body) throw new Error(`create answered ${made.status}`);
      return { ...made.body, owner, headers: { authorization: `Bearer ${made.body.token}` } };
    }

    it('makes, lists and revokes a token, and shows its secret once', async () => {
      const { client } = await business();
      const { body } = await client.call(apiAccessApi.create, { body: BOTH });
      const listed = await client.call(apiAccessApi.list);
      expect(listed.body).toEqual([body?.details]);
      expect(JSON.stringify(listed.raw)).not.toContain(body?.token.slice(12));
      const id = body?.details.id ?? '';
      const stranger = (await business()).client;
      expect((await stranger.call(apiAccessApi.revoke, { params: { id } })).status).toBe(404);
      expect((await client.call(apiAccessApi.revoke, { params: { id } })).status).toBe(200);
      expect((await client.call(apiAccessApi.list)).body).toEqual([]);
    });

    it.each([
      {},
      { name: ' ', scopes: ['read'] },
      { name: 'x', scopes: [] },
      { name: 'x', scopes: ['admin'] },
      { name: 'x', scopes: 'read' },
      { name: 'x'.repeat(61), scopes: ['read'] },
      { name: 'x', scopes: ['read'], expiresInDays: 0 },
    ])('answers 400 to %j', async (body) => {
      const { client } = await business();
      expect((await client.call(apiAccessApi.create, { body })).status).toBe(400);
    });

    it('answers 403 to other plans', async () => {
      const { client } = await app.signIn();
      const { status, raw } = await client.call(apiAccessApi.create, { body: BOTH });
      expect([status, raw]).toMatchObject([403, { code: 'plan_required' }]);
    });

    it('runs the whole journey of a file with a token alone and without any page', async () => {
      const { headers } = await tokenWith(['read', 'write']);
      const bytes = new TextEncoder().encode('bytes of a clip sent by a program');
      const program = app.client();
      const id = await uploadBytes(program, bytes, 'by-program.mp4', headers);
      const listed = await program.call(videosApi.list, { headers });
      expect(listed.body?.map((video) => [video.id, video.originalFileName])).toEqual([
        [id, 'by-program.mp4'],
      ]);
      const original = await program.fetch(`/api/videos/${id}/original`, { headers });
      const sha256 = createHash('sha256').update(Buffer.from(await original.arrayBuffer()));
      expect(sha256.digest('hex')).toBe(createHash('sha256').update(bytes).digest('hex'));
      expect(program.cookies()).toBe('');
    });

    it('needs no own origin, and acts for the token even beside a cookie of someone else', async () => {
      const { headers, owner } = await tokenWith(['read', 'write']);
      const me = (await owner.call(authApi.currentUser)).body?.user.username;
      const other = (await app.signIn()).client;
      const { body } = await other.call(authApi.currentUser, { headers });
      expect(body?.user.username).toBe(me);
      const foreign = { ...headers, origin: 'https://elsewhere.example', 'sec-fetch-site': 'cross-site' };
      const id = 'nothing';
      expect((await other.call(videosApi.remove, { params: { id }, headers: foreign })).status).toBe(404);
      const withoutToken = { origin: 'https://elsewhere.example' };
      expect((await other.call(videosApi.remove, { params: { id }, headers: withoutToken })).status).toBe(
        403,
      );
    });

    it('lets a reading token read and refuses its writes', async () => {
      const { headers } = await tokenWith(['read']);
      expect((await visitor.call(videosApi.list, { headers })).status).toBe(200);
      const body = { videoId: 'x', fileName: 'x' };
      const refused = await visitor.call(draftsApi.create, { headers, body });
      expect([refused.status, refused.raw]).toMatchObject([403, { code: 'forbidden_scope' }]);
    });

    it('lets a writing token write and refuses its reads', async () => {
      const { headers } = await tokenWith(['write']);
      expect((await visitor.call(videosApi.list, { headers })).status).toBe(403);
      const body = { videoId: 'x', fileName: 'x' };
      expect((await visitor.call(draftsApi.create, { headers, body })).status).toBe(404);
    });

    it('refuses calls about the account itself to any token', async () => {
      const { headers, details } = await tokenWith(['read', 'write']);
      const { id } = details;
      const answers = [
        await visitor.call(apiAccessApi.list, { headers }),
        await visitor.call(apiAccessApi.create, { headers, body: BOTH }),
        await visitor.call(apiAccessApi.revoke, { headers, params: { id } }),
        await visitor.call(accountApi.storage, { headers }),
        await visitor.call(accountApi.remove, { headers, body: { password: 'x' } }),
        await visitor.call(subscriptionApi.subscribe, { headers, body: { plan: 'starter' } }),
        await visitor.fetch(accountExportPath, { headers }),
      ];
      expect(answers.map((answer) => answer.status)).toEqual(answers.map(() => 403));
    });

    it('stops working when it is revoked, when it expires and when the plan ends', async () => {
      const { headers, details, owner } = await tokenWith(['read']);
      await owner.call(apiAccessApi.revoke, { params: { id: details.id } });
      expect((await visitor.call(videosApi.list, { headers })).status).toBe(401);

      const { user, client } = await business();
      const short = await client.call(apiAccessApi.create, { body: { ...BOTH, expiresInDays: 1 } });
      const shortHeaders = { authorization: `Bearer ${short.body?.token}` };
      const lasting = await tokenWith(['read'], client);
      app.advance(24 * 3600_000 + 1);
      expect((await visitor.call(videosApi.list, { headers: shortHeaders })).status).toBe(401);
      expect((await visitor.call(videosApi.list, { headers: lasting.headers })).status).toBe(200);
      await User.query(app.db).patch({ plan: 'starter' }).where('id', user.id);
      const refused = await visitor.call(videosApi.list, { headers: lasting.headers });
      expect([refused.status, refused.raw]).toMatchObject([403, { code: 'plan_required' }]);
    });

    it.each(['Bearer x', `Bearer pat_${'A'.repeat(43)}`, 'Bearer pat_a pat_b'])(
      'answers 401 to "Authorization: %s", whatever cookie comes with it',
      async (authorization) => {
        const { client } = await app.signIn();
        expect((await client.call(videosApi.list, { headers: { authorization } })).status).toBe(401);
      },
    );

    it('serves the document and the page to everybody', async () => {
      const answer = await visitor.fetch(apiDocumentPath);
      expect(answer.headers.get('content-type')).toContain('application/json');
      expect(await answer.json()).toMatchObject({ openapi: '3.1.0', info: { title: 'Reelmend API' } });
      const page = await visitor.fetch(apiDocsPath);
      expect(page.headers.get('content-type')).toContain('text/html');
      expect(page.headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'sha256-/);
      expect(await page.text()).toContain('/api/videos/{id}/rename');
    });

    it('answers every operation to the signed-out as the document says', async () => {
      const operations = [
        ...allOperations().map(({ id, access, endpoint: { method, path } }) => ({
          id,
          access,
          method,
          path,
        })),
        ...fileOperations(),
      ];
      const wrong: string[] = [];
      for (const { id, access, method, path } of operations) {
        const address = buildPath(path, {
          id: 'unknown',
          frame: '0',
          versionId: 'unknown',
          exportId: 'unknown',
        });
        const { status } = await visitor.fetch(address, { method });
        const isRouted = access === 'public' ? status !== 401 && status !== 405 : status === 401;
        if (!isRouted) wrong.push(`${id}: ${method} ${path} answers ${status}`);
      }
      expect(wrong).toEqual([]);
    });
  });
});
