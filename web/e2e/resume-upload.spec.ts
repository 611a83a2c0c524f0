import { rm, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Browser } from 'playwright/test';
import { createS3UploadParts } from '#server/pipeline/upload/s3-upload-parts.ts';
import { startS3 } from '#server/test/s3-server.ts';
import { MENDED_WITHIN_MS } from './api-steps.ts';
import { chooseFile } from './choose-file.ts';
import { makeLargeClip, sha256Of } from './clips.ts';
import { createServerProcess, type ServerProcess } from './server-process.ts';
import { expect, newAccount, signIn, test } from './fixtures.ts';

let clip: string;
test.beforeAll(async () => {
  clip = await makeLargeClip();
});

const heroInput = '#upload input[type=file]';

test('an upload that is cut goes on where the server stopped, without sending much twice', async ({
  page,
  account,
}) => {
  expect(account.username).toBeTruthy();
  const { size } = await stat(clip);
  let cuts = 0;
  let acknowledgedBytes = 0;
  await page.route('**/uploads/**', async (route) => {
    const request = route.request();
    if (request.method() === 'PATCH' && acknowledgedBytes > 0 && cuts < 2) {
      cuts += 1;
      await route.abort('connectionreset');
      return;
    }
    const answer = await route.fetch();
    if (request.method() === 'PATCH') acknowledgedBytes += request.postDataBuffer()?.length ?? 0;
    await route.fulfill({ response: answer });
  });
  await page.goto('/');
  await page.locator(heroInput).setInputFiles(clip);
  await expect(page.getByText('Processing complete!')).toBeVisible({ timeout: MENDED_WITHIN_MS });
  expect(cuts).toBe(2);
  expect(acknowledgedBytes).toBe(size);
  const [video] = await page.request.get('/api/videos').then((answer) => answer.json());
  expect(video.originalSha256).toBe(await sha256Of(clip));
});

interface Restart {
  readonly browser: Browser;
  readonly env?: Readonly<Record<string, string>>;
  /** What happens while the server is down. */
  readonly meanwhile?: (server: ServerProcess) => Promise<void>;
  /** Waits for what has to be safe before it is killed. */
  readonly ready?: () => Promise<void>;
}

/** The server is killed behind the first part of an upload; the page is loaded anew and the file picked again. */
async function uploadOverRestart({ browser, env, meanwhile, ready }: Restart): Promise<void> {
  const server = await createServerProcess(env);
  await server.start();
  const context = await browser.newContext({ baseURL: server.baseUrl });
  const page = await context.newPage();
  try {
    await signIn(page, server, newAccount());
    const offsets: number[] = [];
    let patches = 0;
    let open: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    await page.route('**/uploads/**', async (route) => {
      const request = route.request();
      if (request.method() === 'PATCH') {
        offsets.push(Number(request.headers()['upload-offset'] ?? -1));
        patches += 1;
        if (patches === 2) {
          // The second chunk waits until the server is gone.
          await gate;
          await route.abort('connectionreset').catch(() => undefined);
          return;
        }
      }
      await route.continue().catch(() => undefined);
    });
    await page.goto('/');
    await page.locator(heroInput).setInputFiles(clip);
    await expect.poll(() => patches, { timeout: 30_000 }).toBe(2);
    await ready?.();
    await server.kill();
    await meanwhile?.(server);
    await server.start();
    open();
    await page.reload();
    offsets.length = 0;
    await page.locator(heroInput).setInputFiles(clip);
    await expect(page.getByText('Processing complete!')).toBeVisible({ timeout: MENDED_WITHIN_MS });
    // The first chunk was acknowledged before the kill and is not sent again.
    expect(Math.min(...offsets)).toBeGreaterThan(0);
    const [video] = await page.request.get('/api/videos').then((answer) => answer.json());
    expect(video.originalSha256).toBe(await sha256Of(clip));
  } finally {
    await context.close();
    await server.stop();
  }
}

test('an upload survives a killed server and a reloaded page', async ({ browser }) => {
  await uploadOverRestart({ browser });
});

test('an upload goes on where a server stopped whose disk was emptied, when its files lie in a bucket', async ({
  browser,
}) => {
  const s3 = await startS3();
  const parts = createS3UploadParts({ ...s3.settings, prefix: '' });
  const folder = (server: ServerProcess) => path.join(server.dataDir, 'uploads');
  try {
    await uploadOverRestart({
      browser,
      env: s3.env,
      ready: () => expect.poll(async () => (await parts.uploads()).length).toBe(1),
      meanwhile: (server) => rm(folder(server), { recursive: true }),
    });
  } finally {
    await s3.close();
  }
});

test('an upload whose browser was killed goes on in another browser, which sends the rest alone', async ({
  browser,
  server,
}) => {
  const account = newAccount();
  const { size } = await stat(clip);
  const first = await browser.newContext({ baseURL: server.baseUrl });
  const page = await first.newPage();
  await signIn(page, server, account);
  let patches = 0;
  await page.route('**/uploads/**', async (route) => {
    if (route.request().method() === 'PATCH') patches += 1;
    // The second chunk never leaves: the browser dies with it.
    if (patches === 2) return;
    await route.continue();
  });
  await page.goto('/');
  await page.locator(heroInput).setInputFiles(clip);
  await expect.poll(() => patches, { timeout: 30_000 }).toBe(2);
  await first.close();

  const second = await browser.newContext({ baseURL: server.baseUrl });
  const other = await second.newPage();
  const { username, password } = account;
  const headers = { origin: server.baseUrl };
  const login = await other.request.post('/api/auth/login', { headers, data: { username, password } });
  expect(login.ok()).toBe(true);
  let firstOffset = -1;
  let sentBytes = 0;
  await other.route('**/uploads/**', async (route) => {
    const request = route.request();
    if (request.method() === 'PATCH') {
      if (firstOffset < 0) firstOffset = Number(request.headers()['upload-offset']);
      sentBytes += request.postDataBuffer()?.length ?? 0;
    }
    await route.continue();
  });
  await other.goto('/');
  await chooseFile(other, () => other.getByRole('button', { name: 'Continue', exact: true }).click(), clip);
  await expect(other.getByText('Processing complete!')).toBeVisible({ timeout: MENDED_WITHIN_MS });
  expect(firstOffset).toBeGreaterThan(0);
  expect(firstOffset + sentBytes).toBe(size);
  const [video] = await other.request.get('/api/videos').then((answer) => answer.json());
  expect(video.originalSha256).toBe(await sha256Of(clip));
  await second.close();
});
