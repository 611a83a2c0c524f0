import axe, { type RunOptions } from 'axe-core';
import type { Page } from 'playwright/test';
import { expect } from './fixtures.ts';

/** No part of the page sticks out at the side. */
export async function expectFits(page: Page, where: string): Promise<void> {
  const overflow = await page.evaluate(() => {
    const scrolls = (element: Element): boolean => {
      for (let at: Element | null = element; at && at !== document.body; at = at.parentElement)
        if (['auto', 'scroll'].includes(getComputedStyle(at).overflowX)) return true;
      return false;
    };
    // What sticks out of the window and cannot be scrolled to is lost: a long word, for one.
    const lost = [...document.querySelectorAll('main :is(h2, h3, p, strong, dd, a, button)')].filter(
      (element) => {
        const { right, width } = element.getBoundingClientRect();
        return width > 0 && right > window.innerWidth + 1 && !scrolls(element);
      },
    );
    return {
      wide: document.documentElement.scrollWidth - window.innerWidth,
      lost: lost.map((element) => element.textContent?.slice(0, 60)),
    };
  });
  expect(overflow, `${where} is wider than the window`).toEqual({ wide: expect.any(Number), lost: [] });
  expect(overflow.wide, `${where} is wider than the window`).toBeLessThanOrEqual(0);
}

/** No part sticks out at 400 %, which leaves 320 CSS pixels of a window of 1280 px (WCAG 2.2, 1.4.10). */
export async function expectFitsZoomed(page: Page, where: string): Promise<void> {
  const size = page.viewportSize();
  await page.setViewportSize({ width: 320, height: 256 });
  // What is laid out by script follows in the next picture.
  await page.evaluate(() => new Promise((next) => requestAnimationFrame(() => requestAnimationFrame(next))));
  await expectFits(page, `${where} at 400 %`);
  if (size) await page.setViewportSize(size);
}

declare global {
  interface Window {
    /** There once `axe.source` was run in the page. */
    readonly axe?: typeof axe;
  }
}

/**
 * Serious rules that the page breaks, with at most three of the places of each.
 * @param rules those that axe runs; none named: all
 */
async function violations(page: Page, where: string, rules?: string[]): Promise<string[]> {
  // Other frames would need axe too.
  expect(page.frames(), `${where} is one document`).toHaveLength(1);
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe.source);
  const options: RunOptions = {
    reporter: 'no-passes',
    ...(rules && { runOnly: { type: 'rule', values: rules } }),
  };
  // What is serious is picked out in the page: nearly all that axe tells is about rules that are kept.
  const broken = await page.evaluate(async (chosen) => {
    const result = await window.axe?.run(document, chosen);
    return result?.violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, nodes }) => {
        const examples = nodes
          .slice(0, 3)
          .map(({ html, target }) => `${target.join(' ')} ${html.slice(0, 160)}`);
        return `${id}: ${examples.join(' | ')}`;
      });
  }, options);
  expect(broken, 'axe ran in the page').toBeDefined();
  return (broken ?? []).map((one) => `${where} ${one}`);
}

/** The rules whose result depends on the theme. */
const COLOUR_RULES = ['color-contrast', 'link-in-text-block'];

/**
 * Waits until nothing fades in or out, and keeps a message open as a pointer over it does: axe reads the colours one after the other,
 * and those of a half faded message are not the ones that are read by people.
 */
async function holdStill(page: Page): Promise<void> {
  await page.waitForFunction(() => {
    if (document.querySelector('[data-toast="closing"]')) return false;
    document
      .querySelector('[data-toast="open"]')
      ?.dispatchEvent(new MouseEvent('mouseover', { bubbles: true }));
    return document.getAnimations().every(({ playState, effect }) => {
      const endless = effect?.getComputedTiming().endTime === Infinity;
      return endless || playState !== 'running';
    });
  });
}

/** The message may go again. */
async function letGo(page: Page): Promise<void> {
  await page.evaluate(() =>
    document
      .querySelector('[data-toast="open"]')
      ?.dispatchEvent(new MouseEvent('mouseout', { bubbles: true })),
  );
}

/**
 * axe finds nothing serious: all rules in the light theme, those about colour again in the dark one. The page's
 * theme must follow the system.
 */
export async function expectAccessible(page: Page, where: string): Promise<void> {
  await page.evaluate(() => document.fonts.ready);
  await holdStill(page);
  const light = await violations(page, where);
  await page.emulateMedia({ colorScheme: 'dark' });
  await holdStill(page);
  const dark = await violations(page, `${where} (dark)`, COLOUR_RULES);
  await page.emulateMedia({ colorScheme: 'light' });
  await letGo(page);
  expect([...light, ...dark]).toEqual([]);
}

/**
 * Opens an address and waits until nothing of the page is on its way: neither what it reads from the server nor its letters, which
 * move what is below them.
 */
export async function visit(page: Page, path: string): Promise<void> {
  await page.goto(path);
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  await expect(page.locator('[aria-busy="true"]')).toHaveCount(0);
  await page.evaluate(() => document.fonts.ready);
}

/** What the page's security policy refuses from now on: in the pages of the product, nothing. */
export async function collectRefusals(page: Page): Promise<readonly string[]> {
  const refused: string[] = [];
  await page.exposeFunction('noteRefusal', (what: string) => refused.push(what));
  await page.addInitScript(`addEventListener('securitypolicyviolation', (event) => {
    noteRefusal(event.violatedDirective + ' ' + event.blockedURI + ' ' + location.pathname);
  })`);
  return refused;
}
