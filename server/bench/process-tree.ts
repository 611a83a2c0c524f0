import { readdir, readFile } from 'node:fs/promises';

/** A process and its direct and indirect children (Linux `/proc`). */
async function processTree(root: number): Promise<number[]> {
  const pids = [root];
  for (const pid of pids) {
    const threads = await readdir(`/proc/${pid}/task`).catch(() => []);
    for (const thread of threads) {
      const children = await readFile(`/proc/${pid}/task/${thread}/children`, 'utf8').catch(() => '');
      for (const child of children.trim().split(/\s+/)) {
        if (child && !pids.includes(Number(child))) pids.push(Number(child));
      }
    }
  }
  return pids;
}

/**
 * Proportional set size of all processes of a tree, MB. Pages that several processes share are counted once in total,
 * as a memory limit on the whole group counts them (Linux `smaps_rollup`).
 */
export async function treeMegabytes(root: number): Promise<number> {
  let kilobytes = 0;
  for (const pid of await processTree(root)) {
    const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '');
    kilobytes += Number(/^Pss:\s+(\d+) kB$/m.exec(rollup)?.[1] ?? 0);
  }
  return kilobytes / 1024;
}

/** Finds the child of this process whose environment names the data folder. */
export async function serverPid(dataDir: string): Promise<number> {
  for (const pid of await processTree(process.pid)) {
    const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
    if (environment.split('\0').includes(`DATA_DIR=${dataDir}`)) return pid;
  }
  throw new Error('The server process was not found.');
}
