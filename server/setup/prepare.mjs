// Brings a machine that has only Node and npm to the point where `npm start` can run; `run-tests.mjs` does so for tests.
// Uses nothing but Node itself, because it runs before anything is installed.
import { existsSync } from 'node:fs';
import { ensureBuilt } from './ensure-built.mjs';
import { ensureFfmpeg } from './ensure-ffmpeg.mjs';
import { ensureModules } from './ensure-modules.mjs';
import { ensureNode } from './ensure-node.mjs';

ensureNode();
// On a hosting platform the project arrives built and without build tools: nothing is left to install or build.
const isDeployed =
  existsSync('dist/server/main.js') && !existsSync('node_modules/vite') && existsSync('node_modules/koa');
if (!isDeployed) await ensureModules();
await ensureFfmpeg();
if (!isDeployed) await ensureBuilt();
