import { chromium, type Page } from 'playwright';
import { createServerProcess } from '#web/e2e/server-process.ts';

/** Limits of the landing page; the ratios are held against them. */
const LIMITS = { largestPaintMs: 2500, layoutShift: 0.05, scriptBytes: 130_000 } as const;
const CPU_SLOWDOWN = 4;
const RUNS = 5;

interface Figures {
  readonly largestPaintMs: number;
  readonly layoutShift: number;
  readonly scriptBytes: number;
}

/**
 * Loads the built landing page in Chromium with the processor slowed down fourfold and prints largest paint,
 * layout shift and compressed JavaScript as ratios of their limits (median of five cold loads).
 */
export async function run(): Promise<void> {
  const server = await createServerProcess();
  await server.start();
  const executablePath = process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium';
  const browser = await chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-background-networking'],
  });
  try {
    for (const [name, viewport] of [
      ['desktop 1280x800', { width: 1280, height: 800 }],
      ['phone 390x844', { width: 390, height: 844 }],
    ] as const) {
      const runs: Figures[] = [];
      for (let count = 0; count < RUNS; count += 1) {
        const context = await browser.newContext({ viewport });
        runs.push(await measure(await context.newPage(), server.baseUrl));
        await context.close();
      }
      print(name, runs);
    }
  } finally {
    await browser.close();
    await server.stop();
  }
}

async function measure(page: Page, url: string): Promise<Figures> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Emulation.setCPUThrottlingRate', { rate: CPU_SLOWDOWN });
  await devtools.send('Network.enable');
  let scriptBytes = 0;
  const scripts = new Set<string>();
  devtools.on('Network.responseReceived', ({ requestId, type }) => {
    if (type === 'Script') scripts.add(requestId);
  });
  // Bodies as they were sent, without headers.
  devtools.on('Network.dataReceived', ({ requestId, encodedDataLength }) => {
    if (scripts.has(requestId)) scriptBytes += encodedDataLength;
  });
  await page.addInitScript(() => {
    const seen = { paint: 0, shift: 0 };
    Object.assign(globalThis, { seen });
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) seen.paint = entry.startTime;
    }).observe({ type: 'largest-contentful-paint', buffered: true });
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) {
        if ('value' in entry && typeof entry.value === 'number') seen.shift += entry.value;
      }
    }).observe({ type: 'layout-shift', buffered: true });
  });
  await page.goto(url, { waitUntil: 'networkidle' });
  await page.waitForTimeout(1000);
  const seen = await page.evaluate<{ paint: number; shift: number }>('seen');
  return { largestPaintMs: seen.paint, layoutShift: seen.shift, scriptBytes };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

function print(name: string, runs: readonly Figures[]): void {
  const ratio = (key: keyof Figures): string =>
    (median(runs.map((figures) => figures[key])) / LIMITS[key]).toFixed(2);
  process.stdout.write(
    `${name}, processor slowed ${CPU_SLOWDOWN}x, as a share of the limit: ` +
      `largest paint ${ratio('largestPaintMs')} of 2.5 s, layout shift ${ratio('layoutShift')} of 0.05, ` +
      `JavaScript ${ratio('scriptBytes')} of 130 kB\n`,
  );
}
