import { SAFETY_POLL_MS } from '#common/limits.ts';
import { MENDED_WITHIN_MS } from './api-steps.ts';
import { makeTestClips, sha256Of, type TestClips } from './clips.ts';
import { expect, test } from './fixtures.ts';

// The first journey of everybody, with what moves in it.
test.use({ contextOptions: { reducedMotion: 'no-preference' } });

let clips: TestClips;
test.beforeAll(async () => {
  clips = await makeTestClips();
});

const heroInput = '#upload input[type=file]';

test('a broken clip is uploaded, mended step by step by push, and downloaded; the original is kept', async ({
  page,
  account,
}) => {
  expect(account.username).toBeTruthy();
  const statusReads: string[] = [];
  page.on('request', (request) => {
    if (request.url().endsWith('/status')) statusReads.push(request.url());
  });
  const fromMs = Date.now();
  await page.goto('/');
  await expect(page.getByText('Live', { exact: true }).first()).toBeVisible();
  await page.locator(heroInput).setInputFiles(clips.broken);
  await expect(page.getByText('Processing complete!')).toBeVisible({ timeout: MENDED_WITHIN_MS });
  await expect(page.getByText('Ready for download')).toBeVisible();
  // Push brings the news: the 2 s polling of the status stays off, whatever the time that the repair takes.
  const safetyReads = Math.ceil((Date.now() - fromMs) / SAFETY_POLL_MS);
  expect(statusReads.length).toBeLessThan(3 + safetyReads);

  const [video] = await page.request.get('/api/videos').then((answer) => answer.json());
  expect(video.status).toBe('completed');
  expect(video.issues.droppedFrames).toBeGreaterThan(0);
  expect(video.unchanged).toBe(false);

  const started = page.waitForEvent('download');
  await page
    .getByRole('button', { name: /download/i })
    .first()
    .click();
  const download = await started;
  expect(download.suggestedFilename()).toBe(`video-${video.id}.mp4`);
  expect(await sha256Of(await download.path())).toBe(video.resultSha256);

  const drafts = await page.request.get('/api/drafts').then((answer) => answer.json());
  expect(drafts).toHaveLength(1);
  expect(drafts[0].sha256).toBe(await sha256Of(clips.broken));
});

test('a clean clip comes back as the very same file', async ({ page, account }) => {
  expect(account.username).toBeTruthy();
  await page.goto('/');
  await page.locator(heroInput).setInputFiles(clips.clean);
  await expect(page.getByText('Processing complete!')).toBeVisible({ timeout: MENDED_WITHIN_MS });
  const [video] = await page.request.get('/api/videos').then((answer) => answer.json());
  expect(video.unchanged).toBe(true);
  expect(video.resultSha256).toBe(await sha256Of(clips.clean));
});

test('with push forced off the page still follows by polling', async ({ page, account }) => {
  expect(account.username).toBeTruthy();
  const sockets: string[] = [];
  page.on('websocket', (socket) => sockets.push(socket.url()));
  const statusReads: string[] = [];
  page.on('request', (request) => {
    if (/\/api\/videos(\/[^/]+\/status)?$/.test(request.url())) statusReads.push(request.url());
  });
  await page.goto('/?transport=poll');
  await page.locator(heroInput).setInputFiles(clips.broken);
  await expect(page.getByText('Processing complete!')).toBeVisible({ timeout: MENDED_WITHIN_MS });
  expect(sockets.filter((url) => url.includes('socket.io'))).toEqual([]);
  expect(statusReads.length).toBeGreaterThan(1);
});
