import type { Locator, Page } from 'playwright/test';

/** An idea on the board itself; the form may name the same text among similar ideas. */
export function ideaRow(page: Page, text: string): Locator {
  return page
    .getByRole('listitem')
    .filter({ hasText: text })
    .filter({ has: page.getByRole('button', { name: /^Voted?, / }) });
}
