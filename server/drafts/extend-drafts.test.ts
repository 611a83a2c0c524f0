import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { draftsApi } from '#common/api/drafts.ts';
import { subscriptionApi } from '#common/api/subscription.ts';
import { Draft } from '#db/models/draft.ts';
import { startTestApp, type TestApp } from '#server/test/test-app.ts';
import type { TestClient } from '#server/test/test-client.ts';
import { ENGINES, hasEngine } from '#server/test/test-database.ts';
import { uploadBytes } from '#server/test/upload-bytes.ts';

const DAY_MS = 24 * 3600_000;

describe.each(ENGINES)('the life of drafts on %s', (engine) => {
  describe.skipIf(!hasEngine(engine))('with a running server', () => {
    let app: TestApp;
    beforeAll(async () => {
      app = await startTestApp({ engine });
    });
    afterAll(async () => app.stop());

    const daysKept = async (client: TestClient) => {
      const [draft] = (await client.call(draftsApi.list)).body ?? [];
      return (
        draft && Math.round((Date.parse(draft.expiresAt ?? '') - Date.parse(draft.lastModified)) / DAY_MS)
      );
    };
    const choose = (client: TestClient, plan: string) =>
      client.call(subscriptionApi.subscribe, { body: { plan } });

    it('grows with an upgrade, and a promised date never comes nearer', async () => {
      const { client, user } = await app.signIn();
      const stranger = await app.signIn();
      for (const one of [client, stranger.client]) {
        await uploadBytes(one, new TextEncoder().encode(`a clip on ${engine}`));
      }
      expect(await daysKept(client)).toBe(7);
      await Draft.query(app.db).patch({ expiryNoticedAt: 1 }).where({ userId: user.id });
      await choose(client, 'creator-pro');
      await expect.poll(() => daysKept(client)).toBe(30);
      const [draft] = await Draft.query(app.db).where({ userId: user.id });
      expect(draft?.expiryNoticedAt).toBeNull();
      await choose(client, 'starter');
      await new Promise((resolve) => setTimeout(resolve, 200));
      expect(await daysKept(client)).toBe(30);
      expect(await daysKept(stranger.client)).toBe(7);
    });

    it('keeps the promised date when a video is backed up again on a lower plan', async () => {
      const { client, user } = await app.signIn();
      await uploadBytes(client, new TextEncoder().encode(`a clip backed up twice on ${engine}`));
      await choose(client, 'creator-pro');
      await expect.poll(() => daysKept(client)).toBe(30);
      await choose(client, 'starter');
      const [before] = await Draft.query(app.db).where({ userId: user.id });
      const videoId = before?.videoId ?? '';
      const again = await client.call(draftsApi.create, { body: { videoId, fileName: 'again.mp4' } });
      const [after] = await Draft.query(app.db).where({ userId: user.id });
      expect([again.status, after?.id, after?.fileName]).toEqual([200, before?.id, 'again.mp4']);
      expect(after?.expiresAt).toBe(before?.expiresAt);
      // The same end is not announced again, but a later end is.
      await Draft.query(app.db).patch({ expiryNoticedAt: 1 }).where({ userId: user.id });
      await client.call(draftsApi.create, { body: { videoId, fileName: 'again.mp4' } });
      const noticed = async () => (await Draft.query(app.db).where({ userId: user.id }))[0]?.expiryNoticedAt;
      expect(Number(await noticed())).toBe(1);
      await Draft.query(app.db).patch({ expiresAt: 1 }).where({ userId: user.id });
      await client.call(draftsApi.create, { body: { videoId, fileName: 'once more.mp4' } });
      expect(await noticed()).toBeNull();
      expect(await daysKept(client)).toBe(7);
    });

    it('does not return after it has ended: an upgrade restores nothing', async () => {
      const { client, user } = await app.signIn();
      await uploadBytes(client, new TextEncoder().encode(`another clip on ${engine}`));
      await Draft.query(app.db).patch({ expiresAt: 1 }).where({ userId: user.id });
      await choose(client, 'creator-pro');
      await new Promise((resolve) => setTimeout(resolve, 200));
      expect((await client.call(draftsApi.list)).body).toEqual([]);
    });
  });
});
