import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { runTool } from '#server/media/ffmpeg/tools.ts';
import { expectMended, MENDED_WITHIN_MS, sendClip, sha256At } from './api-steps.ts';
import { expect, test } from './fixtures.ts';
import { expectAccessible, expectFits, visit } from './soundness.ts';

let clip: string;
test.beforeAll(async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'reelmend-noticed-'));
  clip = path.join(folder, 'pan.mp4');
  // Even motion that leaps at 2 s; the sound is as long as the pictures, so that nothing says that any are missing.
  const ground = 'color=gray:s=320x180:r=25:d=4,noise=alls=100:all_seed=5,boxblur=3:2,eq=contrast=3';
  const motion = String.raw`select=eq(n\,0),loop=120:1,setpts=N/25/TB,scroll=h=0.006,select='lt(n,50)+gt(n,52)',setpts=N/25/TB`;
  const sources = ['-f', 'lavfi', '-i', `${ground},${motion}`, '-f', 'lavfi', '-i', 'sine=f=220:d=3.7'];
  const coded = '-c:v libx264 -preset ultrafast -pix_fmt yuv420p -c:a aac -shortest -t 3.7'.split(' ');
  await runTool('make a clip', 'ffmpeg', ['-v', 'error', ...sources, ...coded, clip]);
});

test('what is still wrong is marked in the player, mended with the sound, and taken back', async ({
  page,
  server,
  account,
}) => {
  expect(account.username).toBeTruthy();
  const videoId = await sendClip(page.request, server.baseUrl, clip);
  await expectMended(page.request, videoId);
  const current = () => sha256At(page.request, `/api/videos/${videoId}/download`);
  const before = await current();

  await visit(page, `/videos/${videoId}/report`);
  await page.getByRole('link', { name: 'Still something wrong?' }).click();
  await expect(page).toHaveURL(`/editor/${videoId}#noticed`);
  const panel = page.getByRole('region', { name: 'Still something wrong?' });
  await expect(panel).toBeInViewport();
  const video = page.locator('video').first();
  await expect.poll(() => video.evaluate((player: HTMLVideoElement) => player.readyState)).toBeGreaterThan(1);
  await video.evaluate((player: HTMLVideoElement) => void (player.currentTime = 2.4));
  await expect.poll(() => video.evaluate((player: HTMLVideoElement) => player.seeking)).toBe(false);
  await panel.getByRole('button', { name: 'It jumps here' }).press('Enter');
  await expect(panel.getByText('Jump at 0:02.400 is marked.')).toBeVisible();
  await panel.getByRole('slider', { name: 'Move the sound' }).press('ArrowLeft');
  await expect(panel.getByText('The sound will come 10 ms earlier.')).toBeVisible();
  await expectAccessible(page, 'marked places');
  await panel.getByRole('button', { name: 'Mend what I marked' }).click();
  await expect(panel.getByRole('button', { name: 'Take it back' })).toBeVisible({
    timeout: MENDED_WITHIN_MS,
  });
  const outcomes = panel.getByRole('list', { name: 'What became of it' }).getByRole('listitem');
  await expect(outcomes.first()).toHaveText(/Jumps you marked.*Applied.*frames were made anew/);
  await expect(outcomes.last()).toHaveText(/Sound you moved.*Applied.*now comes 10 ms earlier/);
  await panel.getByText('What was measured').first().click();
  await expect(panel.getByText(/The longest step there is 1\.\d times as long/)).toBeVisible();
  await expectAccessible(page, 'mended places');
  await expectFits(page, 'mended places');
  const mended = await current();
  expect(mended).not.toBe(before);

  await panel.getByRole('link', { name: 'Report of what became of your marks' }).click();
  await expect(page.getByRole('heading', { name: 'What you marked' })).toBeVisible();
  await expect(page.getByText('The sound now comes 10 ms earlier')).toBeVisible();
  await expect(page.getByText('2 issues were mended.')).toBeVisible();
  const saved = (name: string) => page.getByRole('link', { name, exact: true }).getAttribute('href');
  const signed: unknown = await (await page.request.get((await saved('Certificate')) ?? '')).json();
  expect(signed).toMatchObject({ original: { sha256: before }, result: { sha256: mended } });
  const report = await page.request.get((await saved('Download JSON')) ?? '');
  expect(await report.json()).toMatchObject({ result: { sha256: mended }, marked: { soundShiftMs: -10 } });
  const file = async (name: string) => sha256At(page.request, (await saved(name)) ?? '');
  expect(await file('Download the clip before')).toBe(before);
  expect(await file('Download the clip after')).toBe(mended);
  await expectAccessible(page, 'report of marks');
  await expectFits(page, 'report of marks');
  await page.getByRole('link', { name: 'Back to the repair report' }).click();
  await page.getByRole('link', { name: 'What became of your marks' }).click();
  await page.goBack();
  await page.goBack();
  await page.goBack();

  await panel.getByRole('button', { name: 'Take it back' }).click();
  await expect(page.getByText('Version restored')).toBeVisible();
  expect(await current()).toBe(before);
});
