import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { inject } from 'vitest';

export interface ServerProcess {
  readonly url: string;
  readonly pid: number;
  /** Ends it at once, like a power cut. */
  kill(): Promise<void>;
  /**
   * Asks it to stop and waits until it has.
   * @returns its exit code
   */
  stop(): Promise<number | null>;
}

/**
 * Starts the real server, bundled as deployed, as a process, for tests that kill it.
 * @param port must stay the same across restarts, because addresses of uploads contain it
 * @param searchPath value of its PATH variable
 */
export async function startServerProcess(
  dataDir: string,
  port: number,
  searchPath: string,
): Promise<ServerProcess> {
  const child = spawn(process.execPath, [path.join(inject('builtServer'), 'main.js')], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      PATH: searchPath,
      NODE_ENV: 'test',
      DATA_DIR: dataDir,
      PORT: String(port),
      EMAIL_VERIFICATION: 'off',
      RATE_LIMITS: 'off',
    },
  });
  await untilReady(child);
  const pid = child.pid ?? 0;
  const end = async (signal: NodeJS.Signals) => {
    if (child.exitCode === null && child.signalCode === null) {
      const exited = once(child, 'exit');
      child.kill(signal);
      await exited;
    }
    return child.exitCode;
  };
  return {
    url: `http://127.0.0.1:${port}`,
    pid,
    kill: async () => void (await end('SIGKILL')),
    stop: () => end('SIGTERM'),
  };
}

async function untilReady(child: ChildProcess): Promise<void> {
  if (!child.stdout) throw new Error('no output');
  const lines = createInterface({ input: child.stdout });
  const seen: string[] = [];
  for await (const line of lines) {
    seen.push(line);
    if (line.includes('Reelmend is ready')) {
      // The rest must be read too, or a full pipe would block the server.
      child.stdout.resume();
      return;
    }
  }
  throw new Error(`The server did not start:\n${seen.join('\n')}`);
}
