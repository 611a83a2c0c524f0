// Runs every check and test and ends with one line: "N passed, N failed, N skipped".
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ensureChromium } from './ensure-chromium.mjs';
import { run } from './commands.mjs';
import { say } from './say.mjs';

const node = process.execPath;
const folder = mkdtempSync(path.join(tmpdir(), 'reelmend-tests-'));
// What the tests make goes in here and away with it, also where one of them is killed. Postgres runs as another user.
chmodSync(folder, 0o755);
for (const name of ['TMPDIR', 'TMP', 'TEMP']) process.env[name] = folder;
const total = { passed: 0, failed: 0, skipped: 0 };

await check('format', ['node_modules/oxfmt/bin/oxfmt', '--check', '.']);
await check('lint', ['node_modules/oxlint/bin/oxlint', '--deny-warnings', '.']);
await check('types', ['node_modules/typescript/bin/tsc', '--noEmit']);
const projects = ['common', 'server', 'web', 'web-alone'];
await vitest(
  'unit and API tests',
  projects.flatMap((name) => ['--project', name]),
);
await vitest('media tests', ['--project', 'media']);
await browserTests();

rmSync(folder, { recursive: true, force: true });
say(`\n${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exit(total.failed > 0 ? 1 : 0);

async function check(name, args) {
  say(`\n== ${name}`);
  const code = await run(node, args);
  total[code === 0 ? 'passed' : 'failed'] += 1;
}

async function vitest(name, args) {
  say(`\n== ${name}`);
  const file = path.join(folder, `${name.replaceAll(' ', '-')}.json`);
  const code = await run(node, [
    'node_modules/vitest/vitest.mjs',
    'run',
    ...args,
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${file}`,
  ]);
  const result = readJson(file);
  if (!result) {
    total.failed += 1;
    return;
  }
  total.passed += result.numPassedTests;
  total.skipped += result.numPendingTests + result.numTodoTests;
  // A suite that cannot even load has no failed test but must not count as green.
  total.failed += result.numFailedTests > 0 || code === 0 ? result.numFailedTests : 1;
}

async function browserTests() {
  say('\n== browser tests');
  const file = path.join(folder, 'browser.json');
  const env = { ...process.env, CHROMIUM_PATH: await ensureChromium(), PLAYWRIGHT_JSON_OUTPUT_NAME: file };
  const args = ['node_modules/playwright/cli.js', 'test', '--config', 'web/e2e/playwright.config.ts'];
  const code = await run(node, [...args, '--reporter=list,json'], env);
  const result = readJson(file);
  if (!result) {
    total.failed += 1;
    return;
  }
  total.passed += result.stats.expected + result.stats.flaky;
  total.skipped += result.stats.skipped;
  total.failed += result.stats.unexpected > 0 || code === 0 ? result.stats.unexpected : 1;
}

function readJson(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return null;
  }
}
