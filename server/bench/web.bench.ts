import { type Browser, chromium } from 'playwright';
import { createServerProcess } from '#web/e2e/server-process.ts';
import { type LandingFigures, measureLanding } from './landing-page.ts';
import { LIBRARY_VIDEOS, type LibraryFigures, measureLibrary } from './library-page.ts';

/** Limits of the landing page, to which the ratios relate. */
const LIMITS = { largestPaintMs: 2500, layoutShift: 0.05, scriptBytes: 130_000 } as const;
const CPU_SLOWDOWN = 4;
const RUNS = 5;
const SIZES = [
  ['desktop 1280x800', { width: 1280, height: 800 }],
  ['phone 390x844', { width: 390, height: 844 }],
] as const;

/** One frame at 60 frames a second. */
const FRAME_MS = 1000 / 60;
/** A frame later than this is a visible stutter (three missed frames). */
const LONG_FRAME_MS = 50;
/** Below this an answer feels immediate (RAIL model, web.dev/articles/rail). */
const UPDATE_LIMIT_MS = 100;

/**
 * Measures the built pages in Chromium and prints ratios to their limits. `landing`: largest paint, layout shift and
 * compressed JavaScript with the processor slowed down fourfold (median of five cold loads). `library`: scrolls 500
 * videos by wheel and pushes a repair to them. Without a name, measures both.
 */
export async function run(names: readonly string[]): Promise<void> {
  const wanted = (name: string): boolean => names.length === 0 || names.includes(name);
  const browser = await chromium.launch({
    executablePath: process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-background-networking'],
  });
  try {
    if (wanted('landing')) await runLanding(browser);
    if (wanted('library'))
      for (const slowdown of [1, CPU_SLOWDOWN])
        printLibrary(slowdown, await measureLibrary(browser, slowdown));
  } finally {
    await browser.close();
  }
}

async function runLanding(browser: Browser): Promise<void> {
  const server = await createServerProcess();
  await server.start();
  try {
    for (const [name, viewport] of SIZES) {
      const runs: LandingFigures[] = [];
      for (let count = 0; count < RUNS; count += 1)
        runs.push(await measureLanding(browser, server.baseUrl, viewport, CPU_SLOWDOWN));
      printLanding(name, runs);
    }
  } finally {
    await server.stop();
  }
}

function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function printLanding(name: string, runs: readonly LandingFigures[]): void {
  const ratio = (key: keyof LandingFigures): string =>
    (
      percentile(
        runs.map((figures) => figures[key]),
        0.5,
      ) / LIMITS[key]
    ).toFixed(2);
  console.log(
    `${name}, processor slowed ${CPU_SLOWDOWN}x, as a share of the limit: ` +
      `largest paint ${ratio('largestPaintMs')} of 2.5 s, layout shift ${ratio('layoutShift')} of 0.05, ` +
      `JavaScript ${ratio('scriptBytes')} of 130 kB`,
  );
}

function printLibrary(slowdown: number, { firstView, scroll, push }: LibraryFigures): void {
  const { frames, blocked } = scroll;
  const toPaint = push.updates.map(({ toPaintMs }) => toPaintMs);
  const cards = push.updates.map((update) => update.cards);
  if (firstView.drawn < firstView.present || toPaint.length === 0)
    throw new Error('The probe saw too little: cards or pushed states were not counted.');
  const late = frames.filter((ms) => ms > LONG_FRAME_MS);
  console.log(
    `library of ${LIBRARY_VIDEOS} videos, processor slowed ${slowdown}x: ${firstView.present} cards in the page\n` +
      `  scrolling: picture p50 ${(percentile(frames, 0.5) / FRAME_MS).toFixed(2)}, p95 ` +
      `${(percentile(frames, 0.95) / FRAME_MS).toFixed(2)} of one frame budget; later than ${LONG_FRAME_MS} ms ` +
      `${((100 * late.length) / frames.length).toFixed(1)} % of ${frames.length} pictures; ` +
      `input blocked ${((100 * sum(blocked)) / sum(frames)).toFixed(1)} % of the time\n` +
      `  pushed state to paint: p50 ${(percentile(toPaint, 0.5) / UPDATE_LIMIT_MS).toFixed(2)}, p95 ` +
      `${(percentile(toPaint, 0.95) / UPDATE_LIMIT_MS).toFixed(2)} of ${UPDATE_LIMIT_MS} ms over ` +
      `${toPaint.length} states; cards drawn for each p50 ${percentile(cards, 0.5)}, most ${Math.max(...cards)}`,
  );
}
