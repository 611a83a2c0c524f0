import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { createServerProcess } from '#web/e2e/server-process.ts';
import { serverPid } from './process-tree.ts';

const SETTLE_MS = 15_000;
const DYNO_MB = 512;
const PAGE_LOADS = 200;

/**
 * Measures the memory of the built server (`npm run build`) at rest, after start and after a few hundred requests, as
 * ratios to a Node process that does nothing and to a 512 MB dyno. Reads VmRSS from `/proc`, so it needs Linux.
 */
export async function run(): Promise<void> {
  if (!existsSync('/proc/self/status')) throw new Error('This benchmark reads /proc and needs Linux.');
  const bareMb = await measureBareNode();
  const server = await createServerProcess({ NODE_ENV: 'production', EMAIL_VERIFICATION: 'off' });
  await server.start();
  try {
    const pid = await serverPid(server.dataDir);
    await wait(SETTLE_MS);
    const idleMb = await residentMb(pid);
    for (let count = 0; count < PAGE_LOADS; count += 1) {
      await Promise.all(
        ['/', '/api/auth/user'].map(async (path) => (await fetch(server.baseUrl + path)).arrayBuffer()),
      );
    }
    await wait(SETTLE_MS);
    const usedMb = await residentMb(pid);
    console.log(`memory in MB (VmRSS), Node ${process.versions.node}`);
    console.log('                                   MB   x bare node   of 512 MB');
    print('bare node', bareMb, bareMb);
    print('server, idle after start', idleMb, bareMb);
    print(`server, idle after ${PAGE_LOADS} page loads`, usedMb, bareMb);
  } finally {
    await server.stop();
  }
}

async function measureBareNode(): Promise<number> {
  const child: ChildProcess = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], {
    stdio: 'ignore',
  });
  await wait(2000);
  const megabytes = await residentMb(child.pid ?? 0);
  const ended = once(child, 'exit');
  child.kill();
  await ended;
  return megabytes;
}

async function residentMb(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const kilobytes = Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]);
  return kilobytes / 1024;
}

function print(name: string, megabytes: number, bareMb: number): void {
  const cells = [
    name.padEnd(32),
    megabytes.toFixed(0).padStart(5),
    (megabytes / bareMb).toFixed(2).padStart(13),
    (megabytes / DYNO_MB).toFixed(3).padStart(11),
  ];
  console.log(cells.join(' '));
}
