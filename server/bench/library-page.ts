import { type Browser, expect, type Page } from 'playwright/test';
import { z } from 'zod';
import { askForSample, expectMended, sendClip } from '#web/e2e/api-steps.ts';
import { makeBrokenClip } from '#web/e2e/clips.ts';
import { copyVideo } from '#web/e2e/copy-video.ts';
import { createServerProcess, type ServerProcess } from '#web/e2e/server-process.ts';
import { installProbe } from './page-probe.ts';

/** Number of videos in the measured library. */
export const LIBRARY_VIDEOS = 500;
const PERSON = { username: 'bench-library', email: 'bench@example.test', password: 'Mended-Clip-42' };
/** Wheel steps down the whole library and back; each starts while the previous one is still scrolling smoothly. */
const WHEEL_STEPS = 120;
const WHEEL_STEP_PX = 400;
const WHEEL_GAP_MS = 50;

const figures = z.object({
  frames: z.array(z.number()),
  blocked: z.array(z.number()),
  updates: z.array(z.object({ toPaintMs: z.number(), cards: z.number() })),
  cards: z.number(),
});
type Figures = z.infer<typeof figures>;

export interface LibraryFigures {
  /** Cards rendered for the first view, as the probe counts them, and cards present in the page. */
  readonly firstView: { readonly drawn: number; readonly present: number };
  readonly scroll: Figures;
  readonly push: Figures;
}

/**
 * Opens a library of 500 videos on a running server in Chromium, scrolls it by wheel, and follows the repair of a clip
 * whose progress is pushed to it.
 */
export async function measureLibrary(browser: Browser, cpuSlowdown: number): Promise<LibraryFigures> {
  const server = await createServerProcess({ EMAIL_VERIFICATION: 'off', DEFAULT_PLAN: 'business' });
  await server.start();
  const context = await browser.newContext({
    baseURL: server.baseUrl,
    viewport: { width: 1280, height: 800 },
  });
  try {
    const page = await context.newPage();
    await signIn(page, server);
    const sample = await askForSample(page.request, server.baseUrl);
    await expectMended(page.request, sample);
    await copyVideo(server.dataDir, sample, LIBRARY_VIDEOS - 1);

    // The compiler wraps functions in a helper for their names, which pages do not have.
    await page.addInitScript({ content: 'globalThis.__name = (named) => named;' });
    await page.addInitScript(installProbe);
    const devtools = await context.newCDPSession(page);
    await devtools.send('Emulation.setCPUThrottlingRate', { rate: cpuSlowdown });
    await page.goto('/videos');
    await page.locator('[data-video]').first().waitFor();
    await page.getByText('Live', { exact: true }).first().waitFor();
    await page.waitForTimeout(1500);
    const drawn = (await read(page)).cards;
    const present = await page.locator('[data-video]').count();
    const scroll = await scrollThrough(page);

    const next = await sendClip(page.request, server.baseUrl, await makeBrokenClip(12));
    await page.locator(`[data-video="${next}"]`).waitFor();
    await page.evaluate('probe.reset()');
    await expect(page.locator(`[data-video="${next}"]`).getByText('Completed')).toBeVisible({
      timeout: 120_000,
    });
    return { firstView: { drawn, present }, scroll, push: await read(page) };
  } finally {
    await context.close();
    await server.stop();
  }
}

async function signIn(page: Page, server: ServerProcess): Promise<void> {
  const headers = { origin: server.baseUrl };
  await page.request.post('/api/auth/register', { headers, data: PERSON });
  const answer = await page.request.post('/api/auth/login', { headers, data: PERSON });
  if (!answer.ok()) throw new Error(await answer.text());
}

async function scrollThrough(page: Page): Promise<Figures> {
  const region = await page.getByRole('region', { name: 'Your videos' }).boundingBox();
  if (!region) throw new Error('The list of videos is not shown.');
  await page.mouse.move(region.x + region.width / 2, region.y + Math.min(200, region.height / 2));
  await page.evaluate('probe.reset()');
  for (let step = 0; step < WHEEL_STEPS; step += 1) {
    await page.mouse.wheel(0, step < WHEEL_STEPS / 2 ? WHEEL_STEP_PX : -WHEEL_STEP_PX);
    await page.waitForTimeout(WHEEL_GAP_MS);
  }
  return read(page);
}

async function read(page: Page): Promise<Figures> {
  return figures.parse(await page.evaluate('probe.read()'));
}
