import { createHash, createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { authApi } from '#common/api/auth.ts';
import { ideasApi } from '#common/api/ideas.ts';
import { MailToken } from '#db/models/mail-token.ts';
import { Session } from '#db/models/session.ts';
import { User } from '#db/models/user.ts';
import { startTestApp, tokenOf, TEST_PUBLIC_URL, type TestApp } from '#server/test/test-app.ts';
import { ENGINES, hasEngine } from '#server/test/test-database.ts';
import { TEST_PASSWORD } from '#server/test/factories.ts';

const DAY_MS = 24 * 3600_000;
const PASSWORD = 'Mended-Clip-42';
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

describe.each(ENGINES)('accounts on %s', (engine) => {
  describe.skipIf(!hasEngine(engine))('api', () => {
    let app: TestApp;
    let count = 0;
    beforeAll(async () => {
      app = await startTestApp({ engine });
    });
    afterAll(() => app.stop());

    const person = (given: Partial<{ username: string; email: string; password: string }> = {}) => {
      count += 1;
      const username = given.username ?? `person-${count}`;
      return {
        username,
        email: given.email ?? `${username}@example.test`,
        password: given.password ?? PASSWORD,
      };
    };
    const register = (body: unknown, headers: Record<string, string> = {}) =>
      app.client().call(authApi.register, { body, headers });
    const login = (username: string, password = PASSWORD) =>
      app.client().call(authApi.login, { body: { username, password } });
    async function registered() {
      const body = person();
      expect((await register(body)).status).toBe(201);
      return { ...body, token: tokenOf(await app.mailTo(body.email)) };
    }
    async function verified() {
      const one = await registered();
      expect((await app.client().call(authApi.verifyEmail, { query: { token: one.token } })).status).toBe(
        200,
      );
      return one;
    }

    describe('POST /api/auth/register', () => {
      it('creates a starter account that must verify its address, and no session', async () => {
        const body = person();
        const answer = await register({
          ...body,
          plan: 'business',
          reputation: 999,
          emailVerifiedAt: 1,
          id: 'x',
        });
        expect(answer.status).toBe(201);
        expect(answer.headers.getSetCookie()).toEqual([]);
        expect(await User.query(app.db).findOne({ username: body.username })).toMatchObject({
          plan: 'starter',
          reputation: 0,
          emailVerifiedAt: null,
        });
      });

      it('stores the password as argon2id with the wanted cost', async () => {
        const body = person();
        await register(body);
        const user = await User.query(app.db).findOne({ username: body.username });
        expect(user?.passwordHash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
      });

      it.each([
        ['Aa1aaaa', 'Password must be at least 8 characters'],
        [
          'alllower1',
          'Password must contain at least one lowercase letter, one uppercase letter, and one number',
        ],
        [`Aa1${'x'.repeat(126)}`, 'Password must be at most 128 characters'],
      ])('refuses the password %s', async (password, message) => {
        const answer = await register(person({ password }));
        expect(answer.status).toBe(400);
        expect(answer.raw).toMatchObject({
          code: 'invalid_input',
          message,
          error: message,
          fields: { password: message },
        });
      });

      it.each(['Password1', 'P4ssw0rd2024', 'Reelmend1', 'Marigold1'])(
        'accepts %s, which fits the rules of the specification',
        async (password) => {
          expect((await register(person({ password }))).status).toBe(201);
        },
      );

      it('accepts long passwords with blanks and signs unchanged, and does not cut them', async () => {
        const password = ` Aa1 ${'ü🎬'.repeat(30)} `;
        const body = person({ password });
        const registered = await register(body);
        expect([registered.status, registered.body?.emailVerified]).toEqual([201, false]);
        await app
          .client()
          .call(authApi.verifyEmail, { query: { token: tokenOf(await app.mailTo(body.email)) } });
        expect((await login(body.username, password)).status).toBe(200);
        expect((await login(body.username, password.trim())).status).toBe(401);
        expect((await login(body.username, `${password.slice(0, -1)}x`)).status).toBe(401);
      });

      it.each([
        ['a@x.test\r\nBcc: b@x.test'],
        ['"a b"@x.test'],
        [`${'a'.repeat(300)}@x.test`],
        ['nobody'],
        [''],
      ])('refuses the address %j', async (email) => {
        expect((await register({ ...person(), email })).status).toBe(400);
      });

      it.each([
        [{ username: { $ne: null }, email: 'a@b.test', password: ['a'] }],
        [true],
        [[]],
        [null],
        ['text'],
        [1e300],
      ])('answers 400 for the body %j', async (body) => {
        expect((await register(body)).status).toBe(400);
      });

      it('says whether name or address is taken, in any case', async () => {
        const first = await registered();
        const sameName = await register({ ...person(), username: first.username.toUpperCase() });
        expect(sameName.status).toBe(409);
        expect(sameName.raw).toMatchObject({ code: 'username_taken', message: 'Username is already taken' });
        const sameEmail = await register({ ...person(), email: first.email.toUpperCase() });
        expect(sameEmail.status).toBe(409);
        expect(sameEmail.raw).toMatchObject({ code: 'email_taken', message: 'Email is already registered' });
      });

      it('gives a name that twenty people want at once to one of them', async () => {
        const base = person();
        const answers = await Promise.all(
          Array.from({ length: 20 }, (_, index) =>
            register({ ...base, email: `race-${engine}-${index}@example.test` }),
          ),
        );
        expect(answers.map(({ status }) => status).toSorted()).toEqual([201, ...Array(19).fill(409)]);
      });

      it('mails a link below PUBLIC_URL, whatever the Host header says', async () => {
        const body = person();
        await register(body, { 'x-forwarded-host': 'evil.test' });
        const mail = await app.mailTo(body.email);
        expect(mail.text).toContain(`${TEST_PUBLIC_URL}/verify-email?token=`);
        expect(mail.text + mail.html).not.toContain('evil.test');
      });

      it('stores only the hash of the mailed token, for 24 hours', async () => {
        const { token } = await registered();
        expect(token).toMatch(/^[A-Za-z0-9_-]{43}$/);
        const row = await MailToken.query(app.db).findById(sha256(token));
        expect(row?.expiresAt).toBeGreaterThan(app.now() + DAY_MS - 60_000);
        expect(row?.expiresAt).toBeLessThanOrEqual(app.now() + DAY_MS);
      });
    });

    describe('GET /api/auth/verify-email', () => {
      it('verifies once, says so again on repetition, and signs nobody in', async () => {
        const { token, username } = await registered();
        const first = await app.client().call(authApi.verifyEmail, { query: { token } });
        expect(first.body).toEqual({ message: 'Your email is verified.' });
        const second = await app.client().call(authApi.verifyEmail, { query: { token } });
        expect(second.body).toEqual({ message: 'Your email is already verified.' });
        expect([...first.headers.getSetCookie(), ...second.headers.getSetCookie()]).toEqual([]);
        expect((await login(username)).status).toBe(200);
      });

      it('changes nothing for HEAD', async () => {
        const { token, username } = await registered();
        const path = `${authApi.verifyEmail.path}?token=${token}`;
        expect((await app.client().fetch(path, { method: 'HEAD' })).status).toBe(200);
        expect((await login(username)).status).toBe(403);
      });

      it('still accepts the older of two mailed links', async () => {
        const { token, email } = await registered();
        app.advance(61_000);
        await app.client().call(authApi.resendVerification, { body: { email } });
        await expect.poll(() => app.mails.filter((mail) => mail.to === email).length).toBe(2);
        expect((await app.client().call(authApi.verifyEmail, { query: { token } })).status).toBe(200);
      });

      it('refuses a changed, an expired and an unknown token alike', async () => {
        const { token } = await registered();
        const changed = `${token.startsWith('A') ? 'B' : 'A'}${token.slice(1)}`;
        const refused = await app.client().call(authApi.verifyEmail, { query: { token: changed } });
        expect(refused.status).toBe(400);
        expect(refused.raw).toMatchObject({
          error: 'Failed to verify email. The link may be expired or invalid.',
        });
        app.advance(DAY_MS + 1000);
        expect((await app.client().call(authApi.verifyEmail, { query: { token } })).status).toBe(400);
      });

      it.each(['', '?token=', '?token=a&token=b'])(
        'refuses the query %j as an invalid link',
        async (query) => {
          const answer = await app.client().fetch(authApi.verifyEmail.path + query);
          expect(answer.status).toBe(400);
          expect(await answer.json()).toMatchObject({
            error: 'Invalid verification link. Please check your email for the correct link.',
          });
        },
      );
    });

    describe('POST /api/auth/resend-verification', () => {
      it('answers alike for unknown, verified and unverified accounts, by name and by address', async () => {
        const waiting = await registered();
        const done = await verified();
        const fields = [
          'nobody@example.test',
          'nobody',
          done.email,
          done.username,
          waiting.email,
          waiting.username,
        ];
        const answers = await Promise.all(
          fields.map((email) => app.client().call(authApi.resendVerification, { body: { email } })),
        );
        expect(new Set(answers.map(({ status, raw }) => `${status} ${JSON.stringify(raw)}`)).size).toBe(1);
      });

      it('mails at most once a minute', async () => {
        const { email } = await registered();
        const sent = () => app.mails.filter((mail) => mail.to === email).length;
        await app.client().call(authApi.resendVerification, { body: { email } });
        await app.client().call(authApi.resendVerification, { body: { email } });
        app.advance(61_000);
        await app.client().call(authApi.resendVerification, { body: { email } });
        await expect.poll(sent).toBe(2);
      });
    });

    describe('POST /api/auth/login', () => {
      it('accepts name or address in any case and answers with the user without secrets', async () => {
        const { username, email } = await verified();
        for (const field of [username, email, username.toUpperCase(), email.toUpperCase()]) {
          const answer = await login(field);
          expect(answer.status).toBe(200);
          expect(answer.body?.user).toMatchObject({ username, email, plan: 'starter', emailVerified: true });
          expect(JSON.stringify(answer.raw)).not.toMatch(/hash|argon/i);
        }
      });

      it('answers alike for an unknown name and a wrong password', async () => {
        const { username } = await verified();
        const [wrong, unknown] = [await login(username, 'Wrong-Clip-42'), await login('nobody-at-all')];
        for (const answer of [wrong, unknown]) {
          expect(answer.status).toBe(401);
          expect(answer.raw).toMatchObject({ code: 'invalid_credentials', message: 'Invalid credentials' });
        }
      });

      it('tells about the missing verification only with the right password', async () => {
        const { username } = await registered();
        expect((await login(username, 'Wrong-Clip-42')).status).toBe(401);
        const right = await login(username);
        expect(right.status).toBe(403);
        expect(right.raw).toMatchObject({ code: 'email_not_verified', message: 'Email not verified' });
      });

      it('gives a random id in a safe cookie and stores only its hash', async () => {
        const { username } = await verified();
        const answer = await login(username);
        const [sid, sig] = answer.headers.getSetCookie();
        expect(sid).toMatch(/^sid=[A-Za-z0-9_-]{43};/);
        for (const line of [sid, sig]) {
          expect(line).toMatch(/path=\//i);
          expect(line).toMatch(/samesite=lax/i);
          expect(line).toMatch(/httponly/i);
          expect(line).not.toMatch(/domain=/i);
        }
        const id = /^sid=([^;]+)/.exec(sid ?? '')?.[1] ?? '';
        expect(await Session.query(app.db).findById(sha256(id))).toBeDefined();
        expect(await Session.query(app.db).findById(id)).toBeUndefined();
        const signature = /^sid\.sig=([^;]+)/.exec(sig ?? '')?.[1];
        const key = app.config.sessionKeys[0] ?? '';
        expect(signature).toBe(createHmac('sha256', key).update(`sid=${id}`).digest('base64url'));
      });

      it('changes the id at login and ends the earlier session', async () => {
        const { username } = await verified();
        const { client, user } = await app.signIn();
        const before = client.cookies();
        const answer = await client.call(authApi.login, { body: { username, password: PASSWORD } });
        expect(answer.status).toBe(200);
        expect(client.cookies()).not.toBe(before);
        const old = await app.client().fetch(authApi.currentUser.path, { headers: { cookie: before } });
        expect(old.status).toBe(401);
        expect(await Session.query(app.db).where({ userId: user.id }).resultSize()).toBe(0);
      });

      it('does not adopt an id that the visitor brings along', async () => {
        const { username } = await verified();
        const planted = 'A'.repeat(43);
        const client = app.client();
        client.setCookie('sid', planted);
        await client.call(authApi.login, { body: { username, password: PASSWORD } });
        expect(client.cookies()).not.toContain(planted);
      });

      it('renews a hash that was made with weaker parameters', async () => {
        const { user } = await app.signIn();
        expect((await login(user.username, TEST_PASSWORD)).status).toBe(200);
        const after = await User.query(app.db).findById(user.id);
        expect(after?.passwordHash).toMatch(/m=19456,t=2,p=1/);
      });
    });

    describe('sessions', () => {
      it('answers with the user of a live session', async () => {
        const { client, user } = await app.signIn();
        expect((await client.call(authApi.currentUser)).body?.user).toMatchObject({
          id: user.id,
          username: user.username,
        });
      });

      it('answers 401 without a cookie, with a changed id, a changed signature and a foreign signature', async () => {
        const { client } = await app.signIn();
        const cookie = client.cookies();
        const [id = '', sig = ''] = cookie.split('; ');
        const spoilt = (text: string) => text.slice(0, -1) + (text.endsWith('A') ? 'B' : 'A');
        const foreign = createHmac('sha256', 'x'.repeat(32)).update(id).digest('base64url');
        for (const value of [
          '',
          id,
          `${spoilt(id)}; ${sig}`,
          `${id}; ${spoilt(sig)}`,
          `${id}; sid.sig=${foreign}`,
        ]) {
          const answer = await app.client().fetch(authApi.currentUser.path, { headers: { cookie: value } });
          expect(answer.status).toBe(401);
        }
        expect((await client.call(authApi.currentUser)).status).toBe(200);
      });

      it('ends with logout, for a kept copy of the cookie too', async () => {
        const { client } = await app.signIn();
        const cookie = client.cookies();
        const answer = await client.call(authApi.logout);
        expect(answer.status).toBe(200);
        expect(client.cookies()).toBe('');
        const again = await app.client().fetch(authApi.currentUser.path, { headers: { cookie } });
        expect(again.status).toBe(401);
      });

      it('is not revived by requests that are under way during the logout', async () => {
        const { client, user } = await app.signIn();
        const cookie = client.cookies();
        const slow = Array.from({ length: 20 }, () =>
          app.client().fetch(ideasApi.list.path, { headers: { cookie } }),
        );
        await Promise.all([client.call(authApi.logout), ...slow]);
        expect((await app.client().fetch(authApi.currentUser.path, { headers: { cookie } })).status).toBe(
          401,
        );
        expect(await Session.query(app.db).where({ userId: user.id }).resultSize()).toBe(0);
      });

      it('ends after 7 idle days, and after 30 days in any case', async () => {
        const idle = await app.signIn();
        app.advance(7 * DAY_MS + 1000);
        expect((await idle.client.call(authApi.currentUser)).status).toBe(401);
        const busy = await app.signIn();
        for (let day = 0; day < 29; day += 1) {
          app.advance(DAY_MS);
          expect((await busy.client.call(authApi.currentUser)).status).toBe(200);
        }
        app.advance(DAY_MS + 1000);
        expect((await busy.client.call(authApi.currentUser)).status).toBe(401);
      });

      it('ends when the account is deleted', async () => {
        const { client, user } = await app.signIn();
        await User.query(app.db).deleteById(user.id);
        expect((await client.call(authApi.currentUser)).status).toBe(401);
      });

      it('removes rows that no cookie can use', async () => {
        const { user } = await app.signIn();
        app.advance(31 * DAY_MS);
        await app.sweep();
        expect(await Session.query(app.db).where({ userId: user.id }).resultSize()).toBe(0);
      });
    });

    describe('a forgotten password', () => {
      it('is replaced by a link that works once and ends all sessions', async () => {
        const { user, client } = await app.signIn();
        const asked = await app.client().call(authApi.forgotPassword, { body: { email: user.username } });
        expect(asked.status).toBe(200);
        const mail = await app.mailTo(user.email);
        expect(mail.text).toContain(`${TEST_PUBLIC_URL}/reset-password?token=`);
        const token = tokenOf(mail);
        const body = { token, password: 'Another-Clip-43' };
        expect((await app.client().call(authApi.resetPassword, { body })).status).toBe(200);
        expect((await client.call(authApi.currentUser)).status).toBe(401);
        expect((await login(user.username, 'Another-Clip-43')).status).toBe(200);
        expect((await login(user.username, TEST_PASSWORD)).status).toBe(401);
        expect((await app.client().call(authApi.resetPassword, { body })).status).toBe(400);
      });

      it('is changed by one of ten requests that use the same link at once', async () => {
        const { user } = await app.signIn();
        await app.client().call(authApi.forgotPassword, { body: { email: user.email } });
        const token = tokenOf(await app.mailTo(user.email));
        const answers = await Promise.all(
          Array.from({ length: 10 }, (_, index) =>
            app.client().call(authApi.resetPassword, { body: { token, password: `Another-Clip-${index}` } }),
          ),
        );
        expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
      });

      it('has a link that is valid for one hour', async () => {
        const { user } = await app.signIn();
        await app.client().call(authApi.forgotPassword, { body: { email: user.email } });
        const token = tokenOf(await app.mailTo(user.email));
        app.advance(3600_000 + 1000);
        const body = { token, password: 'Another-Clip-43' };
        expect((await app.client().call(authApi.resetPassword, { body })).status).toBe(400);
      });

      it('is not verified by a link of the other kind', async () => {
        const { token } = await registered();
        const body = { token, password: 'Another-Clip-43' };
        expect((await app.client().call(authApi.resetPassword, { body })).status).toBe(400);
      });
    });

    describe('POST /api/auth/change-password', () => {
      it('needs the current password and ends the other sessions', async () => {
        const here = await app.signIn();
        const there = await app.signIn(here.user);
        const wrong = { password: 'Wrong-Clip-42', newPassword: 'Another-Clip-43' };
        expect((await here.client.call(authApi.changePassword, { body: wrong })).status).toBe(401);
        const right = { password: TEST_PASSWORD, newPassword: 'Another-Clip-43' };
        expect((await here.client.call(authApi.changePassword, { body: right })).status).toBe(200);
        expect((await here.client.call(authApi.currentUser)).status).toBe(200);
        expect((await there.client.call(authApi.currentUser)).status).toBe(401);
      });

      it('gives no session to a sign-in that checked the old password right before the change and ends after it', async () => {
        const { client, user } = await app.signIn();
        const body = { password: TEST_PASSWORD, newPassword: 'Another-Clip-43' };
        expect((await client.call(authApi.changePassword, { body })).status).toBe(200);
        const before = await Session.query(app.db).where({ userId: user.id }).resultSize();
        expect(await app.sessions.open('s'.repeat(43), user.id, user.passwordHash)).toBe(false);
        expect(await Session.query(app.db).where({ userId: user.id }).resultSize()).toBe(before);
        const { passwordHash } = await User.query(app.db).findById(user.id).throwIfNotFound();
        expect(await app.sessions.open('t'.repeat(43), user.id, passwordHash)).toBe(true);
      });
    });
  });
});

describe('limits and switches', () => {
  it('stops guessing after five tries a minute, whatever X-Forwarded-For says, but not for ever', async () => {
    const app = await startTestApp({ engine: 'sqlite', env: { RATE_LIMITS: 'on' } });
    try {
      const { user } = await app.signIn();
      const guess = (password: string, index: number) =>
        app.client().call(authApi.login, {
          body: { username: user.username, password },
          headers: { 'x-forwarded-for': `203.0.113.${index}` },
        });
      const answers = [];
      for (let index = 0; index < 8; index += 1) answers.push(await guess('Wrong-Clip-42', index));
      expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 401, 401, 429, 429, 429]);
      expect(Number(answers[7]?.headers.get('retry-after'))).toBeGreaterThan(0);
    } finally {
      await app.stop();
    }
  });

  it('verifies at once with EMAIL_VERIFICATION=off', async () => {
    const app = await startTestApp({ engine: 'sqlite', env: { EMAIL_VERIFICATION: 'off' } });
    try {
      const body = { username: 'solo', email: 'solo@example.test', password: PASSWORD };
      const registered = await app.client().call(authApi.register, { body });
      expect([registered.status, registered.body?.emailVerified]).toEqual([201, true]);
      const answer = await app
        .client()
        .call(authApi.login, { body: { username: 'solo', password: PASSWORD } });
      expect(answer.status).toBe(200);
      expect(app.mails).toEqual([]);
    } finally {
      await app.stop();
    }
  });
});
