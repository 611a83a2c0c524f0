import path from 'node:path';
import type { Knex } from 'knex';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MAX_TOKENS_PER_ACCOUNT } from '#common/api/api-access.ts';
import type { PlanSlug } from '#common/plans.ts';
import { newId } from '#db/base-model.ts';
import { connectDatabase } from '#db/connection.ts';
import { ApiToken } from '#db/models/api-token.ts';
import { User } from '#db/models/user.ts';
import { createTestDatabase, type TestDatabase } from '#server/test/test-database.ts';
import { createTokensService, type TokensService } from './tokens.service.ts';

const START = Date.UTC(2026, 0, 10);
const DAY_MS = 24 * 3600_000;

describe('tokens service', () => {
  let db: Knex;
  let database: TestDatabase;
  let at: number;
  let tokens: TokensService;

  beforeEach(async () => {
    database = await createTestDatabase('sqlite');
    db = connectDatabase({ databaseUrl: null, sqlitePath: path.join(database.dataDir, 'reelmend.sqlite') });
    at = START;
    tokens = createTokensService({ db, enforcePlans: true, now: () => at });
  });

  afterEach(async () => {
    await db.destroy();
    await database.remove();
  });

  async function person(plan: PlanSlug): Promise<User> {
    const id = newId();
    return User.query(db).insertAndFetch({
      id,
      username: id.slice(0, 12),
      usernameLower: id.slice(0, 12).toLowerCase(),
      email: `${id}@example.test`,
      emailLower: `${id}@example.test`.toLowerCase(),
      passwordHash: 'x',
      plan,
      reputation: 0,
      createdAt: START,
      updatedAt: START,
    });
  }

  const both = { name: 'laptop', scopes: ['write', 'read'] } as const;

  it('makes a token of 256 random bits and stores only its hash', async () => {
    const user = await person('business');
    const { token, row } = await tokens.create(user, both);
    expect(token).toMatch(/^pat_[A-Za-z0-9_-]{43}$/);
    expect(row.hint).toBe(token.slice(0, 10));
    const stored = JSON.stringify(await db('api_tokens'));
    expect(stored).not.toContain(token.slice(12));
    expect((await tokens.create(user, both)).token).not.toBe(token);
  });

  it('identifies the bearer and the scopes', async () => {
    const user = await person('business');
    const reader = await tokens.create(user, { name: 'reader', scopes: ['read'] });
    const all = await tokens.create(user, both);
    expect(await tokens.authenticate(reader.token)).toMatchObject({
      user: { id: user.id },
      scopes: ['read'],
    });
    expect(await tokens.authenticate(all.token)).toMatchObject({ scopes: ['read', 'write'] });
  });

  it.each(['', 'pat_', `pat_${'A'.repeat(43)}`, `pat_${'A'.repeat(9999)}`, "pat_' OR 1=1 --"])(
    'does not know %j',
    async (token) => {
      await tokens.create(await person('business'), both);
      expect(await tokens.authenticate(token)).toBeNull();
    },
  );

  it('ends a token at its last millisecond', async () => {
    const { token } = await tokens.create(await person('business'), { ...both, expiresInDays: 2 });
    at = START + 2 * DAY_MS - 1;
    expect(await tokens.authenticate(token)).not.toBeNull();
    at += 1;
    expect(await tokens.authenticate(token)).toBeNull();
  });

  it('ends a token when it is revoked, and lets nobody else revoke it', async () => {
    const [user, other] = [await person('business'), await person('business')];
    const { token, row } = await tokens.create(user, both);
    await expect(tokens.revoke(other.id, row.id)).rejects.toMatchObject({ code: 'not_found' });
    expect(await tokens.authenticate(token)).not.toBeNull();
    await tokens.revoke(user.id, row.id);
    expect(await tokens.authenticate(token)).toBeNull();
    await expect(tokens.revoke(user.id, row.id)).rejects.toMatchObject({ code: 'not_found' });
  });

  it.each(['starter', 'creator-pro'] as const)('is not for plan %s', async (plan) => {
    await expect(tokens.create(await person(plan), both)).rejects.toMatchObject({ code: 'plan_required' });
  });

  it('refuses a token while the plan does not include the API, and accepts it again afterwards', async () => {
    const user = await person('business');
    const { token } = await tokens.create(user, both);
    await user.$query(db).patch({ plan: 'starter' });
    await expect(tokens.authenticate(token)).rejects.toMatchObject({ code: 'plan_required' });
    await user.$query(db).patch({ plan: 'business' });
    expect(await tokens.authenticate(token)).not.toBeNull();
  });

  it('never has more tokens than allowed, however many are requested at once', async () => {
    const user = await person('business');
    const asked = await Promise.allSettled(Array.from({ length: 50 }, () => tokens.create(user, both)));
    const made = asked.filter((result) => result.status === 'fulfilled');
    expect(made).toHaveLength(MAX_TOKENS_PER_ACCOUNT);
    expect(await ApiToken.query(db).resultSize()).toBe(MAX_TOKENS_PER_ACCOUNT);
  });

  it('writes the time of last use at most once a minute', async () => {
    const { token, row } = await tokens.create(await person('business'), both);
    const lastUsed = async () => (await ApiToken.query(db).findById(row.id))?.lastUsedAt;
    await tokens.authenticate(token);
    at = START + 59_000;
    await tokens.authenticate(token);
    expect(await lastUsed()).toBe(START);
    at = START + 60_000;
    await tokens.authenticate(token);
    expect(await lastUsed()).toBe(START + 60_000);
  });
});
