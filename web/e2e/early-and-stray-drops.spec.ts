import type { Page } from 'playwright/test';
import { makeBrokenClip } from './clips.ts';
import { expect, test } from './fixtures.ts';
import { visit } from './soundness.ts';

/** Drags files from outside over a point of the page and lets go, as a file manager does. */
async function dropFiles(page: Page, target: ReturnType<Page['locator']>, files: string[]): Promise<void> {
  await target.scrollIntoViewIfNeeded();
  const box = await target.boundingBox();
  if (!box) throw new Error('nothing to drop on');
  const session = await page.context().newCDPSession(page);
  const at = { x: box.x + box.width / 2, y: box.y + 12 };
  const data = { items: [], files, dragOperationsMask: 1 };
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const)
    await session.send('Input.dispatchDragEvent', { type, ...at, data });
  await session.detach();
}

/** Holds back the code that sends files until it is let go. */
async function holdCode(page: Page): Promise<() => void> {
  let release = (): void => undefined;
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route(/assets\/creator-(hero|dashboard)-.*\.js$/, async (route) => {
    await gate;
    await route.continue();
  });
  return release;
}

test('files that are dropped before the code has come are kept and sent', async ({ page, account }) => {
  expect(account.username).toBeTruthy();
  const [clip, other] = [await makeBrokenClip(), await makeBrokenClip(5)];
  const release = await holdCode(page);
  await page.goto('/');
  const hero = page.locator('#upload [data-drop]');
  await expect(hero.getByRole('button', { name: 'Choose a video' })).toBeDisabled();
  await dropFiles(page, hero, [clip]);
  await expect(hero.getByText(/ is taken, and is sent as soon as this page has loaded/)).toBeVisible();
  const several = page.locator('#dashboard [data-drop]');
  await dropFiles(page, several, [other]);
  await expect(several.getByText(/^Your video is taken/)).toBeVisible();
  release();
  const arrived = async (): Promise<unknown> => (await page.request.get('/api/videos')).json();
  await expect.poll(arrived).toHaveLength(2);
});

test('a file that is dropped where nothing takes it does not take the page away', async ({
  page,
  account,
}) => {
  expect(account.username).toBeTruthy();
  await visit(page, '/nice2have');
  await page.getByLabel('Your Idea').fill('Half an idea');
  await dropFiles(page, page.getByRole('heading', { level: 1 }), [await makeBrokenClip()]);
  await expect(page.getByText('Nothing was taken here', { exact: true }).first()).toBeVisible();
  await expect(page).toHaveURL(/\/nice2have$/);
  await expect(page.getByLabel('Your Idea')).toHaveValue('Half an idea');
});
