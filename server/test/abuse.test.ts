import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { authApi } from '#common/api/auth.ts';
import { draftsApi } from '#common/api/drafts.ts';
import { ideasApi } from '#common/api/ideas.ts';
import { uploadsApi } from '#common/api/uploads.ts';
import { videosApi } from '#common/api/videos.ts';
import { MAX_OPEN_UPLOADS } from '#common/limits.ts';
import { Draft } from '#db/models/draft.ts';
import { Idea } from '#db/models/idea.ts';
import { UsageUnit } from '#db/models/usage-unit.ts';
import { User } from '#db/models/user.ts';
import { Video } from '#db/models/video.ts';
import { createIdea, createUser, TEST_PASSWORD } from './factories.ts';
import { startTestApp, type TestApp } from './test-app.ts';
import type { TestClient } from './test-client.ts';
import { ENGINES, hasEngine } from './test-database.ts';
import { uploadBytes } from './upload-bytes.ts';

/** Values that nobody may set from outside. */
const FORBIDDEN = {
  id: 'chosen-by-me',
  userId: 'somebody',
  plan: 'business',
  status: 'completed',
  votes: 9999,
  reputation: 9999,
  createdAt: 0,
  emailVerified: true,
  emailVerifiedAt: 1,
  verified: true,
  role: 'admin',
  shared: true,
  isSample: true,
  hidden: true,
};

