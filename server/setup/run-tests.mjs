// Installs what is missing, runs every check and test, and ends with one line: "N passed, N failed, N skipped".
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { run } from './commands.mjs';
import { ensureBuilt } from './ensure-built.mjs';
import { ensureChromium } from './ensure-chromium.mjs';
import { ensureFfmpeg } from './ensure-ffmpeg.mjs';
import { placeModules } from './ensure-modules.mjs';
import { ensureNode } from './ensure-node.mjs';
import { say } from './say.mjs';

ensureNode();
const node = process.execPath;
const folder = mkdtempSync(path.join(tmpdir(), 'reelmend-tests-'));
// What the tests make goes in here and away with it, also where one of them is killed. Postgres runs as another user.
chmodSync(folder, 0o755);
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
const total = { passed: 0, skipped: 0 };
const failures = [];

// Compiling sqlite3 keeps one core busy for a minute or two: what needs no database runs meanwhile.
const modules = await placeModules();
for (const name of ['TMPDIR', 'TMP', 'TEMP']) process.env[name] = folder;
await check('format', ['node_modules/oxfmt/bin/oxfmt', '--check', '.']);
await check('lint', ['node_modules/oxlint/bin/oxlint', '--deny-warnings', '.']);
await check('types', ['node_modules/typescript/bin/tsc', '--noEmit']);
await vitest('unit tests of web and common', ['common', 'web', 'web-alone']);
await modules.ready;
await ensureFfmpeg();
await ensureBuilt();
const chromium = await ensureChromium();
await vitest('unit and API tests of the server', ['server']);
await vitest('media tests', ['media']);
await browserTests();

// What failed stands at the end, where the log of a long run is read first.
if (failures.length > 0) say(`\nFailed:\n${failures.map((failure) => `  ${failure}`).join('\n')}`);
say(`\n${total.passed} passed, ${failures.length} failed, ${total.skipped} skipped`);
process.exit(failures.length > 0 ? 1 : 0);

async function check(name, args) {
  say(`\n== ${name}`);
  const code = await run(node, args);
  if (code === 0) total.passed += 1;
  else failures.push(name);
}

async function vitest(name, projects) {
  say(`\n== ${name}`);
  const file = path.join(folder, `${name.replaceAll(' ', '-')}.json`);
  const code = await run(node, [
    'node_modules/vitest/vitest.mjs',
    'run',
    ...projects.flatMap((project) => ['--project', project]),
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${file}`,
  ]);
  const result = readJson(file);
  if (!result) {
    failures.push(`${name}: no result`);
    return;
  }
  total.passed += result.numPassedTests;
  total.skipped += result.numPendingTests + result.numTodoTests;
  const failed = failedUnitTests(result);
  if (failed.length === 0 && code !== 0) failed.push(`${name}: ended with ${code}`);
  failures.push(...failed);
}

// A suite that cannot even load has no failed test but must not count as green.
function failedUnitTests(result) {
  return result.testResults.flatMap(({ name, status, assertionResults }) => {
    const file = path.relative(process.cwd(), name);
    const failed = assertionResults.filter((test) => test.status === 'failed');
    if (failed.length === 0 && status === 'failed') return [file];
    return failed.map((test) => `${file} > ${test.fullName}`);
  });
}

async function browserTests() {
  say('\n== browser tests');
  const file = path.join(folder, 'browser.json');
  const env = { ...process.env, CHROMIUM_PATH: chromium, PLAYWRIGHT_JSON_OUTPUT_NAME: file };
  const args = ['node_modules/playwright/cli.js', 'test', '--config', 'web/e2e/playwright.config.ts'];
  const code = await run(node, [...args, '--reporter=list,json'], env);
  const result = readJson(file);
  if (!result) {
    failures.push('browser tests: no result');
    return;
  }
  total.passed += result.stats.expected + result.stats.flaky;
  total.skipped += result.stats.skipped;
  const failed = result.suites.flatMap(failedBrowserTests);
  if (failed.length === 0 && code !== 0) failed.push(`browser tests: ended with ${code}`);
  failures.push(...failed);
}

function failedBrowserTests({ file, specs = [], suites = [] }) {
  const failed = specs.filter((spec) => !spec.ok).map((spec) => `web/e2e/${file} > ${spec.title}`);
  return [...failed, ...suites.flatMap(failedBrowserTests)];
}

function readJson(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return null;
  }
}
