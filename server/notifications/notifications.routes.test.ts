import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { notificationsApi } from '#common/api/notifications.ts';
import { newId } from '#db/base-model.ts';
import { Notification } from '#db/models/notification.ts';
import { startTestApp, type TestApp } from '#server/test/test-app.ts';
import { ENGINES, hasEngine } from '#server/test/test-database.ts';

describe.each(ENGINES)('notices on %s', (engine) => {
  describe.skipIf(!hasEngine(engine))('api', () => {
    let app: TestApp;
    beforeAll(async () => {
      app = await startTestApp({ engine });
    });
    afterAll(() => app.stop());

    async function write(userId: string, count: number) {
      for (let index = 0; index < count; index += 1) {
        await Notification.query(app.db).insert({
          id: newId(),
          userId,
          kind: 'trial',
          title: `Notice ${index}`,
          body: 'Text',
          link: null,
          readAt: null,
          createdAt: Date.now() + index,
        });
      }
    }

    it('answers 401 without a session', async () => {
      expect((await app.client().call(notificationsApi.list)).status).toBe(401);
      expect((await app.client().call(notificationsApi.markRead)).status).toBe(401);
    });

    it('lists the user’s newest fifty and counts all unread', async () => {
      const [mine, other] = [await app.signIn(), await app.signIn()];
      await write(mine.user.id, 60);
      await write(other.user.id, 1);
      const { body } = await mine.client.call(notificationsApi.list);
      expect(body?.unread).toBe(60);
      expect(body?.notifications).toHaveLength(50);
      expect(body?.notifications[0]).toMatchObject({ title: 'Notice 59', read: false });
    });

    it('marks some or all as read, never those of others', async () => {
      const [mine, other] = [await app.signIn(), await app.signIn()];
      await write(mine.user.id, 3);
      await write(other.user.id, 1);
      const listOf = async (who: typeof mine) => (await who.client.call(notificationsApi.list)).body;
      const [first] = (await listOf(mine))?.notifications ?? [];
      const [foreign] = (await listOf(other))?.notifications ?? [];
      const ids = [first?.id, foreign?.id];
      expect((await mine.client.call(notificationsApi.markRead, { body: { ids } })).status).toBe(200);
      expect((await listOf(mine))?.unread).toBe(2);
      expect((await listOf(other))?.unread).toBe(1);
      await mine.client.call(notificationsApi.markRead);
      expect((await listOf(mine))?.unread).toBe(0);
    });

    it('deletes after 90 days', async () => {
      const { user, client } = await app.signIn();
      await write(user.id, 2);
      app.advance(91 * 24 * 3600_000);
      await app.sweep();
      const { client: again } = await app.signIn(user);
      expect((await again.call(notificationsApi.list)).body).toEqual({ notifications: [], unread: 0 });
      expect((await client.call(notificationsApi.list)).status).toBe(401);
    });
  });
});
