import { MENDED_WITHIN_MS } from './api-steps.ts';
import { makeBrokenClip } from './clips.ts';
import { expect, newAccount, signIn, test, verificationLink } from './fixtures.ts';

test('a visitor signs up, confirms the mailed link and signs in', async ({ page, server }) => {
  const account = newAccount();
  await page.goto('/auth');
  await expect(page.getByText('Never lose another video draft')).toBeVisible();
  await page.getByRole('tab', { name: 'Sign Up' }).click();
  const form = page.getByRole('tabpanel');
  await form.getByLabel('Username').fill(account.username);
  await form.getByLabel('Email').fill(account.email);
  await form.getByLabel('Password', { exact: true }).fill(account.password);
  await form.getByLabel('Confirm Password').fill(account.password);
  await form.getByRole('button', { name: 'Sign Up' }).click();
  await expect(page.getByRole('heading', { name: 'Check your email' })).toBeVisible();

  await test.step('before the link is used, signing in is refused with a way to send it again', async () => {
    await page.goto('/auth');
    await page.getByLabel('Username or email').fill(account.username);
    await page.getByLabel('Password', { exact: true }).fill(account.password);
    await page.getByRole('tabpanel').getByRole('button', { name: 'Sign In' }).click();
    await expect(
      page.getByText('Your email address needs to be verified before you can log in.'),
    ).toBeVisible();
  });

  await page.goto(verificationLink(await server.mailTo(account.email)));
  await expect(page.getByText('Email verified')).toBeVisible();
  await page
    .getByRole('button', { name: 'Continue to Login' })
    .or(page.getByRole('link', { name: 'Continue to Login' }))
    .click();
  await expect(page).toHaveURL(`${server.baseUrl}/`);

  await page.goto('/auth');
  await page.getByLabel('Username or email').fill(account.email);
  await page.getByLabel('Password', { exact: true }).fill(account.password);
  await page.getByRole('tabpanel').getByRole('button', { name: 'Sign In' }).click();
  await expect(page).toHaveURL(`${server.baseUrl}/`);
  await expect(page.getByRole('link', { name: 'My Videos' }).first()).toBeVisible();
});

test('a signed-out visitor sees the auth page at the protected address and stays there after signing in', async ({
  page,
  server,
}) => {
  await page.goto('/videos');
  await expect(page.getByRole('tab', { name: 'Sign In' })).toBeVisible();
  await expect(page).toHaveURL(`${server.baseUrl}/videos`);
});

test('an unknown path shows the 404 page', async ({ page }) => {
  await page.goto('/no/such/page');
  await expect(page.getByRole('heading', { name: '404 Page Not Found' })).toBeVisible();
});

test('a file picked before signing in is kept, and sent once signed in', async ({
  page,
  server,
  playwright,
}) => {
  const account = newAccount();
  const request = await playwright.request.newContext({ baseURL: server.baseUrl });
  await signIn({ request }, server, account);
  await request.dispose();
  await page.goto('/');
  await page.locator('#upload input[type=file]').setInputFiles(await makeBrokenClip());
  await expect(page.getByText(/harbour-broken\.mp4/).first()).toBeVisible();
  await page.locator('#upload').getByRole('link').filter({ hasText: 'Sign' }).click();
  await page.getByLabel('Username').fill(account.username);
  await page.getByLabel('Password', { exact: true }).fill(account.password);
  await page.getByRole('button', { name: 'Sign In' }).click();
  await expect(page.getByText('Processing complete!')).toBeVisible({ timeout: MENDED_WITHIN_MS });
});
