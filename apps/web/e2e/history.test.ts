import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startBrowser } from './browser.ts';
import { newIdea, newPerson, newWorkspace, watchedPage } from './site.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await startBrowser();
});
afterAll(() => browser?.close());

it('a long history shows its newest versions, and older ones when asked', async () => {
  const ana = await newPerson(browser, 'Ana Lopez');
  const workspaceId = await newWorkspace(ana, 'Much edited');
  const { id } = await newIdea(ana, workspaceId, 'Version 1');
  for (let version = 1; version <= 24; version++) {
    await ana.client.ideas.update.mutate({
      id,
      version,
      title: `Version ${version + 1}`,
      body: { text: `Text ${version + 1}` },
    });
  }
  const { page, watch } = await watchedPage(ana.context);
  await page.goto(`/ideas/${id}/history`);
  const versions = page.getByRole('main').getByRole('listitem');
  await versions.nth(19).waitFor();
  expect(await versions.count()).toBe(20);
  const older = page.getByRole('button', { name: 'Show older versions' });
  await older.click();
  await versions.nth(24).waitFor();
  expect(await versions.count()).toBe(25);
  expect(await older.count()).toBe(0);
  // The last version of the first page is compared with the first one of the second.
  const twentieth = versions.nth(19);
  await twentieth.getByRole('button', { name: 'Show the text' }).click();
  await twentieth.getByRole('button', { name: 'Text as it was' }).waitFor();
  await versions.last().getByText('posted it').waitFor();
  expect(watch.problems).toEqual([]);
  await ana.context.close();
});
