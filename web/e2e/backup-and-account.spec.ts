import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Page } from 'playwright/test';
import { z } from 'zod';
import { expectMended, sendClip } from './api-steps.ts';
import { ideaRow } from './board.ts';
import { makeBrokenClip } from './clips.ts';
import { expect, test } from './fixtures.ts';
import type { ServerProcess } from './server-process.ts';
import { expectAccessible } from './soundness.ts';

const run = promisify(execFile);
const ROOT = path.resolve(import.meta.dirname, '../..');
const NEWS_MS = 8000;

/** A command of the operator, in a process of its own, on the database of a running server. */
async function operate(server: ServerProcess, command: 'set-plan' | 'set-idea-status', words: string[]) {
  const args = [`dist/server/operate/${command}.js`, ...words];
  const env = { PATH: process.env.PATH ?? '', DATA_DIR: server.dataDir };
  await run(process.execPath, args, { cwd: ROOT, env });
}

async function saved(page: Page, press: () => Promise<void>): Promise<Buffer> {
  const download = page.waitForEvent('download');
  await press();
  return readFile(await (await download).path());
}

test('a deleted video comes back from its backup, and the original is saved whole', async ({
  page,
  server,
  account,
}) => {
  expect(account.username).toBeTruthy();
  const videoId = await sendClip(page.request, server.baseUrl, await makeBrokenClip());
  await expectMended(page.request, videoId);
  await page.goto('/videos');
  const card = page.locator(`[data-video="${videoId}"]`);
  page.once('dialog', (dialog) => void dialog.accept());
  await card.getByRole('button', { name: 'Delete' }).click();
  await expect(card).toHaveCount(0);

  await page.goto('/drafts');
  await expect(
    page.getByText('The video was deleted; this backup can bring it back, with its saved captions.'),
  ).toBeVisible();
  await expect(page.getByText('Kept until')).toBeVisible();
  const bytes = await saved(page, () => page.getByRole('link', { name: /^Download the original/ }).click());
  const told = await page.locator('code[title]').getAttribute('title');
  expect(createHash('sha256').update(bytes).digest('hex')).toBe(told);

  await page.getByRole('button', { name: 'Restore' }).click();
  await expect(page.getByText('Draft restored', { exact: true }).first()).toBeVisible();
  await expect(
    page.getByText('The video was deleted; this backup can bring it back, with its saved captions.'),
  ).toHaveCount(0);
  await page.goto('/videos');
  await expect(page.locator('[data-video]')).toHaveCount(1);
});

test('what the operator decides reaches the open page: a plan, and the status of an idea in the bell', async ({
  page,
  server,
  account,
}) => {
  await page.goto('/account');
  await expect(page.getByText('API access is part of Creator Pro+.')).toBeVisible();
  await operate(server, 'set-plan', [account.username, 'business']);
  await expect(page.getByRole('button', { name: 'Create token' })).toBeVisible({ timeout: NEWS_MS });

  await page.goto('/nice2have');
  const text = `Chapters for ${account.username}`;
  await page.getByLabel('Your Idea').fill(text);
  await page.getByRole('button', { name: 'Submit Idea' }).click();
  const row = ideaRow(page, text);
  await expect(row).toBeVisible();
  const ideas = z
    .array(z.object({ id: z.string(), text: z.string() }))
    .parse(await (await page.request.get('/api/ideas')).json());
  const id = ideas.find((idea) => idea.text === text)?.id ?? '';
  await operate(server, 'set-idea-status', [id, 'planned']);
  await expect(row.getByText('Planned')).toBeVisible({ timeout: NEWS_MS });
  await page.getByRole('button', { name: /^Notifications/ }).click();
  await expect(page.getByRole('menuitem').filter({ hasText: text }).first()).toBeVisible();
});

test('an account has keys for programs, figures, an archive of its data, and an end', async ({
  page,
  playwright,
  server,
  account,
}) => {
  await operate(server, 'set-plan', [account.username, 'business']);
  const accept = (dialog: { accept(): Promise<void> }) => void dialog.accept();
  page.on('dialog', accept);
  await page.goto('/account');

  await test.step('a token reads, and works no more once revoked', async () => {
    await page.getByLabel('Name', { exact: true }).fill('Nightly script');
    const read = page.getByRole('checkbox', { name: /^Read/ });
    const write = page.getByRole('checkbox', { name: /^Write/ });
    await read.check();
    await write.uncheck();
    await page.getByRole('button', { name: 'Create token' }).click();
    const secret = await page.getByLabel('Token', { exact: true }).inputValue();
    await expectAccessible(page, 'account with a new token');
    const program = await playwright.request.newContext({
      baseURL: server.baseUrl,
      extraHTTPHeaders: { authorization: `Bearer ${secret}` },
    });
    expect((await program.get('/api/videos')).status()).toBe(200);
    expect((await program.post('/api/videos/sample')).status()).toBe(403);
    await page.getByRole('button', { name: 'I have saved it' }).click();
    await page.getByRole('button', { name: 'Revoke Nightly script' }).click();
    await expect(page.getByText('Token revoked', { exact: true }).first()).toBeVisible();
    expect((await program.get('/api/videos')).status()).toBe(401);
    await program.dispose();
  });
  await test.step('the figures can be saved', async () => {
    await page.goto('/analytics');
    const csv = await saved(page, () => page.getByRole('link', { name: 'Download CSV' }).click());
    await expectAccessible(page, 'analytics');
    expect(csv.toString('utf8').split('\n')[0]).toContain(',');
  });
  await test.step('all data come as one archive', async () => {
    await page.goto('/account');
    const archive = await saved(page, () => page.getByRole('link', { name: 'Download all my data' }).click());
    // The mark of a tar archive stands at byte 257 (POSIX ustar).
    expect(archive.subarray(257, 262).toString('latin1')).toBe('ustar');
    expect(archive.includes(account.username)).toBe(true);
  });
  await test.step('deletion ends the account', async () => {
    await page.getByLabel(`Type ${account.username} to confirm`).fill(account.username);
    await page.getByLabel('Password', { exact: true }).fill(account.password);
    await page.getByRole('button', { name: 'Delete my account' }).click();
    await expect(page.getByText('Account deleted', { exact: true }).first()).toBeVisible();
    const again = await page.request.post('/api/auth/login', {
      headers: { origin: server.baseUrl },
      data: { username: account.username, password: account.password },
    });
    expect(again.status()).toBe(401);
  });
});
