import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { authApi } from '#common/api/auth.ts';
import { ideasApi } from '#common/api/ideas.ts';
import { ERRORS } from '#common/errors.ts';
import { senderOf } from '#server/http/rate-limit.ts';
import { createIdea, createUser, TEST_PASSWORD } from './factories.ts';
import { startTestApp, type TestApp } from './test-app.ts';
import type { Answer, TestClient } from './test-client.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ engine: 'sqlite', env: { RATE_LIMITS: 'on' } });
});
afterAll(() => app.stop());

const someName = () => `n-${randomBytes(6).toString('hex')}`;

/** Actions that are limited, with the number of times that one user may still do them. */
const DEEDS: Readonly<
  Record<string, { readonly fine: number; readonly once: (client: TestClient) => Promise<Answer<unknown>> }>
> = {
  'to register': {
    fine: 30,
    once: (client) => {
      const username = someName();
      const body = { username, email: `${username}@example.test`, password: 'Mended-Clip-42' };
      return client.call(authApi.register, { body });
    },
  },
  'to sign in': {
    fine: 5,
    once: (client) =>
      client.call(authApi.login, { body: { username: 'someone', password: 'Wrong-Clip-42' } }),
  },
  'to have the mail sent again': {
    fine: 3,
    once: (client) => client.call(authApi.resendVerification, { body: { email: 'someone@example.test' } }),
  },
  'to submit ideas': {
    fine: 10,
    once: (client) => client.call(ideasApi.create, { body: { text: `An idea named ${someName()}` } }),
  },
  'to vote': {
    fine: 60,
    once: async (client) => {
      const { id } = await createIdea(app.db);
      return client.call(ideasApi.vote, { params: { id } });
    },
  },
};

it.each(Object.entries(DEEDS))('clearly refuses too many tries %s', async (_deed, { fine, once }) => {
  const { client } = await app.signIn();
  for (let time = 0; time < fine; time += 1) expect((await once(client)).status).not.toBe(429);
  const refused = await once(client);
  expect(refused.status).toBe(429);
  expect(refused.raw).toMatchObject({ code: 'rate_limited', message: ERRORS.rate_limited.message });
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
});

it('counts only wrong passwords: whoever knows theirs signs in as often as they like', async () => {
  const { user } = await app.signIn();
  const signIn = async (password: string) => {
    const answer = await app.client().call(authApi.login, { body: { username: user.username, password } });
    return answer.status;
  };
  for (let time = 0; time < 7; time += 1) expect(await signIn('Mended-Clip-42')).toBe(200);
  for (let time = 0; time < 5; time += 1) expect(await signIn('Wrong-Clip-42')).toBe(401);
  expect(await signIn('Mended-Clip-42')).toBe(429);
});

it('does not count an address that is not verified yet as a wrong password', async () => {
  const user = await createUser(app.db, { emailVerifiedAt: null });
  const body = { username: user.username, password: TEST_PASSWORD };
  for (let time = 0; time < 7; time += 1) {
    const answer = await app.client().call(authApi.login, { body });
    expect([answer.status, answer.raw]).toMatchObject([403, { code: 'email_not_verified' }]);
  }
});

it('counts all addresses of one IPv6 network as one sender', async () => {
  const proxied = await startTestApp({ engine: 'sqlite', env: { RATE_LIMITS: 'on', TRUST_PROXY: 'on' } });
  const guess = async (address: string) => {
    const body = { username: 'someone', password: 'Wrong-Clip-42' };
    const headers = { 'x-forwarded-for': address };
    return (await proxied.client().call(authApi.login, { body, headers })).status;
  };
  for (let host = 1; host <= 5; host += 1) expect(await guess(`2001:db8:0:7::${host}`)).toBe(401);
  expect(await guess('2001:db8::7:abcd:0:0:9')).toBe(429);
  expect(await guess('2001:db8:0:8::1')).toBe(401);
  await proxied.stop();
});

it.each([
  ['203.0.113.9', '203.0.113.9'],
  ['::ffff:203.0.113.9', '203.0.113.9'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['2001:0db8:0000:0007:1:2:3:4', '2001:db8:0:7::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
])('limits %s as %s', (ip, sender) => expect(senderOf({ ip })).toBe(sender));
