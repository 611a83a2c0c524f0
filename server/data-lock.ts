import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { realpathSync } from 'node:fs';
import { rm, stat, writeFile } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';

/** The data folder is in use by another running server. */
export class DataDirInUse extends Error {}

// The address of a Unix socket holds at most 107 bytes.
const ADDRESS_MAX = 100;

/** Taking the lock takes only milliseconds, so an older mark was left by a process that was killed meanwhile. */
const TAKING_MS = 3000;
const LOOK_AGAIN_MS = 20;

/**
 * Reserves the data folder for this process, because two servers on one SQLite file and one queue would undo each
 * other's work. The lock is a listening socket: the system closes it with the process, however that ends. A socket file
 * that nobody listens on is stale and is replaced.
 * @returns a function that releases the folder
 * @throws DataDirInUse
 */
export async function lockDataDir(dataDir: string): Promise<() => Promise<void>> {
  const address = addressFor(dataDir);
  const server = await oneAtATime(`${address}.taking`, () => take(address));
  if (server) return () => new Promise((resolve) => server.close(() => resolve()));
  throw new DataDirInUse(
    `Another Reelmend server is already running on ${dataDir}. Stop it first, or give this one another DATA_DIR.`,
  );
}

/** @returns the listening server; null when another one answers */
async function take(address: string): Promise<Server | null> {
  if (await isAnswered(address)) return null;
  await rm(address, { force: true });
  const server = createServer((socket) => socket.destroy());
  server.listen(address);
  await once(server, 'listening');
  return server.unref();
}

/**
 * Checking for a listener and replacing a stale file are two steps, so of two processes that start together one waits.
 */
async function oneAtATime<Result>(mark: string, work: () => Promise<Result>): Promise<Result> {
  while (!(await makeMark(mark))) {
    const made = await stat(mark).catch(() => null);
    if (made && Math.abs(Date.now() - made.mtimeMs) > TAKING_MS) await rm(mark, { force: true });
    else await setTimeout(LOOK_AGAIN_MS);
  }
  try {
    return await work();
  } finally {
    await rm(mark, { force: true });
  }
}

/** @returns false when it already exists */
async function makeMark(mark: string): Promise<boolean> {
  try {
    await writeFile(mark, '', { flag: 'wx' });
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}

function addressFor(dataDir: string): string {
  const own = path.join(realpathSync(dataDir), 'server.lock');
  if (Buffer.byteLength(own) <= ADDRESS_MAX) return own;
  const name = createHash('sha256').update(own).digest('hex').slice(0, 24);
  return path.join(os.tmpdir(), `reelmend-${name}.lock`);
}

async function isAnswered(address: string): Promise<boolean> {
  const socket = connect(address);
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
