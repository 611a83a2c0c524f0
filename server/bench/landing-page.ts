import type { Browser, Page } from 'playwright';

export interface LandingFigures {
  readonly largestPaintMs: number;
  readonly layoutShift: number;
  readonly scriptBytes: number;
}

/** Measures one cold load of a page in a new browser context, with the processor slowed down. */
export async function measureLanding(
  browser: Browser,
  url: string,
  viewport: { readonly width: number; readonly height: number },
  cpuSlowdown: number,
): Promise<LandingFigures> {
  const context = await browser.newContext({ viewport });
  try {
    return await measure(await context.newPage(), url, cpuSlowdown);
  } finally {
    await context.close();
  }
}

async function measure(page: Page, url: string, cpuSlowdown: number): Promise<LandingFigures> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Emulation.setCPUThrottlingRate', { rate: cpuSlowdown });
  await devtools.send('Network.enable');
  let scriptBytes = 0;
  const scripts = new Set<string>();
  devtools.on('Network.responseReceived', ({ requestId, type }) => {
    if (type === 'Script') scripts.add(requestId);
  });
  // Counts bodies as sent (compressed), without headers.
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