describe.each(ENGINES)('an account that tries more than it may, on %s', (engine) => {
  describe.skipIf(!hasEngine(engine))('with rate limits', () => {
    let app: TestApp;

    beforeAll(async () => {
      app = await startTestApp({ engine, env: { RATE_LIMITS: 'on' } });
    });
    afterAll(async () => app.stop());

    const bytes = (text: string) => new TextEncoder().encode(`${text} ${engine}`);

    async function statuses(count: number, call: () => Promise<{ status: number }>) {
      const counts: Record<number, number> = {};
      for (let index = 0; index < count; index += 1) {
        const { status } = await call();
        counts[status] = (counts[status] ?? 0) + 1;
      }
      return counts;
    }

    it('cannot set fields that are not the caller’s', async () => {
      const username = `greedy-${engine.slice(0, 6)}`;
      const email = `${username}@example.test`;
      const body = { ...FORBIDDEN, username, email, password: TEST_PASSWORD };
      expect((await app.client().call(authApi.register, { body })).status).toBe(201);
      expect(await User.query(app.db).findOne({ username })).toMatchObject({
        plan: 'starter',
        reputation: 0,
        emailVerifiedAt: null,
      });

      const { client, user } = await app.signIn();
      const id = await uploadBytes(client, bytes('a clip'));
      const before = await Video.query(app.db).findById(id);
      const renamed = await client.call(videosApi.rename, {
        params: { id },
        body: { ...FORBIDDEN, fileName: 'new.mp4' },
      });
      expect(renamed.status).toBe(200);
      if (!before) throw new Error('There is no video of the upload.');
      const {
        version: _rises,
        updatedAt: _moves,
        nameKey: _key,
        nameLower: _lower,
        ...kept
      } = before.toJSON();
      expect(kept.originalFileName).toBe('clip.mp4');
      expect(await Video.query(app.db).findById(id)).toMatchObject({ ...kept, originalFileName: 'new.mp4' });

      const idea = await client.call(ideasApi.create, { body: { ...FORBIDDEN, text: 'Mine alone' } });
      expect(await Idea.query(app.db).findById(idea.body?.id ?? '')).toMatchObject({
        userId: user.id,
        votes: 0,
        status: null,
        hidden: false,
      });
      const draft = { ...FORBIDDEN, videoId: id, fileName: 'x.mp4', expiresAt: 9e15 };
      expect((await client.call(draftsApi.create, { body: draft })).status).toBe(200);
      const [row] = await Draft.query(app.db).where('userId', user.id);
      expect(row?.id).not.toBe('chosen-by-me');
      expect(row?.expiresAt).toBeLessThan(app.now() + 8 * 24 * 3600_000);
    });

    it('learns nothing about other people', async () => {
      const author = await createUser(app.db, { reputation: 77 });
      await createIdea(app.db, { userId: author.id, userName: 'Anonymous' });
      const { client, user } = await app.signIn();
      const texts = [
        JSON.stringify((await client.call(ideasApi.list)).raw),
        JSON.stringify((await client.call(ideasApi.leaderboard)).raw),
        JSON.stringify((await client.call(authApi.currentUser)).raw),
      ];
      for (const text of texts) {
        expect(text).not.toContain(author.email);
        expect(text).not.toMatch(/passwordHash|password_hash|argon2|dataDir|sqlite/i);
      }
      expect(texts[0]).not.toContain(author.id);
      expect(texts[0]).not.toContain(author.username);
      expect(texts[2]).toContain(user.email);
    });

    it.each([
      ['blanks', '   '],
      ['nothing', ''],
      ['null', null],
      ['a number', 1],
      ['a list', []],
      ['an object', {}],
      ['ten thousand letters', 'x'.repeat(10_000)],
    ])('cannot rename to %s', async (_what, fileName) => {
      const { client } = await app.signIn();
      const id = await uploadBytes(client, bytes('to rename'), 'kept.mp4');
      expect((await client.call(videosApi.rename, { params: { id }, body: { fileName } })).status).toBe(400);
      expect((await Video.query(app.db).findById(id))?.originalFileName).toBe('kept.mp4');
    });

    it.each([
      ['parameters of 200 letters', `video/mp4; codecs="${'a'.repeat(200)}"`, 200],
      ['a name of 200 letters', `video/${'x'.repeat(200)}`, 415],
    ])('gets an answer to a type with %s', async (_what, type, status) => {
      const { client } = await app.signIn();
      const issued = await client.call(uploadsApi.uploadUrl);
      const { pathname } = new URL(issued.body?.uploadUrl ?? '', client.baseUrl);
      const init = { method: 'PUT', headers: { 'content-type': type }, body: bytes('a clip') };
      expect((await client.fetch(pathname, init)).status).toBe(status);
    });

    it.each(['1.5', '1e300', '99999999999999999999'])(
      'gets a list for a page behind %s bytes',
      async (size) => {
        const { client } = await app.signIn();
        const query = { sort: 'size', cursor: `${size}~x` };
        expect((await client.call(videosApi.list, { query })).status).toBe(200);
      },
    );

    it('is slowed down when it floods the board', async () => {
      const { client } = await app.signIn();
      const text = 'The same idea again';
      const ideas = await statuses(30, () => client.call(ideasApi.create, { body: { text } }));
      expect(ideas).toEqual({ 201: 10, 429: 20 });
      const { id } = await createIdea(app.db);
      const votes = await statuses(200, () => client.call(ideasApi.vote, { params: { id } }));
      expect(votes).toEqual({ 200: 60, 429: 140 });
    });

    it('is slowed down when it keeps opening uploads', async () => {
      const { client } = await app.signIn();
      const issued = await statuses(100, () => client.call(uploadsApi.uploadUrl));
      expect(issued).toEqual({ 200: MAX_OPEN_UPLOADS, 429: 100 - MAX_OPEN_UPLOADS });
    });

    it('may keep three tabs open at the polling intervals of a client without push', async () => {
      const { client } = await app.signIn();
      // A minute of one tab: library every 2 s, status every 2 s, stats and drafts every 5 s, ideas, leaders.
      const minute: [number, () => Promise<{ status: number }>][] = [
        [30, () => client.call(videosApi.list)],
        [30, () => client.call(authApi.currentUser)],
        [12, () => client.call(videosApi.stats)],
        [12, () => client.call(draftsApi.list)],
        [6, () => client.call(ideasApi.list)],
        [2, () => client.call(ideasApi.leaderboard)],
      ];
      for (const [times, call] of minute) expect(await statuses(3 * times, call)).toEqual({ 200: 3 * times });
    });

    it('cannot exceed the allowance from several sessions at once', async () => {
      const user = await createUser(app.db);
      const sessions: TestClient[] = [];
      for (let index = 0; index < 10; index += 1) sessions.push((await app.signIn(user)).client);
      const results = await Promise.allSettled(
        sessions.map((client, index) => uploadBytes(client, bytes(`clip ${index}`))),
      );
      expect(results.filter((result) => result.status === 'fulfilled')).toHaveLength(5);
      expect(await Video.query(app.db).where('userId', user.id).resultSize()).toBe(5);
      const units = UsageUnit.query(app.db).where('userId', user.id).whereNull('releasedAt');
      expect(await units.resultSize()).toBe(5);
    });
  });
});
