import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { runNpm } from './commands.mjs';
import { say, stop } from './say.mjs';

const SHARED = ['common', 'package.json', 'package-lock.json', 'tsconfig.json'];
const PARTS = [
  {
    script: 'build:server',
    options: [],
    label: 'server',
    stamp: 'dist/.server-built',
    sources: ['server', 'db', ...SHARED],
  },
  {
    script: 'build:web',
    // A list of two hundred files says nothing to whoever starts a server.
    options: ['--', '--logLevel', 'warn'],
    label: 'web client',
    stamp: 'dist/.web-built',
    sources: ['web', 'vite.config.ts', ...SHARED],
  },
];

/** Builds what is older than its sources. */
export async function ensureBuilt() {
  for (const part of PARTS) {
    const builtAt = existsSync(part.stamp) ? statSync(part.stamp).mtimeMs : 0;
    if (Math.max(...part.sources.map(newest)) <= builtAt) continue;
    say(`Building the ${part.label} ...`);
    const startedAt = new Date();
    if ((await runNpm(['run', '--silent', part.script, ...part.options])) !== 0) {
      stop(`The ${part.label} could not be built; the reason stands above.`);
    }
    writeFileSync(part.stamp, `${startedAt.toISOString()}\n`);
  }
}

function newest(place) {
  const stat = statSync(place, { throwIfNoEntry: false });
  if (!stat) return 0;
  if (!stat.isDirectory()) return stat.mtimeMs;
  // The folder's own time changes when a file is removed.
  let latest = stat.mtimeMs;
  for (const entry of readdirSync(place, { withFileTypes: true })) {
    if (entry.name === 'node_modules') continue;
    latest = Math.max(latest, newest(path.join(place, entry.name)));
  }
  return latest;
}
