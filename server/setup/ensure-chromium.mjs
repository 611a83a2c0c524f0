import { existsSync } from 'node:fs';
import { ask, canInstallPackages, installPackages, run } from './commands.mjs';
import { say, stop } from './say.mjs';

const CANDIDATES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/**
 * Finds a Chromium for the browser tests, or installs one.
 * @returns {Promise<string>} its path, to be given on as CHROMIUM_PATH
 */
export async function ensureChromium() {
  const found = await findChromium();
  if (found) return found;
  if (await canInstallPackages()) {
    say('Installing Chromium for the browser tests ...');
    await installPackages(['chromium', 'fonts-liberation']);
    const installed = await findChromium();
    if (installed) return installed;
  }
  say('Fetching a Chromium for the browser tests ...');
  await run(process.execPath, ['node_modules/playwright/cli.js', 'install', 'chromium']);
  const own = await playwrightChromium();
  if (own) return own;
  return stop(
    'The browser tests need a Chromium and none could be installed from here. Install one and run the command again: ' +
      'Debian or Ubuntu "sudo apt-get install chromium"; or set CHROMIUM_PATH to where it is.',
  );
}

async function findChromium() {
  const named = process.env.CHROMIUM_PATH;
  if (named) return existsSync(named) ? named : stop(`CHROMIUM_PATH names ${named}, which does not exist.`);
  for (const name of CANDIDATES) {
    const path = await ask('sh', ['-c', `command -v ${name}`]);
    if (path) return path;
  }
  return playwrightChromium();
}

async function playwrightChromium() {
  try {
    const { chromium } = await import('playwright');
    const path = chromium.executablePath();
    return existsSync(path) ? path : null;
  } catch {
    return null;
  }
}
