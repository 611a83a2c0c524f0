import pg from 'pg';
import { inject } from 'vitest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { authApi } from '#common/api/auth.ts';
import { ideasApi } from '#common/api/ideas.ts';
import { hasEngine } from './test-database.ts';
import { startTestApp, type TestApp } from './test-app.ts';

describe.skipIf(!hasEngine('postgres'))('a database that goes away', () => {
  let app: TestApp;
  let admin: pg.Client;
  beforeAll(async () => {
    app = await startTestApp({ engine: 'postgres' });
    admin = new pg.Client({ connectionString: inject('postgresUrl') ?? '' });
    await admin.connect();
  });
  afterAll(async () => {
    await admin.end();
    await app.stop();
  });

  const databaseName = () => new URL(app.config.databaseUrl ?? '').pathname.slice(1);
  const cutAll = () =>
    admin.query(
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1 AND pid <> pg_backend_pid()',
      [databaseName()],
    );

  it('answers 503 at worst while connections are cut, and serves again at once', async () => {
    const { client } = await app.signIn();
    const statuses = new Set<number>();
    for (let round = 0; round < 5; round += 1) {
      const calls = Array.from({ length: 20 }, async () => {
        statuses.add((await client.call(ideasApi.list)).status);
      });
      await cutAll();
      await Promise.all(calls);
    }
    for (const status of statuses) expect([200, 503]).toContain(status);
    await expect.poll(async () => (await client.call(authApi.currentUser)).status).toBe(200);
  });

  it('says 503 with Retry-After within five seconds, is not ready but alive, and recovers', async () => {
    const { client } = await app.signIn();
    await admin.query(`ALTER DATABASE ${databaseName()} WITH ALLOW_CONNECTIONS false`);
    await cutAll();
    // A connection still in the pool may notice its end only now.
    await expect.poll(async () => (await client.call(authApi.currentUser)).status).toBe(503);
    const startedAt = performance.now();
    const refused = await client.call(authApi.currentUser);
    expect(performance.now() - startedAt).toBeLessThan(6000);
    expect(refused.raw).toMatchObject({ code: 'unavailable' });
    expect(refused.headers.get('retry-after')).toBe('5');
    expect((await client.fetch('/readyz')).status).toBe(503);
    expect((await client.fetch('/healthz')).status).toBe(200);
    await admin.query(`ALTER DATABASE ${databaseName()} WITH ALLOW_CONNECTIONS true`);
    await expect.poll(async () => (await client.call(authApi.currentUser)).status).toBe(200);
  });
});
