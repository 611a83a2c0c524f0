import { defineConfig } from 'playwright/test';

const executablePath = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium';

export default defineConfig({
  testDir: '.',
  outputDir: '../../test-results',
  // Two files at a time, each with a server of its own: a journey waits for a good part of its time, and two cores are all there is.
  workers: 2,
  fullyParallel: false,
  timeout: 300_000,
  expect: { timeout: 30_000 },
  retries: 0,
  forbidOnly: Boolean(process.env.CI),
  reporter: [['list']],
  use: {
    browserName: 'chromium',
    launchOptions: {
      executablePath,
      args: [
        '--no-sandbox',
        // Without a graphics card the processor would have to play one.
        '--disable-gpu',
        '--disable-quic',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
        '--autoplay-policy=no-user-gesture-required',
      ],
    },
    // Without a limit a step that can never come waits for the whole test's time.
    actionTimeout: 60_000,
    viewport: { width: 1280, height: 800 },
    locale: 'en-GB',
    // Each picture of what moves is drawn by the processor. Tests that look at the page as it moves turn it on.
    contextOptions: { reducedMotion: 'reduce' },
    // Of a failed test the steps are kept, and a picture of its end. Pictures and documents of every step of every
    // test cost a tenth of all processor time: `--trace on` brings them back.
    trace: { mode: 'retain-on-failure', screenshots: false, snapshots: false },
    screenshot: 'only-on-failure',
  },
});
