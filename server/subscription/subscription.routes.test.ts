import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { notificationsApi } from '#common/api/notifications.ts';
import { authApi } from '#common/api/auth.ts';
import { subscriptionApi } from '#common/api/subscription.ts';
import { Trial } from '#db/models/trial.ts';
import { User } from '#db/models/user.ts';
import { createUser } from '#server/test/factories.ts';
import { startTestApp, type TestApp } from '#server/test/test-app.ts';
import { ENGINES, hasEngine } from '#server/test/test-database.ts';

const DAY_MS = 24 * 3600_000;

describe.each(ENGINES)('subscription on %s', (engine) => {
  describe.skipIf(!hasEngine(engine))('POST and GET /api/subscription', () => {
    let app: TestApp;

    beforeAll(async () => {
      app = await startTestApp({ engine });
    });
    afterAll(async () => app.stop());

    const subscribe = subscriptionApi.subscribe;

    it('answers 401 to the signed-out', async () => {
      const visitor = app.client();
      expect((await visitor.call(subscriptionApi.state)).status).toBe(401);
      expect((await visitor.call(subscribe, { body: { plan: 'business' } })).status).toBe(401);
    });

    it.each([{}, { plan: 'gold' }, { plan: null }, { plan: ['business'] }, null, 'business'])(
      'answers 400 to %j',
      async (body) => {
        const { client, user } = await app.signIn();
        expect((await client.call(subscribe, { body })).status).toBe(400);
        expect((await User.query(app.db).findById(user.id))?.plan).toBe('starter');
      },
    );

    it('starts the trial, shows it, and the session has the plan', async () => {
      const { client } = await app.signIn();
      const before = app.now();
      const { body } = await client.call(subscribe, { body: { plan: 'business' } });
      const endsAt = Date.parse(body?.user.trialEndsAt ?? '');
      expect(body?.user.plan).toBe('business');
      expect(endsAt).toBeGreaterThanOrEqual(before + 7 * DAY_MS);
      expect(endsAt).toBeLessThanOrEqual(app.now() + 7 * DAY_MS);
      expect((await client.call(authApi.currentUser)).body?.user.plan).toBe('business');
      expect((await client.call(subscriptionApi.state)).body).toMatchObject({
        plan: 'business',
        billing: 'trial',
        trials: [{ plan: 'business', state: 'running' }],
      });
    });

    it('gives one trial with one end to fifty simultaneous calls', async () => {
      const { client, user } = await app.signIn();
      const answers = await Promise.all(
        Array.from({ length: 50 }, () => client.call(subscribe, { body: { plan: 'creator-pro' } })),
      );
      expect(answers.map((answer) => answer.status)).toEqual(Array.from({ length: 50 }, () => 200));
      expect(new Set(answers.map((answer) => answer.body?.user.trialEndsAt)).size).toBe(1);
      expect(await Trial.query(app.db).where('userId', user.id).resultSize()).toBe(1);
    });

    it('ends a trial once in ten simultaneous sweeps, announces it, and refuses a second one', async () => {
      const user = await createUser(app.db);
      const { client } = await app.signIn(user);
      await client.call(subscribe, { body: { plan: 'business' } });
      app.advance(7 * DAY_MS);
      // The session is a week old and expired, so the user signs in again.
      const later = (await app.signIn(user)).client;
      await Promise.all(Array.from({ length: 10 }, () => app.sweep()));
      expect((await later.call(subscriptionApi.state)).body).toMatchObject({
        plan: 'starter',
        trialEndsAt: null,
        trials: [{ plan: 'business', state: 'ended' }],
      });
      const notices = (await later.call(notificationsApi.list)).body?.notifications ?? [];
      expect(notices.map((notice) => notice.title)).toEqual(['Your trial of Creator Pro+ has ended']);
      const again = await later.call(subscribe, { body: { plan: 'business' } });
      expect(again.status).toBe(409);
      expect(again.raw).toMatchObject({ message: 'You have already used the free trial of Creator Pro+.' });
    });

    it('switches to Starter at once', async () => {
      const { client } = await app.signIn();
      await client.call(subscribe, { body: { plan: 'business' } });
      const { body } = await client.call(subscribe, { body: { plan: 'starter' } });
      expect(body?.user).toMatchObject({ plan: 'starter', trialEndsAt: null });
      expect((await client.call(subscriptionApi.state)).body?.trials).toMatchObject([{ state: 'paused' }]);
    });
  });

  describe.skipIf(!hasEngine(engine))('with BILLING_MODE=off', () => {
    it('changes no plan', async () => {
      const app = await startTestApp({ engine, env: { BILLING_MODE: 'off' } });
      const { client, user } = await app.signIn();
      const { status, body } = await client.call(subscriptionApi.subscribe, { body: { plan: 'business' } });
      expect([status, body?.user.plan]).toEqual([200, 'starter']);
      expect((await client.call(authApi.currentUser)).body?.user.billing).toBe('off');
      expect((await client.call(subscriptionApi.state)).body?.billing).toBe('off');
      expect(await Trial.query(app.db).where('userId', user.id).resultSize()).toBe(0);
      await app.stop();
    });
  });
});
