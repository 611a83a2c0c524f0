import { copyFile, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { build } from 'esbuild';
import { serverBundle } from '../setup/server-bundle.mjs';

const root = path.resolve(import.meta.dirname, '../..');

/**
 * Bundles the server as deployed, for tests that start it as a process; it starts in a quarter of the time that its
 * sources need. Also bundles `process-clip`, which runs one media job.
 * @returns the folder with `main.js` and the others
 */
export async function buildForTests(): Promise<{ folder: string; remove: () => Promise<void> }> {
  const home = await mkdtemp(path.join(tmpdir(), 'reelmend-built-'));
  const folder = path.join(home, 'dist', 'server');
  const options = serverBundle(folder);
  const entryPoints = { ...options.entryPoints, 'process-clip': 'server/test/process-clip.ts' };
  await build({ ...options, entryPoints, absWorkingDir: root });
  // Files that the bundle expects beside itself, as in the project.
  await copyFile(path.join(root, 'package.json'), path.join(home, 'package.json'));
  await symlink(path.join(root, 'node_modules'), path.join(home, 'node_modules'), 'dir');
  return { folder, remove: () => rm(home, { recursive: true, force: true }) };
}
