import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { runNpm } from './commands.mjs';
import { say, stop } from './say.mjs';

const STAMP = 'node_modules/.reelmend-install';

/** Installs the locked node modules when they are absent or the lock file changed. */
export async function ensureModules() {
  const { ready } = await placeModules();
  await ready;
}

/**
 * Installs the locked node modules when they are absent or the lock file changed, up to what they compile.
 * @returns {Promise<{ready: Promise<void>}>} as soon as all but sqlite3 can be used; `ready` when that can be too
 */
export async function placeModules() {
  const lock = createHash('sha256').update(readFileSync('package-lock.json')).digest('hex');
  const wanted = `${lock} ${process.version} ${process.platform} ${process.arch}`;
  const present = existsSync(STAMP) ? readFileSync(STAMP, 'utf8') : '';
  if (present === wanted) return { ready: Promise.resolve() };
  say('Installing the node modules of package-lock.json (a few minutes the first time) ...');
  await npmOrStop(['ci', '--ignore-scripts', '--no-audit', '--no-fund']);
  return { ready: finish(wanted) };
}

// What packages run after they were unpacked. sqlite3's is a compiler of some minutes where no ready binary fits.
async function finish(wanted) {
  await npmOrStop(['rebuild']);
  writeFileSync(STAMP, wanted);
}

async function npmOrStop(args) {
  if ((await runNpm(args, withNodeHeaders())) === 0) return;
  stop(
    'The node modules could not be installed. Check the network connection to the npm registry and, because ' +
      'sqlite3 may have to be compiled, that python3, make and a C++ compiler are there ' +
      '(Debian and Ubuntu: sudo apt-get install python3 make g++). Then run the command again.',
  );
}

// sqlite3 compiles against Node's headers where no ready binary fits; headers installed with Node spare a download.
function withNodeHeaders() {
  const prefix = path.resolve(process.execPath, '../..');
  const hasHeaders = existsSync(path.join(prefix, 'include/node/node.h'));
  return hasHeaders ? { ...process.env, npm_config_nodedir: prefix } : process.env;
}
