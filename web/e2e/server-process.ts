import { spawn, type ChildProcess } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** A built server on its own port and its own data folder; can be killed and started again on both. */
export interface ServerProcess {
  readonly baseUrl: string;
  readonly dataDir: string;
  start(): Promise<void>;
  /** Ends it without any chance to clean up, as a power cut would. */
  kill(): Promise<void>;
  stop(): Promise<void>;
  /** Text of the newest mail to this address. */
  mailTo(address: string): Promise<string>;
  log(): string;
}

/** Below those that systems give to outgoing connections: one of them could take the port while the server is down. */
const PORTS = { from: 20_000, to: 30_000 } as const;

async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(PORTS.from, PORTS.to);
    const probe = createServer();
    const free = await new Promise<boolean>((resolve) => {
      probe.once('error', () => resolve(false));
      probe.listen(port, '127.0.0.1', () => resolve(true));
    });
    if (!free) continue;
    probe.close();
    await once(probe, 'close');
    return port;
  }
}

const ROOT = path.resolve(import.meta.dirname, '../..');

/** Prepares a server process; call `start()`. Extra variables go over the defaults. */
export async function createServerProcess(
  extra: Readonly<Record<string, string>> = {},
): Promise<ServerProcess> {
  const port = await freePort();
  const dataDir = await mkdtemp(path.join(tmpdir(), 'reelmend-e2e-'));
  const baseUrl = `http://127.0.0.1:${port}`;
  let child: ChildProcess | null = null;
  let output = '';
  const end = async (signal: 'SIGKILL' | 'SIGTERM') => {
    const running = child;
    child = null;
    if (!running || running.exitCode !== null) return;
    const closed = once(running, 'close');
    running.kill(signal);
    await closed;
  };
  return {
    baseUrl,
    dataDir,
    log: () => output,
    async start() {
      const env = { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', PORT: String(port) };
      const own = { HOST: '127.0.0.1', DATA_DIR: dataDir, PUBLIC_URL: baseUrl, RATE_LIMITS: 'off' };
      child = spawn(process.execPath, ['--enable-source-maps', 'dist/server/main.js'], {
        cwd: ROOT,
        env: { ...env, ...own, ...extra },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      const keep = (chunk: Buffer) => {
        output = (output + chunk.toString()).slice(-100_000);
      };
      child.stdout?.on('data', keep);
      child.stderr?.on('data', keep);
      const until = Date.now() + 90_000;
      while (Date.now() < until) {
        const up = await fetch(`${baseUrl}/healthz`).then(
          (answer) => answer.ok,
          () => false,
        );
        if (up) return;
        if (child.exitCode !== null) break;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      throw new Error(`The server did not come up:\n${output}`);
    },
    kill: () => end('SIGKILL'),
    async stop() {
      await end('SIGTERM');
      await rm(dataDir, { recursive: true, force: true });
    },
    async mailTo(address) {
      const folder = path.join(dataDir, 'outbox');
      const until = Date.now() + 10_000;
      while (Date.now() < until) {
        const names = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith('.eml')).sort();
        for (const name of names.toReversed()) {
          const text = await readFile(path.join(folder, name), 'utf8');
          if (text.toLowerCase().includes(address.toLowerCase()))
            return text.replaceAll(/=\r?\n/g, '').replaceAll('=3D', '=');
        }
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      throw new Error(`No mail to ${address} arrived.`);
    },
  };
}
