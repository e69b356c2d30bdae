import { AxeBuilder } from '@axe-core/playwright';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { failCalls, leaveScreen, openScreen } from '../scripts/open-screen.ts';
import { type Subjects, screens } from '../scripts/screens.ts';
import { findSubjects } from '../scripts/subjects.ts';
import { startBrowser } from './browser.ts';
import { newContext, siteUrl, type Watch, watchedPage } from './site.ts';

const RULES = ['wcag2a', 'wcag2aa', 'wcag21aa'];
/** What may differ between the themes. */
const COLOUR_RULES = ['color-contrast', 'link-in-text-block'];

let browser: Browser;
let subjects: Subjects;
const pages = new Map<string, { context: BrowserContext; page: Page; watch: Watch }>();

beforeAll(async () => {
  browser = await startBrowser();
  const found = await findSubjects(browser, siteUrl);
  subjects = found.subjects;
  for (const as of ['demo', 'fresh', 'none'] as const) {
    const storageState = as === 'none' ? undefined : found[as];
    const context = await newContext(browser, storageState ? { storageState } : {});
    pages.set(as, { context, ...(await watchedPage(context)) });
  }
});
afterAll(() => browser?.close());

/** One line for each violation: the rule and where. `colours`: those rules alone, or all but them. */
async function violations(page: Page, colours?: 'only' | 'without'): Promise<string[]> {
  // The pages have no frames of other origins: then axe needs no second page to put its findings together.
  const builder = new AxeBuilder({ page }).setLegacyMode();
  if (colours === 'only') builder.withRules(COLOUR_RULES);
  else builder.withTags(RULES);
  if (colours === 'without') builder.disableRules(COLOUR_RULES);
  const { violations: found } = await builder.analyze();
  return found.flatMap((v) =>
    v.nodes.map((n) => `${v.id}: ${n.target.join(' ')} (${n.failureSummary ?? ''})`),
  );
}

const WIDE = { width: 1280, height: 900 };
const PHONE = { width: 390, height: 844 };

/** Makes the window wide or as narrow as a phone and waits until it is drawn. */
async function resize(page: Page, size: typeof WIDE): Promise<void> {
  await page.setViewportSize(size);
  await page.evaluate(
    () => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))),
  );
}

/** Puts on a theme and waits for the colours that fade. */
const wear = (page: Page, theme: 'light' | 'dark') =>
  page.evaluate(async (value) => {
    document.documentElement.setAttribute('data-mantine-color-scheme', value);
    await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
    const ending = document
      .getAnimations()
      .filter((animation) => animation.effect?.getComputedTiming().endTime !== Number.POSITIVE_INFINITY);
    await Promise.allSettled(ending.map((animation) => animation.finished));
  }, theme);

describe('the check itself', () => {
  it('finds what cannot be read and what has no name', async () => {
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.setContent('<main><p style="color:#ccc;background:#fff">faint</p><button></button></main>');
    const found = (await violations(page)).map((line) => line.split(':')[0]);
    expect(found).toContain('color-contrast');
    expect(found).toContain('button-name');
    await context.close();
  });
});

describe('every screen is accessible in both themes and on a phone, and complains of nothing', () => {
  it.each(screens)('$name', async (screen) => {
    const found = pages.get(screen.as);
    if (!found) throw new Error(`there is no page for ${screen.as}`);
    const { page, watch } = found;
    watch.problems.length = 0;
    await resize(page, WIDE);
    await failCalls(page, screen);
    await openScreen(page, screen, subjects);
    expect(await violations(page), 'light').toEqual([]);
    await wear(page, 'dark');
    expect(await violations(page, 'only'), 'dark').toEqual([]);
    await resize(page, PHONE);
    // Colours do not change with the width.
    expect(await violations(page, 'without'), 'phone').toEqual([]);
    const tooWide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    expect(tooWide, 'wider than the phone').toBeLessThanOrEqual(0);
    expect(watch.problems).toEqual([]);
    await leaveScreen(page);
  });
});
