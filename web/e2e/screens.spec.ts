import type { Locator, Page } from 'playwright/test';
import { expect, logIn, newAccount, signIn, test } from './fixtures.ts';
import { collectRefusals, expectAccessible, expectFits, expectFitsZoomed, visit } from './soundness.ts';

const PUBLIC_PAGES = [
  '/',
  '/auth',
  '/verify-email',
  '/reset-password',
  '/reset-password?token=not-a-real-one',
  '/mailbox',
  '/verify',
  '/fonts',
  '/upgrade',
  '/video/not-a-real-one',
  '/no/such/page',
];
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
/** Each looks at some twenty screens; a busy machine takes its time. */
const MANY_SCREENS_MS = 400_000;
const SIZES = [
  { name: 'desktop', width: 1280, height: 800 },
  { name: 'phone', width: 390, height: 844 },
] as const;

// The longest file comes last but a few; its tests share out what is left between both processes.
test.describe.configure({ mode: 'parallel' });

for (const { name, width, height } of SIZES) {
  test.describe(`on a ${name}`, () => {
    test.use({
      viewport: { width, height },
      colorScheme: 'light',
    });

    test(`every screen is accessible and fits on a ${name}, in both themes`, async ({ page, server }) => {
      test.setTimeout(MANY_SCREENS_MS);
      const refused = await collectRefusals(page);
      for (const path of PUBLIC_PAGES) await look(page, path);
      await visit(page, '/auth');
      await page.getByRole('tab', { name: 'Sign Up' }).click();
      await expectAccessible(page, 'sign-up form');
      await signIn(page, server, newAccount());
      for (const path of SIGNED_IN_PAGES) await look(page, path);
      expect(refused, 'the security policy refuses nothing of our own').toEqual([]);
    });

    test(`screens in use, their menus and dialogs are accessible on a ${name}, in both themes`, async ({
      page,
      server,
      filled: { account, videoId },
    }) => {
      test.setTimeout(MANY_SCREENS_MS);
      await logIn(page, server, account);
      for (const path of [
        `/videos/${videoId}/report`,
        `/editor/${videoId}`,
        `/video/${videoId}`,
        '/drafts',
      ]) {
        await look(page, path);
      }
      await visit(page, '/');
      await expect(page.getByText('Recent Videos')).toBeVisible();
      await expectFits(page, 'dashboard');
      await expectAccessible(page, 'dashboard with videos');
      await visit(page, '/nice2have');
      await expect(page.getByText('Export chapters for podcasts.').first()).toBeVisible();
      await expectFits(page, 'board');
      await page.getByRole('button', { name: 'Submit Idea' }).click();
      await expectAccessible(page, 'board with ideas and an error');
      await lookAtLibrary(page, videoId);
      await lookAtFrame(page, name === 'phone');
      await lookAtUploads(page);
    });
  });
}

/** Opens a page, which must fit, also at 400 %, and be accessible. */
async function look(page: Page, path: string): Promise<void> {
  await visit(page, path);
  await expectFits(page, path);
  await expectFitsZoomed(page, path);
  await expectAccessible(page, path);
}

async function lookAtLibrary(page: Page, videoId: string): Promise<void> {
  await visit(page, '/videos');
  const card = page.locator(`[data-video="${videoId}"]`);
  await card.waitFor();
  await expectFits(page, 'library');
  await expectFitsZoomed(page, 'library');
  await expectAccessible(page, 'library');
  await card.getByRole('checkbox').check();
  await card.getByRole('button', { name: 'Rename' }).click();
  await expectAccessible(page, 'library with a selection and a new name');
  await page.keyboard.press('Escape');
  await card.getByRole('button', { name: 'Share' }).click();
  await page.getByRole('menuitem', { name: 'TikTok' }).waitFor();
  await expectAccessible(page, 'share menu');
  await page.keyboard.press('Escape');
  await card.getByRole('button', { name: 'Show player and details' }).click();
  const player = page.getByRole('group', { name: /^Player/ });
  await player.waitFor();
  await expectFits(page, 'library with a player');
  await expectAccessible(page, 'library with a player');
  await player.getByRole('button', { name: 'Keyboard shortcuts' }).click();
  await page.getByRole('dialog').waitFor();
  await expectAccessible(page, 'help of the player');
  await page.keyboard.press('Escape');
}

