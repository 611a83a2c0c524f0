import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { realpathSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import os from 'node:os';
import path from 'node:path';

/** The data folder is in use by another running server. */
export class DataDirInUse extends Error {}

// A Unix socket's address holds 107 bytes.
const ADDRESS_MAX = 100;

/**
 * Holds the data folder for this process alone: two servers on one SQLite file and one queue would undo
 * each other's work. A listening socket is the lock, because the system ends it with the process, however
 * that dies; a file that nobody listens on is left over and is taken.
 * @returns a function that gives the folder back
 * @throws DataDirInUse
 */
export async function lockDataDir(dataDir: string): Promise<() => Promise<void>> {
  const address = addressFor(dataDir);
  const server = createServer((socket) => socket.destroy());
  for (let attempt = 0; attempt < 3; attempt += 1) {
    try {
      server.listen(address);
      await once(server, 'listening');
      server.unref();
      return async () => {
        await new Promise<void>((resolve) => server.close(() => resolve()));
      };
    } catch (error) {
      const inUse = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
      if (!inUse) throw error;
      if (await isAnswered(address)) break;
      await rm(address, { force: true });
    }
  }
  throw new DataDirInUse(
    `Another Reelmend server is already running on ${dataDir}. Stop it first, or give this one another DATA_DIR.`,
  );
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
