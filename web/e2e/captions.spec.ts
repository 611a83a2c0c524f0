import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { runTool } from '#server/media/ffmpeg/tools.ts';
import { expectMended, MENDED_WITHIN_MS, sendClip } from './api-steps.ts';
import { expect, test } from './fixtures.ts';
import { expectAccessible, expectFits, visit } from './soundness.ts';

let clip: string;
test.beforeAll(async () => {
  clip = path.join(await mkdtemp(path.join(tmpdir(), 'reelmend-captions-')), 'hum.mp4');
  const sources = '-v error -f lavfi -i testsrc2=s=320x180:r=25:d=6 -f lavfi -i sine=f=220:d=6,volume=-12dB';
  const coded = '-c:v libx264 -preset ultrafast -pix_fmt yuv420p -c:a aac';
  await runTool('make a clip', 'ffmpeg', [...`${sources} ${coded}`.split(' '), clip]);
});

test('captions: written by keyboard, saved by themselves, there after a reload, shown by the player, downloaded', async ({
  page,
  server,
  account,
}) => {
  expect(account.username).toBeTruthy();
  const videoId = await sendClip(page.request, server.baseUrl, clip);
  await expectMended(page.request, videoId);
  await visit(page, `/editor/${videoId}`);
  const words = (n: number) => page.getByRole('textbox', { name: `Words of caption ${n}` });
  await expect(page.getByText('No speech was found in this clip', { exact: false })).toBeVisible();
  await page.getByRole('button', { name: 'Add caption here' }).press('Enter');
  await expect(words(1)).toBeFocused();
  await page.keyboard.type('Good morning & welcome');
  await page.keyboard.press('Enter');
  await expect(words(2)).toBeFocused();
  await page.keyboard.type('to the harbour');
  await expect(page.getByText(/^Saved \d/)).toBeVisible();
  await expectAccessible(page, 'captions');
  await expectFits(page, 'captions');

  await page.reload();
  await expect(words(1)).toHaveValue('Good morning & welcome');
  await expect(words(2)).toHaveValue('to the harbour');
  await page.getByRole('button', { name: 'Show captions' }).click();
  const shown = () =>
    page.evaluate(() =>
      Array.from(document.querySelector('video')?.textTracks[0]?.cues ?? []).map((cue) =>
        'text' in cue ? String(cue.text) : '',
      ),
    );
  await expect.poll(shown).toEqual(['Good morning &amp; welcome', 'to the harbour']);
  // What the player shows follows the words without a reload.
  await words(2).fill('to the pier');
  await expect.poll(shown).toEqual(['Good morning &amp; welcome', 'to the pier']);

  const link = page.getByRole('link', { name: 'SubRip (.srt)' });
  const file = await page.request.get((await link.getAttribute('href')) ?? '');
  expect(await file.text()).toBe(
    '1\n00:00:00,000 --> 00:00:02,000\nGood morning & welcome\n\n2\n00:00:02,000 --> 00:00:04,000\nto the pier\n\n',
  );
});

test('captions in the picture: made on the plan that has them, downloaded, deleted', async ({
  page,
  server,
  account,
}) => {
  expect(account.username).toBeTruthy();
  const headers = { origin: server.baseUrl };
  await page.request.post('/api/subscription', { headers, data: { plan: 'creator-pro' } });
  const videoId = await sendClip(page.request, server.baseUrl, clip);
  await expectMended(page.request, videoId);
  await visit(page, `/editor/${videoId}`);
  const make = page.getByRole('button', { name: 'Make the file' });
  await expect(make).toBeDisabled();
  await page.getByRole('button', { name: 'Add caption here' }).click();
  await page.keyboard.type('Look at the harbour');
  await expect(page.getByText(/^Saved \d/)).toBeVisible();
  await page.getByText('Word by word').click();
  await make.click();
  const link = page.getByRole('link', { name: 'Download the clip with captions in the picture' });
  await expect(link).toBeVisible({ timeout: MENDED_WITHIN_MS });
  await expectAccessible(page, 'captions in the picture');
  await expectFits(page, 'captions in the picture');
  const file = await page.request.get((await link.getAttribute('href')) ?? '');
  expect([file.status(), file.headers()['content-type']]).toEqual([200, 'video/mp4']);
  page.once('dialog', (dialog) => void dialog.accept());
  await page.getByRole('button', { name: 'Delete the file with captions in the picture' }).click();
  await expect(link).toHaveCount(0);
});

test('words of captions outlive a cut network, and the reload of a page that could not be loaded meanwhile', async ({
  page,
  context,
  server,
  account,
}) => {
  expect(account.username).toBeTruthy();
  const videoId = await sendClip(page.request, server.baseUrl, clip);
  await expectMended(page.request, videoId);
  await visit(page, `/editor/${videoId}`);
  await page.getByRole('button', { name: 'Add caption here' }).click();
  const words = page.getByRole('textbox', { name: 'Words of caption 1' });
  await context.setOffline(true);
  await words.fill('Said in a tunnel');
  await expect(page.getByText(/^Not saved: Reelmend cannot be reached/)).toBeVisible();
  // The code of this page was never loaded, so it reloads the tab as soon as it can.
  await page.getByRole('link', { name: 'My Videos' }).first().click();
  await expect(page.getByRole('heading', { name: 'This page could not be loaded.' })).toBeVisible();
  await context.setOffline(false);
  await expect(page.getByRole('heading', { level: 1, name: 'Video Library' })).toBeVisible();
  await page.goto(`/editor/${videoId}`);
  await expect(words).toHaveValue('Said in a tunnel');
  await expect(page.getByText(/^Saved \d/)).toBeVisible();
});