async function lookAtFrame(page: Page, phone: boolean): Promise<void> {
  await page.getByRole('button', { name: /^Notifications/ }).click();
  await page.getByRole('menuitem').first().waitFor();
  await expectFits(page, 'notices');
  await expectAccessible(page, 'notices');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: phone ? 'Open menu' : /^Account of/ }).click();
  await page
    .getByText(phone ? 'Sign out' : 'Settings')
    .last()
    .waitFor();
  await expectFitsZoomed(page, 'menu');
  await expectAccessible(page, 'menu');
}

async function lookAtUploads(page: Page): Promise<void> {
  // The bytes never arrive: the uploads stay on their way, until the page is closed. Let through at the end, they
  // would reach the shared account and stand first in its library as clips that cannot be read.
  await page.route('**/uploads/**', () => undefined);
  await visit(page, '/');
  const clip = { mimeType: 'video/mp4', buffer: Buffer.alloc(300_000, 7) };
  await page.locator('#dashboard input[type=file]').setInputFiles([
    { ...clip, name: 'one.mp4' },
    { ...clip, name: 'two.mp4' },
    { ...clip, name: `${'very-long-'.repeat(9)}.mp4` },
  ]);
  await expect(
    page.getByRole('complementary', { name: 'Uploads' }).getByText('Uploading').first(),
  ).toBeVisible();
  await expectFits(page, 'uploads');
  await expectAccessible(page, 'uploads on their way');
}

test('what changes its size is there at once where less motion is asked for', async ({ page }) => {
  await visit(page, '/');
  // A transition of any length would still show the size before.
  const widthPx = await page.getByRole('heading', { level: 1 }).evaluate((heading: HTMLElement) => {
    const widthAt = (px: number): number => {
      heading.style.width = `${px}px`;
      return heading.getBoundingClientRect().width;
    };
    widthAt(200);
    return widthAt(123);
  });
  expect(widthPx).toBe(123);
});

test('no plan lies out of sight where plans are compared on a phone', async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await visit(page, '/upgrade');
  for (const plan of ['Starter', 'Creator Pro', 'Creator Pro+']) {
    const box = await page.getByRole('link', { name: `Choose ${plan}`, exact: true }).boundingBox();
    expect(box && box.x + box.width, plan).toBeLessThanOrEqual(390);
  }
});

test('the board has three columns on a desktop', async ({ page, server }) => {
  await signIn(page, server, newAccount());
  await visit(page, '/nice2have');
  const boxes = await Promise.all(
    ['Submit Your Idea', 'Community Ideas', 'Reputation Leaders'].map((heading) =>
      page.getByRole('heading', { name: heading }).boundingBox(),
    ),
  );
  const [left, middle, right] = boxes.map((box) => box ?? { x: 0, y: 0, width: 0, height: 0 });
  if (!left || !middle || !right) throw new Error('A column is missing.');
  expect(middle.x).toBeGreaterThan(left.x + left.width);
  expect(right.x).toBeGreaterThan(middle.x + middle.width);
  expect(Math.max(left.y, middle.y, right.y) - Math.min(left.y, middle.y, right.y)).toBeLessThan(20);
});

