import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Page } from 'playwright/test';
import { comparisonApi, type ComparisonLayout } from '#common/api/comparison.ts';
import { repairReport } from '#common/report.ts';
import { injectTimestampGaps, makeMovingClip } from '#server/test/broken-clips.ts';
import { expectMended, MENDED_WITHIN_MS, sendClip } from './api-steps.ts';
import { expect, test } from './fixtures.ts';
import { expectAccessible, expectFits, visit } from './soundness.ts';

const tools = { ffmpeg: 'ffmpeg', ffprobe: 'ffprobe' };
/** One picture at 30 a second: what a player may be beside the moment it was sent to. */
const ONE_PICTURE_MS = 34;

let clip: string;
test.beforeAll(async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'reelmend-compare-'));
  const clean = path.join(folder, 'clean.mp4');
  clip = path.join(folder, 'harbour.mp4');
  await makeMovingClip({ tools, outputPath: clean, seconds: 8, scenery: 'pan' });
  const holes = [
    { frame: 60, count: 5 },
    { frame: 180, count: 6 },
  ];
  await injectTimestampGaps({ tools, inputPath: clean, outputPath: clip, holes });
});

const player = (page: Page) => page.getByRole('group', { name: /^Before and after/ });
const nowMs = (page: Page) =>
  page.evaluate(() => (document.querySelector('video')?.currentTime ?? -1) * 1000);
const seeking = (page: Page) => page.evaluate(() => document.querySelector('video')?.seeking);

async function pressAndRead(page: Page, key: string): Promise<number> {
  await page.keyboard.press(key);
  await expect.poll(() => seeking(page)).toBe(false);
  return nowMs(page);
}

/**
 * Mean difference, in levels of 255, between what the comparison shows and each half of its video: a wipe to one
 * side shows exactly one of them.
 */
async function distanceToHalves(page: Page): Promise<{ original: number; mended: number }> {
  return page.evaluate(() => {
    const canvas = document.querySelector('canvas');
    const video = document.querySelector('video');
    const shown = canvas?.getContext('2d');
    const copy = document.createElement('canvas').getContext('2d');
    if (!canvas || !video || !shown || !copy) throw new Error('nothing is shown');
    const { width, height } = canvas;
    copy.canvas.width = width;
    copy.canvas.height = height;
    const seen = shown.getImageData(0, 0, width, height).data;
    const distanceTo = (fromX: number): number => {
      copy.drawImage(video, fromX, 0, width, height, 0, 0, width, height);
      const half = copy.getImageData(0, 0, width, height).data;
      let sum = 0;
      for (let at = 0; at < seen.length; at += 1) sum += Math.abs((seen[at] ?? 0) - (half[at] ?? 0));
      return sum / seen.length;
    };
    return { original: distanceTo(0), mended: distanceTo(width) };
  });
}

async function layoutOf(page: Page, videoId: string): Promise<ComparisonLayout> {
  const answer = await page.request.get(`/api/videos/${videoId}/comparison`);
  const { layout } = comparisonApi.read.response.parse(await answer.json());
  if (!layout) throw new Error('there is no comparison');
  return layout;
}

