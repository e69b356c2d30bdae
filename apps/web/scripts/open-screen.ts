import type { Page, Route } from 'playwright-core';
import type { Screen, Subjects } from './screens.ts';

/** Waits until nothing loads (but for what `waiting` is to show): no placeholders, fonts there, two frames drawn. */
export async function settled(page: Page, waiting = false): Promise<void> {
  await page.locator('main').waitFor();
  if (waiting) await page.locator('[aria-busy="true"]').first().waitFor();
  else await page.waitForFunction(() => document.querySelector('[aria-busy="true"]') === null);
  await page.evaluate(async () => {
    await document.fonts.ready;
    await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
  });
}

/** Calls that a screen keeps waiting. */
const held = new WeakMap<Page, Route[]>();

/** Answers the procedure that a screen wants failing with "store unavailable", in whatever batch it is asked. */
export async function failCalls(page: Page, screen: Screen): Promise<void> {
  if (screen.waiting) {
    await page.route(`**/trpc/**${screen.waiting}*`, (route) => {
      held.set(page, [...(held.get(page) ?? []), route]);
    });
  }
  if (!screen.failing) return;
  const error = {
    message: 'away',
    code: -32603,
    data: { code: 'SERVICE_UNAVAILABLE', httpStatus: 503, reason: 'STORE_UNAVAILABLE', store: 'mysql' },
  };
  await page.route(`**/trpc/**${screen.failing}*`, (route) => {
    const calls = new URL(route.request().url()).pathname.replace('/trpc/', '').split(',');
    return route.fulfill({
      status: 503,
      contentType: 'application/json',
      body: JSON.stringify(calls.map(() => ({ error }))),
    });
  });
}

/** Opens a screen and brings it into the state that is to be seen. */
export async function openScreen(page: Page, screen: Screen, subjects: Subjects): Promise<void> {
  const waiting = screen.waiting !== undefined;
  await page.goto(screen.path(subjects), { waitUntil: 'load' });
  await settled(page, waiting);
  if (screen.failing) await page.getByRole('alert').waitFor();
  await screen.prepare?.(page);
  await settled(page, waiting);
}

/** Leaves a screen and forgets what it changed. Calls held back are given up: they would be let through otherwise. */
export async function leaveScreen(page: Page): Promise<void> {
  for (const route of held.get(page) ?? []) await route.abort();
  held.delete(page);
  await page.evaluate(() => sessionStorage.clear());
  await page.unrouteAll({ behavior: 'ignoreErrors' });
}
