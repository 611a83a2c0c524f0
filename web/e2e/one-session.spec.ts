import { MENDED_WITHIN_MS } from './api-steps.ts';
import { ideaRow } from './board.ts';
import { makeBrokenClip } from './clips.ts';
import { expect, test } from './fixtures.ts';

test('one session: upload, repair, draft backup, editor and board', async ({ page, account }) => {
  await page.goto('/');
  await page.locator('#upload input[type=file]').setInputFiles(await makeBrokenClip());
  await expect(page.getByText('Processing complete!')).toBeVisible({ timeout: MENDED_WITHIN_MS });
  await expect(page.getByText('Issues fixed automatically')).toBeVisible();

  await test.step('the original is in Cloud Backup', async () => {
    await page.getByRole('link', { name: 'Cloud Backup' }).click();
    await expect(page.getByRole('heading', { level: 1, name: 'Cloud Backup' })).toBeVisible();
    await expect(page.getByRole('heading', { name: 'harbour-broken.mp4' })).toBeVisible();
    await expect(page.getByText('Draft Backup').first()).toBeVisible();
  });
  await test.step('the mended clip is in the library and opens in the editor', async () => {
    await page.getByRole('link', { name: 'My Videos' }).first().click();
    const card = page.locator('[data-video]').filter({ hasText: 'harbour-broken.mp4' });
    await expect(card.getByText(/dropped frame/)).toBeVisible();
    await card.getByRole('button', { name: 'Open in editor' }).click();
    await expect(page).toHaveURL(/\/editor\/.+/);
    await expect(page.getByRole('group', { name: /harbour-broken\.mp4/ }).first()).toBeVisible();
  });
  await test.step('an idea and a vote reach the board', async () => {
    await page.getByRole('link', { name: 'Nice2Have' }).first().click();
    const text = `Louder voices for ${account.username}`;
    await page.getByLabel('Your Idea').fill(text);
    await page.getByRole('button', { name: 'Submit Idea' }).click();
    await expect(page.getByText('Idea submitted!', { exact: true }).first()).toBeVisible();
    const row = ideaRow(page, text);
    await row.getByRole('button', { name: 'Vote, 0 votes' }).click();
    await expect(row.getByRole('button', { name: /^Voted, 1 vote/ })).toBeVisible();
  });
});