test('the next-change key lands on every mended place, in one decoder, by keyboard alone', async ({
  page,
  server,
  account,
}) => {
  expect(account.username).toBeTruthy();
  const videoId = await sendClip(page.request, server.baseUrl, clip);
  await expectMended(page.request, videoId);
  const report = repairReport.parse(await (await page.request.get(`/api/videos/${videoId}/report`)).json());
  const mended = report.defects.filter(({ outcome }) => outcome === 'repaired');
  expect(mended.length).toBeGreaterThanOrEqual(2);

  await visit(page, `/editor/${videoId}`);
  await page
    .getByRole('group', { name: /^Player/ })
    .getByRole('button', { name: 'Play' })
    .focus();
  await page.keyboard.press('b');
  await expect(player(page)).toBeVisible({ timeout: MENDED_WITHIN_MS });
  await expect(player(page)).toBeFocused();
  await expect(page.locator('video')).toHaveCount(1);
  await expect
    .poll(() => page.evaluate(() => document.querySelector('video')?.readyState ?? 0))
    .toBeGreaterThanOrEqual(2);

  const { places, pieces } = await layoutOf(page, videoId);
  expect(places.map(({ startMs }) => startMs)).toEqual(mended.map(({ startMs }) => startMs));
  await page.keyboard.press('Home');
  for (const [index, { startMs, previewStartMs }] of places.entries()) {
    const landedMs = await pressAndRead(page, index % 2 === 0 ? 'n' : ']');
    expect(Math.abs(landedMs - previewStartMs)).toBeLessThan(1);
    const piece = pieces.find((one) => landedMs <= one.previewEndMs);
    const originalMs = (piece?.originalStartMs ?? 0) + landedMs - (piece?.previewStartMs ?? 0);
    expect(Math.abs(originalMs - startMs)).toBeLessThan(ONE_PICTURE_MS);
  }
  const lastMs = places.at(-1)?.previewStartMs ?? 0;
  expect(await pressAndRead(page, 'p')).toBeLessThan(lastMs);

  // Two pictures into the hole the original stands still and the mended clip moves.
  await pressAndRead(page, 'n');
  await pressAndRead(page, '.');
  await pressAndRead(page, '.');
  await page.keyboard.press('b');
  await expect(page.getByRole('slider', { name: /^Wipe/ })).toHaveValue('100');
  // The picture of a seek is drawn with one of the next frames of the page, whenever the machine gets to it.
  await expect.poll(async () => (await distanceToHalves(page)).original).toBe(0);
  expect((await distanceToHalves(page)).mended).toBeGreaterThan(2);
  await page.keyboard.press('b');
  await expect(page.getByRole('slider', { name: /^Wipe/ })).toHaveValue('0');
  await expect.poll(async () => (await distanceToHalves(page)).mended).toBe(0);
  expect((await distanceToHalves(page)).original).toBeGreaterThan(2);

  const beforeMs = await nowMs(page);
  await page.keyboard.press('k');
  await expect.poll(() => nowMs(page)).toBeGreaterThan(beforeMs + 200);
  await page.keyboard.press('k');

  const url = `/api/videos/${videoId}/comparison.mp4`;
  expect((await page.request.get(url)).status()).toBe(200);
  await page.request.delete(`/api/videos/${videoId}`, { headers: { origin: server.baseUrl } });
  expect((await page.request.get(url)).status()).toBe(404);
});

test('comparison and report are accessible and fit on every size', async ({ page, server, account }) => {
  expect(account.username).toBeTruthy();
  await page.emulateMedia({ colorScheme: 'light' });
  const videoId = await sendClip(page.request, server.baseUrl, clip);
  await expectMended(page.request, videoId);
  for (const [name, width, height] of [
    ['desktop', 1280, 800],
    ['phone', 390, 844],
    ['narrow page', 320, 700],
  ] as const) {
    await page.setViewportSize({ width, height });
    await visit(page, `/videos/${videoId}/report`);
    await page.getByRole('button', { name: 'Compare before and after' }).click();
    await expect(player(page)).toBeVisible({ timeout: MENDED_WITHIN_MS });
    await expectFits(page, `comparison on a ${name}`);
    await expectAccessible(page, `comparison on a ${name}`);
    await page.getByText('Side by side').click();
    await expectFits(page, `side by side on a ${name}`);
    await expectAccessible(page, `side by side on a ${name}`);
    for (const jump of await page.getByRole('button', { name: /^Jump to/ }).all()) {
      const box = await jump.boundingBox();
      expect(box?.width ?? 0).toBeGreaterThanOrEqual(24);
      expect(box?.height ?? 0).toBeGreaterThanOrEqual(24);
    }
  }
});
