import type { Browser, BrowserContext, Page } from 'playwright/test';
import { askForSample, expectMended, MENDED_WITHIN_MS } from './api-steps.ts';
import { makeBrokenClip } from './clips.ts';
import { giveVideo } from './copy-video.ts';
import { expect, logIn, newAccount, signIn, test } from './fixtures.ts';
import type { ServerProcess } from './server-process.ts';
import { visit } from './soundness.ts';

// Most people see things move, and what moves them is what is measured.
test.use({ contextOptions: { reducedMotion: 'no-preference' } });

/** Half of what counts as good (0.1, web.dev/articles/cls). */
const MOST_SHIFT = 0.05;
/** Long enough that loading states are seen, and that answers arrive one by one. */
const ANSWER_DELAY_MS = 500;
/** Pages opened at a time: nearly all of their time is waiting. */
const AT_A_TIME = 4;

interface Shift {
  readonly value: number;
  readonly what: string;
}

/** Notes every layout shift of a page with the elements that moved. */
function noteShifts(): void {
  const shifts: Shift[] = [];
  Object.assign(globalThis, { shifts });
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      if (!('value' in entry) || typeof entry.value !== 'number') continue;
      const sources: unknown = Reflect.get(entry, 'sources');
      const names = (Array.isArray(sources) ? sources : []).map((source: unknown) => {
        const node: unknown = Reflect.get(Object(source), 'node');
        return node instanceof Element ? `${node.tagName} ${node.textContent?.slice(0, 40) ?? ''}` : '?';
      });
      shifts.push({ value: entry.value, what: names.join(' / ') });
    }
  }).observe({ type: 'layout-shift', buffered: true });
}

/** @returns what moved too much, with the address; null when nothing did */
async function tooMuchAt(
  context: BrowserContext,
  path: string,
  meanwhile: (page: Page) => Promise<void> = async () => undefined,
): Promise<string | null> {
  const page = await context.newPage();
  await page.goto(path);
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible({ timeout: 30_000 });
  await meanwhile(page);
  await page.waitForLoadState('networkidle');
  await page.waitForTimeout(300);
  const shifts = await page.evaluate<Shift[]>('shifts');
  await page.close();
  if (shifts.reduce((total, { value }) => total + value, 0) < MOST_SHIFT) return null;
  return [path, ...shifts.map(({ value, what }) => `${value.toFixed(3)} ${what}`)].join('\n');
}

for (const [size, viewport] of [
  ['desktop', { width: 1280, height: 800 }],
  ['phone', { width: 390, height: 844 }],
] as const) {
  test(`nothing moves while slow answers arrive on a ${size}`, async ({ browser, server, filled }) => {
    test.setTimeout(300_000);
    const context = await browser.newContext({ baseURL: server.baseUrl, viewport });
    const { account, videoId } = filled;
    await logIn(context, server, account);
    await context.addInitScript(noteShifts);
    let answers = 0;
    await context.route('**/api/**', async (route) => {
      answers += 1;
      // Each a little later than the one before: together they would hide what each of them moves.
      await new Promise((resolve) => setTimeout(resolve, ANSWER_DELAY_MS + (answers % 5) * 120));
      await route.continue().catch(() => undefined);
    });
    const paths = [
      '/',
      '/videos',
      '/drafts',
      '/editor',
      `/editor/${videoId}`,
      `/videos/${videoId}/report`,
      '/nice2have',
      '/account',
      '/analytics',
      '/subscribe/business',
      '/upgrade',
      '/fonts',
      `/video/${videoId}`,
    ];
    const moved: (string | null)[] = [];
    for (let start = 0; start < paths.length; start += AT_A_TIME)
      moved.push(
        ...(await Promise.all(paths.slice(start, start + AT_A_TIME).map((path) => tooMuchAt(context, path)))),
      );
    await context.close();
    expect(moved.filter((what) => what !== null)).toEqual([]);
  });
}

test('what is known stays in its place when it cannot be read again', async ({ browser, server, filled }) => {
  const context = await browser.newContext({
    baseURL: server.baseUrl,
    viewport: { width: 390, height: 844 },
  });
  await logIn(context, server, filled.account);
  const open = async (path: string) => {
    const page = await context.newPage();
    // What is still on its way would move the list by itself.
    await visit(page, path);
    const first = page.locator('main li').filter({ hasText: '.mp4' }).first();
    await expect(first).toBeVisible({ timeout: 30_000 });
    const place = async () => (await first.boundingBox())?.y;
    return { page, place, before: await place() };
  };
  const pages = await Promise.all(['/videos', '/drafts', '/'].map(open));
  await context.setOffline(true);
  for (const { page, place, before } of pages) {
    await expect(page.getByText('Could not refresh').filter({ visible: true }).first()).toBeVisible({
      timeout: 30_000,
    });
    expect([page.url(), await place()]).toEqual([page.url(), before]);
  }
  await context.close();
});

test.describe('nothing moves on a phone while a clip is mended', () => {
  test.beforeEach(() => test.setTimeout(MENDED_WITHIN_MS + 60_000));

  async function phone(browser: Browser, server: ServerProcess): Promise<BrowserContext> {
    const viewport = { width: 390, height: 844 };
    const context = await browser.newContext({ baseURL: server.baseUrl, viewport });
    await signIn({ request: context.request }, server, newAccount());
    await context.addInitScript(noteShifts);
    return context;
  }

  test('in the editor that waits for it', async ({ browser, server }) => {
    const context = await phone(browser, server);
    const videoId = await askForSample(context.request, server.baseUrl);
    const moved = await tooMuchAt(context, `/editor/${videoId}`, async (page) => {
      await expectMended(context.request, videoId);
      await expect(page.locator('video')).toBeVisible();
    });
    await context.close();
    expect(moved).toBeNull();
  });

  test('in the editor while quick fixes are applied, and when their results arrive', async ({
    browser,
    server,
    filled,
  }) => {
    const context = await phone(browser, server);
    await context.request.post('/api/subscription', {
      headers: { origin: server.baseUrl },
      data: { plan: 'business' },
    });
    const videoId = await giveVideo(context.request, server, filled.videoId);
    const moved = await tooMuchAt(context, `/editor/${videoId}`, async (page) => {
      const fix = (name: string) => page.getByRole('button', { name: new RegExp(`^${name}`) });
      await fix('Fix Audio Sync').click();
      await fix('Sharpen Video').click();
      await fix('Optimize for TikTok').click();
      await page.getByRole('button', { name: 'Apply 3 fixes' }).click();
      await expect(page.getByRole('button', { name: 'Cancel the fixes' })).toBeVisible();
      // What follows a press at once is expected by who pressed.
      await page.waitForTimeout(500);
      await page.evaluate('shifts.length = 0');
      await expect(fix('Sharpen Video')).toHaveAttribute('data-state', 'completed', {
        timeout: MENDED_WITHIN_MS,
      });
    });
    await context.close();
    expect(moved).toBeNull();
  });

  test('on the page where it was brought in', async ({ browser, server }) => {
    const broken = await makeBrokenClip();
    const context = await phone(browser, server);
    const moved = await tooMuchAt(context, '/', async (page) => {
      await page.locator('#upload input[type=file]').setInputFiles(broken);
      await expect(page.getByText('Processing complete!')).toBeVisible({ timeout: MENDED_WITHIN_MS });
    });
    await context.close();
    expect(moved).toBeNull();
  });
});
