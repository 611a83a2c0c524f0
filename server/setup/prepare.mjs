// Brings a machine that has only Node and npm to the point where `npm start` or `npm test` can run.
// Uses nothing but Node itself, because it runs before anything is installed.
import { existsSync, readFileSync } from 'node:fs';
import { ensureBuilt } from './ensure-built.mjs';
import { ensureChromium } from './ensure-chromium.mjs';
import { ensureFfmpeg } from './ensure-ffmpeg.mjs';
import { ensureModules } from './ensure-modules.mjs';
import { stop } from './say.mjs';

const purpose = process.argv[2] ?? 'start';
const wanted = JSON.parse(readFileSync('package.json', 'utf8'))
  .engines.node.replace('>=', '')
  .split('.')
  .map(Number);
const present = process.versions.node.split('.').map(Number);
const order = wanted.map((part, index) => present[index] - part).find((difference) => difference !== 0) ?? 0;
if (order < 0) {
  stop(
    `Reelmend needs Node ${wanted.join('.')} or newer; this is ${process.version}. Install a newer one from nodejs.org.`,
  );
}
// A slug of a dyno arrives built and without build tools: there is nothing to install or build then.
const readyBuilt =
  existsSync('dist/server/main.js') && !existsSync('node_modules/vite') && existsSync('node_modules/koa');
if (!readyBuilt) await ensureModules();
await ensureFfmpeg();
if (!readyBuilt) await ensureBuilt();
if (purpose === 'test') await ensureChromium();
