import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accountApi, accountExportPath } from '#common/api/account.ts';
import { authApi } from '#common/api/auth.ts';
import { draftsApi } from '#common/api/drafts.ts';
import { ideasApi } from '#common/api/ideas.ts';
import { uploadsApi } from '#common/api/uploads.ts';
import { videosApi } from '#common/api/videos.ts';
import { User } from '#db/models/user.ts';
import { createUser, TEST_PASSWORD } from '#server/test/factories.ts';
import { startTestApp, type TestApp } from '#server/test/test-app.ts';
import { ENGINES, hasEngine } from '#server/test/test-database.ts';
import { uploadBytes } from '#server/test/upload-bytes.ts';

const bytesOf = (text: string) => new TextEncoder().encode(text);
/** After this time a stored object cannot belong to a commit that is still under way. */
const SETTLED_MS = 3 * 60_000;

describe.each(ENGINES)('the account on %s', (engine) => {
  describe.skipIf(!hasEngine(engine))('with a running server', () => {
    let app: TestApp;
    let folder: string;

    beforeAll(async () => {
      app = await startTestApp({ engine });
      folder = await mkdtemp(path.join(tmpdir(), 'reelmend-export-'));
    });
    afterAll(async () => {
      await app.stop();
      await rm(folder, { recursive: true, force: true });
    });

    async function stored(): Promise<string[]> {
      const names: string[] = [];
      for await (const file of app.storage.list()) names.push(file.sha256);
      return names;
    }

    it('answers 401 to the signed-out', async () => {
      const visitor = app.client();
      const answers = [
        await visitor.call(accountApi.storage),
        await visitor.call(accountApi.remove, { body: { password: TEST_PASSWORD } }),
        await visitor.fetch(accountExportPath),
      ];
      expect(answers.map((answer) => answer.status)).toEqual([401, 401, 401]);
    });

    it('shows what is stored, counting the same bytes once and unfinished uploads separately', async () => {
      const { client } = await app.signIn();
      await uploadBytes(client, bytesOf('fifteen bytes..'), 'one.mp4');
      await uploadBytes(client, bytesOf('fifteen bytes..'), 'same.mp4');
      const issued = await client.call(uploadsApi.uploadUrl);
      const address = new URL(issued.body?.uploadUrl ?? '', app.baseUrl).pathname;
      await client.fetch(address, { method: 'PUT', body: bytesOf('1234567') });
      expect((await client.call(accountApi.storage)).body).toEqual({
        originalsBytes: 15,
        versionsBytes: 0,
        exportsBytes: 0,
        extrasBytes: 0,
        uploadsBytes: 7,
        totalBytes: 22,
      });
    });

    it('gives an archive that tar reads and sha256sum confirms', async () => {
      const user = await createUser(app.db, { username: `exporter-${engine.slice(0, 4)}` });
      const { client } = await app.signIn(user);
      await uploadBytes(client, bytesOf('the first original'), 'Ferien – Tag 1.mp4');
      const gone = await uploadBytes(client, bytesOf('only in its backup'), 'deleted.mp4');
      await client.call(videosApi.remove, { params: { id: gone } });
      await client.call(ideasApi.create, { body: { text: 'Mend my idea too' } });
      const answer = await client.fetch(accountExportPath);
      const bytes = Buffer.from(await answer.arrayBuffer());
      expect(answer.headers.get('content-disposition')).toContain(`filename="reelmend-${user.username}.tar"`);
      expect(Number(answer.headers.get('content-length'))).toBe(bytes.byteLength);
      const target = await mkdtemp(path.join(folder, 'archive-'));
      const file = path.join(target, 'archive.tar');
      writeFileSync(file, bytes);
      const env = { PATH: '/usr/bin:/bin', LANG: 'C.UTF-8' };
      execFileSync('tar', ['-xf', file, '-C', target], { env });
      const checked = execFileSync('sha256sum', ['-c', 'SHA256SUMS'], { cwd: target, env, encoding: 'utf8' });
      expect(checked.match(/: OK$/gm)).toHaveLength(2);
      const originals = await readdir(path.join(target, 'originals'));
      expect(originals.map((name) => name.slice(9)).toSorted()).toEqual([
        'Ferien – Tag 1.mp4',
        'deleted.mp4',
      ]);
      const account = readFileSync(path.join(target, 'data/account.json'), 'utf8');
      expect(JSON.parse(account)).toMatchObject({ username: user.username, email: user.email });
      expect(account).not.toContain('argon2');
      expect(readFileSync(path.join(target, 'data/ideas.json'), 'utf8')).toContain('Mend my idea too');
    });

    it('makes one archive per account at a time', async () => {
      const { client } = await app.signIn();
      // Larger than the buffers of a connection whose reader does not read.
      await uploadBytes(client, new Uint8Array(40_000_000));
      const first = await client.fetch(accountExportPath);
      const second = await client.fetch(accountExportPath);
      expect([first.status, second.status]).toEqual([200, 429]);
      expect(second.headers.get('retry-after')).not.toBeNull();
      await first.body?.cancel();
      await expect
        .poll(async () => {
          const again = await client.fetch(accountExportPath);
          await again.body?.cancel();
          return again.status;
        })
        .toBe(200);
    });

    it('does not delete with a wrong password or without one', async () => {
      const { client, user } = await app.signIn();
      const wrong = await client.call(accountApi.remove, { body: { password: 'Mended-Clip-43' } });
      expect([wrong.status, wrong.raw]).toMatchObject([400, { fields: { password: expect.any(String) } }]);
      expect((await client.call(accountApi.remove, { body: {} })).status).toBe(400);
      expect(await User.query(app.db).findById(user.id)).toBeDefined();
      expect((await client.call(authApi.currentUser)).status).toBe(200);
    });

    it('deletes rows, files and sessions, and keeps what another account holds too', async () => {
      const leaving = await createUser(app.db);
      const { client } = await app.signIn(leaving);
      const elsewhere = (await app.signIn(leaving)).client;
      const staying = (await app.signIn()).client;
      const before = new Set(await stored());
      await uploadBytes(client, bytesOf(`held by one on ${engine}`));
      await uploadBytes(client, bytesOf(`held by two on ${engine}`));
      const kept = await uploadBytes(staying, bytesOf(`held by two on ${engine}`));
      const idea = await staying.call(ideasApi.create, { body: { text: 'Stay with me' } });
      const id = idea.body?.id ?? '';
      await client.call(ideasApi.vote, { params: { id } });
      app.advance(SETTLED_MS);

      const { status } = await client.call(accountApi.remove, { body: { password: TEST_PASSWORD } });
      expect(status).toBe(200);
      expect(client.cookies()).toBe('');
      expect((await elsewhere.call(authApi.currentUser)).status).toBe(401);
      const login = { username: leaving.username, password: TEST_PASSWORD };
      expect((await app.client().call(authApi.login, { body: login })).status).toBe(401);
      const added = (await stored()).filter((name) => !before.has(name));
      expect(added).toHaveLength(1);
      const original = await staying.fetch(`/api/videos/${kept}/original`);
      expect(await original.text()).toBe(`held by two on ${engine}`);
      expect((await staying.call(ideasApi.list)).body?.find((one) => one.id === id)?.votes).toBe(0);
      expect(await rowsAbout(leaving.id)).toEqual([]);
    });

    it('deletes once when requested fifty times at once', async () => {
      const { client, user } = await app.signIn();
      const other = (await app.signIn()).client;
      const idea = await other.call(ideasApi.create, { body: { text: 'One vote less' } });
      const params = { id: idea.body?.id ?? '' };
      await client.call(ideasApi.vote, { params });
      await client.call(draftsApi.list);
      const answers = await Promise.all(
        Array.from({ length: 50 }, () =>
          client.call(accountApi.remove, { body: { password: TEST_PASSWORD } }),
        ),
      );
      const statuses = new Set(answers.map((answer) => answer.status));
      expect(
        [...statuses].every((status) => [200, 401, 404].includes(status)),
        [...statuses].join(),
      ).toBe(true);
      expect(statuses.has(200)).toBe(true);
      expect(await rowsAbout(user.id)).toEqual([]);
      expect((await other.call(ideasApi.list)).body?.find((one) => one.id === params.id)?.votes).toBe(0);
    });

    it('limits guesses of the password', async () => {
      const strict = await startTestApp({ engine, env: { RATE_LIMITS: 'on' } });
      const { client } = await strict.signIn();
      const statuses: number[] = [];
      for (let guess = 0; guess < 6; guess += 1) {
        const body = { password: `Wrong-guess-${guess}` };
        statuses.push((await client.call(accountApi.remove, { body })).status);
      }
      expect(statuses).toEqual([400, 400, 400, 400, 400, 429]);
      await strict.stop();
    });

    /** Tables that still have a row of the account. */
    async function rowsAbout(userId: string): Promise<string[]> {
      const tables = [
        'sessions',
        'mailTokens',
        'uploads',
        'videos',
        'drafts',
        'jobs',
        'usageUnits',
        'ideas',
        'ideaVotes',
        'notifications',
        'trials',
        'apiTokens',
      ];
      const held: string[] = [];
      for (const table of tables) {
        if ((await app.db(table).where('userId', userId)).length > 0) held.push(table);
      }
      if (await User.query(app.db).findById(userId)) held.push('users');
      return held;
    }
  });
});
