// Brings a machine that has only Node and npm to the point where `npm start` or `npm test` can run.
// Uses nothing but Node itself, because it runs before anything is installed.
import { existsSync, readFileSync } from 'node:fs';
import { ensureBuilt } from './ensure-built.mjs';
import { ensureChromium } from './ensure-chromium.mjs';
import { ensureFfmpeg } from './ensure-ffmpeg.mjs';
import { ensureModules } from './ensure-modules.mjs';
import { stop } from './say.mjs';

const purpose = process.argv[2] ?? 'start';
checkNode();
// On a hosting platform the project arrives built and without build tools: nothing is left to install or build.
const isDeployed =
  existsSync('dist/server/main.js') && !existsSync('node_modules/vite') && existsSync('node_modules/koa');
if (!isDeployed) await ensureModules();
await ensureFfmpeg();
if (!isDeployed) await ensureBuilt();
if (purpose === 'test') await ensureChromium();

function checkNode() {
  const { node } = JSON.parse(readFileSync('package.json', 'utf8')).engines;
  const wanted = node.replace('>=', '').split('.').map(Number);
  const present = process.versions.node.split('.').map(Number);
  const order = wanted.map((part, at) => present[at] - part).find((difference) => difference !== 0) ?? 0;
  if (order >= 0) return;
  stop(
    `Reelmend needs Node ${wanted.join('.')} or newer; this is ${process.version}. Install a newer one from nodejs.org.`,
  );
}