test('what stands together has the same edges and distances', async ({ page, server, filled }) => {
  const { account, videoId } = filled;
  await logIn(page, server, account);
  const box = async (found: Locator): Promise<{ x: number; y: number; right: number; bottom: number }> => {
    const { x, y, width, height } = (await found.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
    expect(width, 'it is there').toBeGreaterThan(0);
    return { x, y, right: x + width, bottom: y + height };
  };
  const heading = (name: string): Locator => page.getByRole('heading', { name, exact: true });

  await visit(page, '/nice2have');
  const under = async (label: string): Promise<number> =>
    (await box(page.getByLabel(label))).y - (await box(page.getByText(label, { exact: true }))).bottom;
  expect.soft(Math.abs((await under('Your Idea')) - (await under('Your Name (Optional)')))).toBeLessThan(2);

  const leads: number[] = [];
  for (const path of ['/account', '/upgrade', '/fonts']) {
    await visit(page, path);
    const title = page.getByRole('heading', { level: 1 });
    leads.push((await box(title.locator('xpath=following::p[1]'))).y - (await box(title)).bottom);
  }
  expect.soft(Math.max(...leads) - Math.min(...leads), 'below the headings of pages').toBeLessThan(2);

  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 800 });
    await visit(page, '/upgrade');
    const ground = (found: Locator): Promise<string> =>
      found.evaluate((element) => getComputedStyle(element).backgroundColor);
    const badge = page.getByText('Unlocks the AI tools');
    const column = page.locator('thead [data-plan="business"]');
    expect.soft(await ground(badge), 'the badge has edges').not.toBe(await ground(column));
  }
  await page.setViewportSize({ width: 1280, height: 800 });

  await visit(page, `/editor/${videoId}`);
  await heading('Ready for platforms').waitFor();
  expect
    .soft((await box(heading('Files to download'))).x)
    .toBe((await box(heading('Ready for platforms'))).x);

  await visit(page, `/videos/${videoId}/report`);
  await heading('Ready for platforms').waitFor();
  expect.soft((await box(heading('Steps'))).x).toBe((await box(heading('Ready for platforms'))).x);
  const sizes = await Promise.all(
    ['Steps', 'Ready for platforms'].map((name) =>
      heading(name).evaluate((element) => getComputedStyle(element).fontSize),
    ),
  );
  expect.soft(sizes[0]).toBe(sizes[1]);

  // Browsers leave grounds out of what they print unless they are told: the thread is made of them.
  await page.emulateMedia({ media: 'print' });
  const thread = page.locator('main [data-thread]').first();
  const printed = await thread.evaluate((element) =>
    getComputedStyle(element).getPropertyValue('print-color-adjust'),
  );
  expect.soft(printed, 'the time axis is printed').toBe('exact');
  await page.emulateMedia({ media: 'screen', forcedColors: 'active' });
  const forced = await thread.evaluate((element) =>
    getComputedStyle(element).getPropertyValue('forced-color-adjust'),
  );
  expect.soft(forced, 'the thread is drawn in colours of one’s own').toBe('none');
  await page.emulateMedia({ forcedColors: 'none' });

  const mended = page.locator('main tbody').getByText('mended', { exact: true }).first();
  const tint = await mended.evaluate((element) => getComputedStyle(element).color);
  await visit(page, `/editor/${videoId}`);
  const repaired = page.locator('main li').getByText('mended', { exact: true }).first();
  expect.soft(await repaired.evaluate((element) => getComputedStyle(element).color)).toBe(tint);

  await visit(page, '/');
  const plans = await Promise.all(['Starter', 'Creator Pro'].map((name) => box(heading(name))));
  expect.soft(plans[0]?.y, 'names of plans').toBe(plans[1]?.y);
  await page.setViewportSize({ width: 390, height: 800 });
  await page
    .locator('#dashboard small')
    .getByText(/this month/)
    .waitFor();
  const notes = await page
    .locator('#dashboard dl small')
    .evaluateAll((all) => all.map((note) => Math.round(note.getBoundingClientRect().height)));
  expect.soft(notes, 'one line for the note, none where there is none').toEqual([18, 0, 0, 0]);
  const live = page.locator('#dashboard').getByText('Live', { exact: true });
  const tiles = page.locator('#dashboard dl');
  expect.soft(Math.abs((await box(live)).right - (await box(tiles)).right)).toBeLessThan(2);
  await page.setViewportSize({ width: 1280, height: 800 });

  await visit(page, '/videos');
  const card = page.locator(`[data-video="${videoId}"]`);
  await card.getByText(/^Size/).waitFor();
  const strip = card.locator('xpath=.//p[span[starts-with(., "Size")]]/preceding-sibling::*[1]');
  expect.soft((await box(card.getByText(/^Size/))).y - (await box(strip)).bottom).toBeGreaterThanOrEqual(4);
});

test('the landing page shows its sections in order and its anchors work from other pages', async ({
  page,
  server,
}) => {
  await signIn(page, server, newAccount());
  await visit(page, '/');
  const order = await page.evaluate(() =>
    ['upload', 'dashboard', 'pricing'].map(
      (id) => document.getElementById(id)?.getBoundingClientRect().top ?? -1,
    ),
  );
  expect(order.every((top) => top >= 0)).toBe(true);
  expect(order.toSorted((a, b) => a - b)).toEqual(order);
  for (const [from, place, anchor] of [
    ['/nice2have', 'Pricing', '#pricing'],
    ['/fonts', 'Upload', '#upload'],
    ['/videos', 'Pricing', '#pricing'],
  ] as const) {
    await page.goto(from);
    await page.getByRole('link', { name: place, exact: true }).first().click();
    await expect(page).toHaveURL(`${server.baseUrl}/${anchor}`);
    await expect(page.locator(anchor)).toBeInViewport();
  }
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
