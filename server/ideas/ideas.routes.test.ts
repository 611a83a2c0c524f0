import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ideasApi } from '#common/api/ideas.ts';
import { POINTS } from '#common/reputation.ts';
import { Idea, IdeaVote } from '#db/models/idea.ts';
import { Notification } from '#db/models/notification.ts';
import { User } from '#db/models/user.ts';
import { writeNoticeFromOutside } from '#server/notifications/write-notice.ts';
import { createIdea, createUser } from '#server/test/factories.ts';
import { startTestApp, type TestApp } from '#server/test/test-app.ts';
import type { TestClient } from '#server/test/test-client.ts';
import { ENGINES, hasEngine } from '#server/test/test-database.ts';
import { decideIdea } from './decide-idea.ts';

describe.each(ENGINES)('the board on %s', (engine) => {
  describe.skipIf(!hasEngine(engine))('api', () => {
    let app: TestApp;
    beforeAll(async () => {
      app = await startTestApp({ engine });
    });
    afterAll(() => app.stop());

    const deciding = () => ({ db: app.db, writeNotice: writeNoticeFromOutside, now: Date.now });
    const submit = (client: TestClient, body: unknown) => client.call(ideasApi.create, { body });
    const vote = (client: TestClient, id: string) => client.call(ideasApi.vote, { params: { id } });
    const unvote = (client: TestClient, id: string) => client.call(ideasApi.unvote, { params: { id } });
    const pointsOf = async (user: User) => (await User.query(app.db).findById(user.id))?.reputation;
    const listed = async (client: TestClient, id: string, query = {}) =>
      (await client.call(ideasApi.list, { query })).body?.find((idea) => idea.id === id);

    it.each([
      ['GET', ideasApi.list.path],
      ['POST', ideasApi.create.path],
      ['GET', '/api/ideas/similar?text=x'],
      ['POST', '/api/ideas/x/vote'],
      ['DELETE', '/api/ideas/x/vote'],
      ['GET', ideasApi.leaderboard.path],
    ])('answers 401 to %s %s without a session', async (method, path) => {
      expect((await app.client().fetch(path, { method })).status).toBe(401);
    });

    describe('POST /api/ideas', () => {
      it('adds an idea as Anonymous, gives the account points and shows none', async () => {
        const { client, user } = await app.signIn();
        const made = await submit(client, {
          text: '  Batch uploads  ',
          votes: 99,
          status: 'completed',
          userId: 'x',
        });
        expect(made.status).toBe(201);
        expect(made.body).toMatchObject({
          text: 'Batch uploads',
          userName: 'Anonymous',
          votes: 0,
          status: null,
          reputation: 0,
          mine: true,
        });
        expect(await pointsOf(user)).toBe(POINTS.idea);
      });

      it('shows the real reputation under the account’s own name, in any case', async () => {
        const { client, user } = await app.signIn();
        const made = await submit(client, { text: 'Own name', userName: user.username.toUpperCase() });
        expect(made.body).toMatchObject({ userName: user.username, reputation: POINTS.idea });
      });

      it('shows no account behind another name, and refuses the name of another account', async () => {
        const { client } = await app.signIn();
        const other = await createUser(app.db, { reputation: 700 });
        const pen = await submit(client, { text: 'Pen name', userName: 'Somebody Else' });
        expect(pen.body).toMatchObject({ userName: 'Somebody Else', reputation: 0 });
        const stolen = await submit(client, { text: 'Stolen name', userName: other.username });
        expect(stolen.status).toBe(400);
        expect(stolen.raw).toMatchObject({ message: 'This name belongs to another account.' });
      });

      it.each([[{ text: '   ' }], [{ text: '' }], [{}], [{ text: 'x'.repeat(2001) }], [{ text: 1 }], [[]]])(
        'refuses %j',
        async (body) => {
          const { client } = await app.signIn();
          expect((await submit(client, body)).status).toBe(400);
        },
      );

      it('keeps markup as text', async () => {
        const { client } = await app.signIn();
        const text = '<script>alert(1)</script> <b>bold</b>';
        expect((await submit(client, { text })).body?.text).toBe(text);
      });
    });

    describe('votes', () => {
      it('count once per person, however often and however parallel', async () => {
        const idea = await createIdea(app.db);
        const author = await User.query(app.db).findById(idea.userId);
        const { client, user } = await app.signIn();
        const answers = await Promise.all(Array.from({ length: 50 }, () => vote(client, idea.id)));
        expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
        expect(answers.at(-1)?.body).toMatchObject({ votes: 1, votedByMe: true });
        expect(await IdeaVote.query(app.db).where({ ideaId: idea.id, userId: user.id }).resultSize()).toBe(1);
        expect(author && (await pointsOf(author))).toBe(POINTS.voteReceived);
      });

      it('of fifty people at once are all counted, and the bonus is given once', async () => {
        const idea = await createIdea(app.db);
        const author = await User.query(app.db).findById(idea.userId);
        const people = await Promise.all(Array.from({ length: 50 }, () => app.signIn()));
        await Promise.all(people.map(({ client }) => vote(client, idea.id)));
        expect((await Idea.query(app.db).findById(idea.id))?.votes).toBe(50);
        expect(await IdeaVote.query(app.db).where({ ideaId: idea.id }).resultSize()).toBe(50);
        const expected = 50 * POINTS.voteReceived + POINTS.popularBonus;
        expect(author && (await pointsOf(author))).toBe(expected);
        await Promise.all(people.flatMap(({ client }) => [unvote(client, idea.id), unvote(client, idea.id)]));
        expect((await Idea.query(app.db).findById(idea.id))?.votes).toBe(0);
        expect(author && (await pointsOf(author))).toBe(POINTS.popularBonus);
      });

      it('of the author count, but give no points', async () => {
        const { client, user } = await app.signIn();
        const id = (await submit(client, { text: 'My own' })).body?.id ?? '';
        expect((await vote(client, id)).body?.votes).toBe(1);
        expect(await pointsOf(user)).toBe(POINTS.idea);
        expect((await unvote(client, id)).body).toMatchObject({ votes: 0, votedByMe: false });
        expect(await pointsOf(user)).toBe(POINTS.idea);
      });

      it('for unknown and hidden ideas answer 404', async () => {
        const { client } = await app.signIn();
        const hidden = await createIdea(app.db, { hidden: true });
        for (const id of ['nothing', hidden.id]) {
          expect((await vote(client, id)).status).toBe(404);
          expect((await unvote(client, id)).status).toBe(404);
        }
      });
    });

    describe('GET /api/ideas', () => {
      it('sorts by votes and then by time, newest first, and leaves hidden ones out', async () => {
        const { client } = await app.signIn();
        const at = Date.now() + 1000_000;
        const [few, many, later, hidden] = [
          await createIdea(app.db, { votes: 500, createdAt: at }),
          await createIdea(app.db, { votes: 900, createdAt: at }),
          await createIdea(app.db, { votes: 500, createdAt: at + 1 }),
          await createIdea(app.db, { votes: 999, hidden: true }),
        ];
        const ids = (await client.call(ideasApi.list)).body?.map(({ id }) => id) ?? [];
        expect(ids.slice(0, 3)).toEqual([many.id, later.id, few.id]);
        expect(ids).not.toContain(hidden.id);
        const newest = (await client.call(ideasApi.list, { query: { sort: 'newest', limit: '1' } })).body;
        expect(newest?.map(({ id }) => id)).toEqual([later.id]);
        const second = (await client.call(ideasApi.list, { query: { limit: '1', offset: '1' } })).body;
        expect(second?.map(({ id }) => id)).toEqual([later.id]);
      });

      it('filters by owner and by status', async () => {
        const { client, user } = await app.signIn();
        const planned = await createIdea(app.db, { userId: user.id, status: 'planned' });
        const open = await createIdea(app.db, { userId: user.id });
        const mine = (await client.call(ideasApi.list, { query: { mine: '1' } })).body;
        expect(mine?.map(({ id }) => id).toSorted()).toEqual([planned.id, open.id].toSorted());
        expect(await listed(client, planned.id, { status: 'planned' })).toMatchObject({ status: 'planned' });
        expect(await listed(client, planned.id, { status: 'open' })).toBeUndefined();
        expect(await listed(client, open.id, { status: 'open' })).toBeDefined();
        expect((await client.call(ideasApi.list, { query: { sort: 'random()' } })).status).toBe(400);
      });

      it('tells each reader about their own vote', async () => {
        const idea = await createIdea(app.db);
        const [voter, reader] = [await app.signIn(), await app.signIn()];
        await vote(voter.client, idea.id);
        expect(await listed(voter.client, idea.id)).toMatchObject({ votedByMe: true, mine: false });
        expect(await listed(reader.client, idea.id)).toMatchObject({ votedByMe: false });
      });

      it('shows no email address, no account and no hash of anybody', async () => {
        const { client } = await app.signIn();
        const text = JSON.stringify([
          (await client.call(ideasApi.list)).raw,
          (await client.call(ideasApi.leaderboard)).raw,
        ]);
        expect(text).not.toMatch(/@|argon|password|userId|email/);
      });
    });

    describe('GET /api/ideas/similar', () => {
      it('finds ideas with other forms of the same words, closest first', async () => {
        const { client } = await app.signIn();
        const close = await createIdea(app.db, { text: 'Add automatic subtitles in Spanish' });
        const near = await createIdea(app.db, { text: 'Subtitle colours that can be chosen by hand' });
        await createIdea(app.db, { text: 'Dark mode for the editor' });
        const found = await client.call(ideasApi.similar, {
          query: { text: 'Spanish subtitles, automatically' },
        });
        const ids = found.body?.map(({ id }) => id) ?? [];
        expect(ids[0]).toBe(close.id);
        expect(ids.slice(1)).toEqual(ids.includes(near.id) ? [near.id] : []);
      });

      it('finds nothing for punctuation alone and treats wildcards as text', async () => {
        const { client } = await app.signIn();
        expect((await client.call(ideasApi.similar, { query: { text: '%%% ___' } })).body).toEqual([]);
      });
    });

    describe('GET /api/users/leaderboard', () => {
      it('ranks people with points, the older account first at equal points', async () => {
        const { client } = await app.signIn();
        const [first, second, third] = [
          await createUser(app.db, { reputation: 90_000 }),
          await createUser(app.db, { reputation: 80_000, createdAt: 1000 }),
          await createUser(app.db, { reputation: 80_000, createdAt: 2000 }),
        ];
        const none = await createUser(app.db);
        const ranked = (await client.call(ideasApi.leaderboard)).body ?? [];
        expect(ranked.slice(0, 3).map(({ id }) => id)).toEqual([first.id, second.id, third.id]);
        expect(ranked.map(({ id }) => id)).not.toContain(none.id);
      });
    });

    describe('the decision of an operator', () => {
      it('notifies author and voters once each of a new status', async () => {
        const idea = await createIdea(app.db);
        const voter = await app.signIn();
        await vote(voter.client, idea.id);
        const decision = { kind: 'status', status: 'planned' } as const;
        expect((await decideIdea(deciding(), idea.id, decision)).told).toBe(2);
        expect((await decideIdea(deciding(), idea.id, decision)).told).toBe(0);
        expect(await listed(voter.client, idea.id)).toMatchObject({ status: 'planned' });
        for (const userId of [idea.userId, voter.user.id]) {
          const notices = await Notification.query(app.db).where({ userId });
          expect(notices).toHaveLength(1);
          expect(notices[0]).toMatchObject({ kind: 'idea_status', link: '/nice2have' });
        }
      });

      it('hides an idea and shows it again', async () => {
        const idea = await createIdea(app.db);
        const { client } = await app.signIn();
        await decideIdea(deciding(), idea.id, { kind: 'hidden', hidden: true });
        expect(await listed(client, idea.id)).toBeUndefined();
        await decideIdea(deciding(), idea.id, { kind: 'hidden', hidden: false });
        expect(await listed(client, idea.id)).toBeDefined();
      });

      it('answers that there is no such idea', async () => {
        const decision = { kind: 'status', status: null } as const;
        await expect(decideIdea(deciding(), 'nothing', decision)).rejects.toThrow('There is no idea nothing');
      });
    });
  });
});

describe('limits of the board', () => {
  it('stop the eleventh idea of a minute', async () => {
    const app = await startTestApp({ engine: 'sqlite', env: { RATE_LIMITS: 'on' } });
    const { client } = await app.signIn();
    const statuses = [];
    for (let index = 0; index < 11; index += 1) {
      statuses.push((await client.call(ideasApi.create, { body: { text: `Idea ${index}` } })).status);
    }
    expect(statuses).toEqual([...Array(10).fill(201), 429]);
    await app.stop();
  });
});
