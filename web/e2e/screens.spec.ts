import AxeBuilder from '@axe-core/playwright';
import type { Page } from 'playwright/test';
import { expect, newAccount, signIn, test } from './fixtures.ts';

const PUBLIC_PAGES = ['/', '/auth', '/verify-email', '/fonts', '/upgrade', '/no/such/page'];
const SIGNED_IN_PAGES = [
  '/',
  '/videos',
  '/drafts',
  '/editor',
  '/account',
  '/analytics',
  '/nice2have',
  '/subscribe/starter',
  '/subscribe/business',
  '/subscribe/nonsense',
];
const SIZES = [
  { name: 'desktop', width: 1280, height: 800 },
  { name: 'phone', width: 390, height: 844 },
] as const;

async function expectSound(page: Page, path: string): Promise<void> {
  await page.goto(path);
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  await page.evaluate(() => document.fonts.ready);
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  expect(overflow, `${path} is wider than the window`).toBeLessThanOrEqual(0);
  const { violations } = await new AxeBuilder({ page }).analyze();
  const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
  expect(
    serious.map(
      ({ id, nodes }) =>
        `${path} ${id}: ${nodes
          .map(({ html }) => html)
          .slice(0, 3)
          .join(' | ')}`,
    ),
  ).toEqual([]);
}

for (const colorScheme of ['light', 'dark'] as const) {
  for (const { name, width, height } of SIZES) {
    test(`every screen is accessible and fits on a ${name}, ${colorScheme}`, async ({ browser, server }) => {
      const context = await browser.newContext({
        baseURL: server.baseUrl,
        colorScheme,
        viewport: { width, height },
        reducedMotion: 'reduce',
      });
      const page = await context.newPage();
      for (const path of PUBLIC_PAGES) await expectSound(page, path);
      await signIn(page, server, newAccount());
      for (const path of SIGNED_IN_PAGES) await expectSound(page, path);
      await context.close();
    });
  }
}

test('pages work at 320 px, as they do at a zoom of 400 %', async ({ page, server }) => {
  await page.setViewportSize({ width: 320, height: 700 });
  await signIn(page, server, newAccount());
  for (const path of ['/', '/videos', '/nice2have', '/subscribe/business', '/upgrade']) {
    await page.goto(path);
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    expect(overflow, path).toBeLessThanOrEqual(0);
  }
});

test('the landing page shows its sections in order and its anchors work from other pages', async ({
  page,
  server,
}) => {
  await signIn(page, server, newAccount());
  await page.goto('/');
  await expect(page.locator('#pricing')).toBeVisible();
  const order = await page.evaluate(() =>
    ['upload', 'dashboard', 'pricing'].map(
      (id) => document.getElementById(id)?.getBoundingClientRect().top ?? -1,
    ),
  );
  expect(order.every((top) => top >= 0)).toBe(true);
  expect(order.toSorted((a, b) => a - b)).toEqual(order);
  await page.goto('/nice2have');
  await page.getByRole('link', { name: 'Pricing' }).first().click();
  await expect(page).toHaveURL(/\/#pricing$/);
  await expect(page.locator('#pricing')).toBeInViewport();
  for (const slug of ['starter', 'creator-pro', 'business']) {
    await expect(page.locator(`#pricing a[href="/subscribe/${slug}"]`)).toBeVisible();
  }
});

test('protected addresses show the auth page and keep their address', async ({ page, server }) => {
  for (const path of ['/drafts', '/editor', '/editor/abc', '/nice2have', '/subscribe/business']) {
    await page.goto(path);
    await expect(page.getByRole('tab', { name: 'Sign In' })).toBeVisible();
    await expect(page).toHaveURL(`${server.baseUrl}${path}`);
  }
});
