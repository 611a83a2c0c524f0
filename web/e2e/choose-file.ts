import type { Page } from 'playwright/test';

/**
 * Chooses a file in the browser's own dialog.
 * @param open what a person does to be asked for it
 */
export async function chooseFile(page: Page, open: () => Promise<void>, file: string): Promise<void> {
  const asked = page.waitForEvent('filechooser');
  // The browser leaves its dialog to the test only once it was told so; what the page answers comes behind that.
  await page.evaluate('0');
  await open();
  await (await asked).setFiles(file);
}
