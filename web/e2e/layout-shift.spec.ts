import { expect, newAccount, signIn, test } from './fixtures.ts';
import { fillAccount } from './shelf.ts';

/** Half of what counts as good (0.1, web.dev/articles/cls). */
const MOST_SHIFT = 0.05;
/** Long enough that loading states are seen, and that answers arrive one by one. */
const ANSWER_DELAY_MS = 500;

for (const [size, viewport] of [
  ['desktop', { width: 1280, height: 800 }],
  ['phone', { width: 390, height: 844 }],
] as const) {
  test(`nothing moves while slow answers arrive on a ${size}`, async ({ page, server }) => {
    test.setTimeout(300_000);
    await page.setViewportSize(viewport);
    await signIn(page, server, newAccount());
    const videoId = await fillAccount(page, server);
    await page.addInitScript(() => {
      const shifts: { value: number; what: string }[] = [];
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
    });
    let answers = 0;
    await page.route('**/api/**', async (route) => {
      answers += 1;
      // Each a little later than the one before: together they would hide what each of them moves.
      await new Promise((resolve) => setTimeout(resolve, ANSWER_DELAY_MS + (answers % 5) * 120));
      await route.continue().catch(() => undefined);
    });
    const moved: Record<string, { sum: number; what: string }> = {};
    for (const path of [
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
    ]) {
      await page.goto(path);
      await expect(page.getByRole('heading', { level: 1 })).toBeVisible({ timeout: 30_000 });
      await page.waitForLoadState('networkidle');
      await page.waitForTimeout(300);
      const shifts = await page.evaluate<{ value: number; what: string }[]>('shifts');
      const sum = shifts.reduce((total, { value }) => total + value, 0);
      if (sum >= MOST_SHIFT)
        moved[path] = {
          sum,
          what: shifts.map(({ value, what }) => `${value.toFixed(3)} ${what}`).join('\n'),
        };
    }
    expect(moved).toEqual({});
  });
}
