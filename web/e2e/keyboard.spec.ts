import type { Locator, Page } from 'playwright/test';
import { MENDED_WITHIN_MS } from './api-steps.ts';
import { ideaRow } from './board.ts';
import { chooseFile } from './choose-file.ts';
import { makeBrokenClip } from './clips.ts';
import { expect, newAccount, signIn, test } from './fixtures.ts';
import { giveVideo } from './copy-video.ts';
import { fillAccount } from './shelf.ts';

/** More presses of Tab than any screen has stops. */
const MOST_TABS = 120;

/** Moves the focus by Tab alone until it is on the wanted element. */
async function tabTo(page: Page, target: Locator): Promise<void> {
  await target.first().waitFor();
  for (let count = 0; count < MOST_TABS; count += 1) {
    if (await target.first().evaluate((element) => element === document.activeElement)) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`Tab does not reach ${String(target)}.`);
}

async function press(page: Page, target: Locator, key = 'Enter'): Promise<void> {
  await tabTo(page, target);
  await page.keyboard.press(key);
}

async function type(page: Page, target: Locator, text: string): Promise<void> {
  await tabTo(page, target);
  await page.keyboard.type(text);
}

// A mouse that is used after all would make these tests say too much.
test.beforeEach(async ({ page }) => {
  await page.addInitScript(() => {
    Object.assign(globalThis, { pointers: 0 });
    document.addEventListener(
      'pointerdown',
      () => Object.assign(globalThis, { pointers: Number(Reflect.get(globalThis, 'pointers')) + 1 }),
      true,
    );
  });
});
test.afterEach(async ({ page }) => {
  expect(await page.evaluate('pointers')).toBe(0);
});

test('by keyboard alone one signs in, uploads a clip and follows its repair', async ({ page, server }) => {
  const account = newAccount();
  await signIn(page, server, account);
  await page.context().clearCookies();
  await page.goto('/auth');
  // In a window just opened the first stop leads past the header.
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  await page.keyboard.press('Tab');
  await expect(page.getByRole('link', { name: 'Skip to content' })).toBeFocused();
  await type(page, page.getByLabel('Username or email'), account.username);
  await type(page, page.getByLabel('Password', { exact: true }), account.password);
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(`${server.baseUrl}/`);

  const choose = page.getByRole('button', { name: 'Choose a video' });
  await chooseFile(page, () => press(page, choose), await makeBrokenClip());
  await expect(page.getByText('Processing complete!')).toBeVisible({ timeout: MENDED_WITHIN_MS });
  // Whoever cannot see the page is still where the file was chosen.
  await expect(choose).toBeFocused();
  const download = page.waitForEvent('download');
  await press(page, page.locator('#upload').getByRole('button', { name: 'Download' }));
  expect((await download).suggestedFilename()).toMatch(/^video-.+\.mp4$/);
});

test('by keyboard alone one renames, opens, shares, selects and deletes a video', async ({
  page,
  server,
  context,
  filled,
}) => {
  await signIn(page, server, newAccount());
  const videoId = await giveVideo(page.request, server, filled.videoId);
  await fillAccount(page.request, server, videoId);
  await page.goto('/videos');
  const card = page.locator(`[data-video="${videoId}"]`);

  await press(page, card.getByRole('button', { name: 'Rename' }));
  await expect(page.getByLabel('New name')).toBeFocused();
  await page.keyboard.type('pier at dawn.mp4');
  await page.keyboard.press('Enter');
  await expect(card.getByRole('heading', { name: 'pier at dawn.mp4' })).toBeVisible();

  await press(page, card.getByRole('button', { name: 'Share' }));
  await expect(page.getByRole('menuitem', { name: 'TikTok' })).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(page.getByRole('menu')).toHaveCount(0);
  await expect(card.getByRole('button', { name: 'Share' })).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('menuitem').first()).toBeFocused();
  await page.keyboard.press('ArrowDown');
  const opened = context.waitForEvent('page');
  await page.keyboard.press('Enter');
  await (await opened).close();
  await page.bringToFront();

  await press(page, card.getByRole('button', { name: 'Show player and details' }));
  await expect(page.getByRole('heading', { name: 'pier at dawn.mp4', level: 2 }).last()).toBeFocused();
  await press(page, page.getByRole('button', { name: 'Hide player and details' }).last());

  await press(page, card.getByRole('checkbox'), 'Space');
  await expect(page.getByText('1 selected')).toBeVisible();
  await press(page, page.getByRole('button', { name: 'Clear selection' }));
  page.once('dialog', (dialog) => void dialog.accept());
  await press(page, card.getByRole('button', { name: 'Delete' }));
  await expect(card).toHaveCount(0);
});

test('by keyboard alone one walks through the wizard, gives an idea and votes', async ({ page, account }) => {
  const alerts: string[] = [];
  page.on('dialog', (dialog) => {
    alerts.push(dialog.message());
    void dialog.accept();
  });
  await page.goto('/subscribe/business');
  await press(page, page.getByRole('button', { name: 'Continue to Account Setup' }));
  await type(page, page.getByLabel('Password', { exact: true }), 'some-password');
  await type(page, page.getByLabel('Confirm Password'), 'some-password');
  await press(page, page.getByRole('button', { name: 'Continue to Payment' }));
  await type(page, page.getByLabel('Card Number'), '4242 4242 4242 4242');
  await type(page, page.getByLabel('Expiry (MM/YY)'), '12/30');
  await type(page, page.getByLabel('CVC'), '123');
  await press(page, page.getByRole('button', { name: 'Start Free Trial' }));
  await expect.poll(() => alerts).toHaveLength(1);
  await expect(page).toHaveURL(/\/$/);

  await press(page, page.getByRole('link', { name: 'Nice2Have' }));
  const text = `Chapters for ${account.username}`;
  await type(page, page.getByLabel('Your Idea'), text);
  await press(page, page.getByRole('button', { name: 'Submit Idea' }));
  const row = ideaRow(page, text);
  await press(page, row.getByRole('button', { name: 'Vote, 0 votes' }), 'Space');
  await expect(page.getByText('Vote recorded!', { exact: true }).first()).toBeVisible();
});
