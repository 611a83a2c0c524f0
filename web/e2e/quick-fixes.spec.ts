import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Page } from 'playwright/test';
import { runTool } from '#server/media/ffmpeg/tools.ts';
import { expectMended, MENDED_WITHIN_MS, sendClip, sha256At } from './api-steps.ts';
import { sha256Of } from './clips.ts';
import { expect, test } from './fixtures.ts';
import { expectAccessible, expectFits, visit } from './soundness.ts';

let clip: string;
test.beforeAll(async () => {
  clip = path.join(await mkdtemp(path.join(tmpdir(), 'reelmend-fixes-')), 'talk.mp4');
  const sources = '-v error -f lavfi -i testsrc2=s=320x180:r=25:d=4 -f lavfi -i sine=f=220:d=4,volume=-12dB';
  const coded = '-c:v libx264 -preset ultrafast -pix_fmt yuv420p -c:a aac';
  await runTool('make a clip', 'ffmpeg', [...`${sources} ${coded}`.split(' '), clip]);
});

const item = (page: Page, name: string) => page.getByRole('button', { name: new RegExp(`^${name}`) });

test('quick fixes: chosen by keyboard, applied for real, downloaded for a platform, undone to the original', async ({
  page,
  server,
  account,
}) => {
  expect(account.username).toBeTruthy();
  const headers = { origin: server.baseUrl };
  await page.request.post('/api/subscription', { headers, data: { plan: 'business' } });
  const videoId = await sendClip(page.request, server.baseUrl, clip);
  await expectMended(page.request, videoId);
  const current = () => sha256At(page.request, `/api/videos/${videoId}/download`);
  const before = await current();

  await visit(page, `/editor/${videoId}`);
  const voice = item(page, 'Enhance Voice');
  await voice.focus();
  await page.keyboard.press('Space');
  await expect(voice).toHaveAttribute('aria-pressed', 'true');
  await item(page, 'Stabilize Footage').click();
  await item(page, 'Optimize for TikTok').click();
  await expectAccessible(page, 'quick fixes');
  await page.getByRole('button', { name: 'Apply 3 fixes' }).click();
  await expect(voice).toHaveAttribute('data-state', 'processing');
  await page.getByRole('button', { name: 'Cancel the fixes' }).click();
  await expect(voice).toHaveAttribute('data-state', 'selected');
  const apply = page.getByRole('button', { name: 'Apply 3 fixes' });
  await expect(apply).toBeFocused();
  expect(await current()).toBe(before);
  await apply.click();
  await expect(voice).toHaveAttribute('data-state', 'processing');
  await expect(voice).toHaveAttribute('data-state', 'completed', { timeout: MENDED_WITHIN_MS });
  await expect(voice).toHaveText(/Applied/);
  await page.getByText('What was measured').first().click();
  await expect(page.getByText(/loudness: −.* → −1[345]/).first()).toBeVisible();
  await expect(item(page, 'Stabilize Footage')).toHaveText(/No change needed/);
  await expectAccessible(page, 'quick fixes');
  await expectFits(page, 'quick fixes');

  const fixed = await current();
  expect(fixed).not.toBe(before);
  const link = page.getByRole('link', { name: 'Download the file for TikTok' });
  const address = (await link.getAttribute('href')) ?? '';
  const file = await page.request.get(address);
  expect(file.status()).toBe(200);
  expect(file.headers()['content-disposition']).toContain('-tiktok.mp4');
  expect(await sha256At(page.request, address)).not.toBe(fixed);

  await page.getByRole('button', { name: 'Restore: Original, as uploaded' }).click();
  await expect(page.getByText('Version restored')).toBeVisible();
  expect(await current()).toBe(await sha256Of(clip));
  await expect(voice).toHaveAttribute('data-state', 'unselected');
  await page.getByRole('button', { name: 'Restore: Enhance Voice' }).click();
  await expect(voice).toHaveAttribute('data-state', 'completed');
  expect(await current()).toBe(fixed);

  page.once('dialog', (dialog) => void dialog.accept());
  await page.getByRole('button', { name: 'Delete the file for TikTok' }).click();
  await expect(page.getByRole('region', { name: 'Files for platforms' })).toHaveCount(0);
});
