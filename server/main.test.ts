import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { z } from 'zod';
import { authApi } from '#common/api/auth.ts';
import { connectDatabase } from '#db/connection.ts';
import { createTestClient } from '#server/test/test-client.ts';
import { lockDataDir } from './data-lock.ts';

// These tests start whole processes, which takes time on a busy machine.
describe('the server process', { timeout: 120_000 }, () => {
  let dataDir: string;
  const children: ChildProcess[] = [];
  beforeEach(async () => {
    dataDir = await mkdtemp(path.join(os.tmpdir(), 'reelmend-main-'));
  });
  afterEach(async () => {
    for (const child of children.splice(0)) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    }
    await rm(dataDir, { recursive: true, force: true });
  });

  function start(variables: Record<string, string> = {}) {
    const child = spawn(process.execPath, [path.join(inject('builtServer'), 'main.js')], {
      env: { PATH: process.env['PATH'], NODE_ENV: 'test', PORT: '0', DATA_DIR: dataDir, ...variables },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    children.push(child);
    let output = '';
    const keep = (chunk: Buffer) => {
      output += chunk.toString();
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
    return {
      child,
      output: () => output,
      ended,
      ready: () => expect.poll(() => output, { timeout: 60_000 }).toContain('Reelmend is ready'),
    };
  }

  it('starts, refuses a second server on its folder, and stops in order on SIGTERM', async () => {
    const first = start();
    await first.ready();
    const second = start();
    expect(await second.ended).toBe(1);
    expect(second.output()).toMatch(/Another Reelmend server is already running/);
    first.child.kill('SIGTERM');
    first.child.kill('SIGTERM');
    const askedAt = performance.now();
    expect(await first.ended).toBe(0);
    expect(performance.now() - askedAt).toBeLessThan(20_000);
    expect(first.output().match(/"stopping"/g)).toHaveLength(1);
    // The database is not queried before its tables exist.
    expect(first.output()).not.toContain('"level":"error"');
  });

  it('starts again after a kill -9', async () => {
    const first = start();
    await first.ready();
    first.child.kill('SIGKILL');
    await first.ended;
    await start().ready();
  });

  it('writes JSON lines without passwords, cookies, tokens or addresses', async () => {
    const server = start({ LOG_LEVEL: 'trace', SMTP_URL: 'smtp://127.0.0.1:9' });
    await server.ready();
    const port = z.object({ port: z.number() });
    const lines = () => server.output().trim().split('\n');
    const ready = lines().find((line) => line.includes('Reelmend is ready')) ?? '';
    const client = createTestClient(`http://127.0.0.1:${port.parse(JSON.parse(ready)).port}`);
    const secret = 'Very-Secret-Clip-42';
    const hostile = 'x"}\n{"level":"fatal","forged":true}\r\u001b[31m';
    await client.call(authApi.register, {
      body: { username: 'logged', email: 'logged.person@example.test', password: secret },
    });
    await client.call(authApi.login, { body: { username: hostile, password: secret } });
    await client.call(authApi.login, { body: { username: 'logged', password: secret } });
    await client.call(authApi.verifyEmail, { query: { token: 'a-token-that-must-not-be-logged' } });
    await client.fetch(`/api/${encodeURIComponent(hostile)}`, { headers: { cookie: 'sid=a-cookie-value' } });
    await expect.poll(() => server.output()).toContain('"status":404');
    for (const line of lines()) expect(JSON.parse(line)).not.toHaveProperty('forged');
    expect(server.output()).toMatch(/"code":"invalid_credentials"/);
    for (const word of [secret, 'must-not-be-logged', 'a-cookie-value', 'logged.person@']) {
      expect(server.output()).not.toContain(word);
    }
  });

  it('says in one sentence which setting is wrong', async () => {
    const { ended, output } = start({ PORT: 'abc' });
    expect(await ended).toBe(1);
    expect(output()).toMatch(/PORT/);
    expect(output()).not.toMatch(/ {4}at /);
  });

  it('says in one sentence that its port is taken', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const address = other.address();
    const port = String(typeof address === 'object' && address !== null ? address.port : 0);
    const server = start({ PORT: port, HOST: '127.0.0.1' });
    expect(await server.ended).toBe(1);
    expect(server.output()).toContain(`Port ${port} is taken by another program.`);
    expect(server.output()).not.toMatch(/^ +at /m);
    other.close();
  });

  it('says in one sentence that a newer version wrote its database, and leaves it unchanged', async () => {
    const db = connectDatabase({ databaseUrl: null, sqlitePath: path.join(dataDir, 'reelmend.sqlite') });
    await db.migrate.latest();
    await db('migrations').insert({ name: '999_of_tomorrow', batch: 2, migration_time: new Date() });
    const before = await db('migrations').select();
    const server = start();
    expect(await server.ended).toBe(1);
    expect(server.output()).toContain(
      'The database was written by a newer version of Reelmend: it holds the migration 999_of_tomorrow, which this one does not have. ' +
        'Start that version or a later one, or put back the backup from before the update.',
    );
    expect(server.output()).not.toMatch(/corrupt|^ +at /m);
    expect(await db('migrations').select()).toEqual(before);
    await db.destroy();
  });

  it('runs without ffmpeg and says what is missing', async () => {
    const { ready, output } = start({ FFMPEG_PATH: '/nowhere/ffmpeg', FFPROBE_PATH: '/nowhere/ffprobe' });
    await ready();
    // Either a packaged binary is used, or the log names the remedy.
    expect(output()).toMatch(/"source":"package"|ffmpeg and ffprobe were not found/);
  });
});

describe('lockDataDir', () => {
  it('gives a folder to one process at a time, a deep folder too', async () => {
    const root = await mkdtemp(path.join(os.tmpdir(), 'reelmend-lock-'));
    const deep = path.join(root, 'x'.repeat(120));
    await mkdir(deep);
    for (const folder of [root, deep]) {
      const unlock = await lockDataDir(folder);
      await expect(lockDataDir(folder)).rejects.toThrow(/already running/);
      await unlock();
      const again = await lockDataDir(folder);
      await again();
    }
    await rm(root, { recursive: true, force: true });
  });
});
