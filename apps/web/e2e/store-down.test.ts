import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Site, type Stack, startSite, startStack, startSteps } from '@sparkroom/local';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startBrowser } from './browser.ts';
import { join as addMember, newIdea, newPerson, newWorkspace, watchedPage } from './site.ts';

/** A site of its own: the stores that are killed here must not be missed by other tests. */
let dir: string;
let stack: Stack;
let site: Site;
let browser: Browser;

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() =>
        typeof address === 'object' && address ? resolve(address.port) : reject(new Error('no port')),
      );
    });
  });
}

beforeAll(async () => {
  const steps = startSteps(() => {});
  // The environment names the shared stack of this run, which must not be used.
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !name.startsWith('SPARKROOM_')),
  );
  const parent = fileURLToPath(new URL('../../../.sparkroom/test', import.meta.url));
  await mkdir(parent, { recursive: true });
  dir = await mkdtemp(join(parent, 'run-store-down-'));
  stack = await startStack({
    dir,
    env,
    // Away from where other test runs look for free ports: a killed store must find its own free when it comes back.
    ports: { mysql: 21306, cloudant: 21984, redis: 21379, nats: 21222 },
    nextFreePort: true,
    durable: false,
    template: join(parent, 'template'),
  });
  const port = await freePort();
  const own = { SPARKROOM_URL: `http://127.0.0.1:${port}` };
  site = await startSite(stack, { port, host: '127.0.0.1', steps, seed: false, env: own });
  browser = await startBrowser();
});
afterAll(async () => {
  await browser?.close();
  await site?.stop();
  await stack?.stop();
  if (dir) await rm(dir, { recursive: true, force: true });
});

describe('a store that is killed', () => {
  it('MySQL: the page names it, and one click brings everything back', async () => {
    const ana = await newPerson(browser, 'Ana Lopez', { baseURL: site.url });
    const workspaceId = await newWorkspace(ana, 'Robust');
    const idea = await newIdea(ana, workspaceId, 'Survives');
    const { page } = await watchedPage(ana.context);
    await page.goto(`/ideas/${idea.id}`);
    await page.getByRole('radio', { name: '4 stars: promising' }).click();
    await expect.poll(async () => (await ana.client.ideas.get.query({ id: idea.id })).myRating).toBe(4);

    await stack.kill('mysql', 'SIGKILL');
    await page.getByRole('radio', { name: '2 stars: unlikely' }).click();
    await page
      .getByRole('alert')
      .getByText('The database (MySQL) does not answer')
      .waitFor({ timeout: 30_000 });
    expect(await page.getByRole('radio', { name: /^4 stars/ }).getAttribute('aria-checked')).toBe('true');
    await page.reload();
    const again = page.getByRole('button', { name: 'Try again' });
    await again.waitFor({ timeout: 30_000 });
    await page.getByText('The database (MySQL) does not answer').first().waitFor();

    await stack.restart('mysql');
    await again.click();
    await page.getByRole('heading', { level: 1, name: 'Survives' }).waitFor({ timeout: 30_000 });
    await page.getByRole('radio', { name: /^4 stars/, checked: true }).waitFor();
    await ana.context.close();
  });

  it('Redis and NATS: reading, posting and rating go on', async () => {
    const ana = await newPerson(browser, 'Ana Lopez', { baseURL: site.url });
    const workspaceId = await newWorkspace(ana, 'Goes on');
    await stack.kill('redis', 'SIGKILL');
    await stack.kill('nats', 'SIGKILL');
    try {
      const { page } = await watchedPage(ana.context);
      await page.goto(`/w/${workspaceId}/new`);
      await page.getByLabel('Title').fill('Without them', { timeout: 30_000 });
      await page.getByLabel('The idea').fill('It is stored all the same.');
      await page.getByRole('button', { name: 'Post idea' }).click();
      await page.getByRole('heading', { level: 1, name: 'Without them' }).waitFor({ timeout: 30_000 });
      await page.getByRole('article').getByText('It is stored all the same.').waitFor();
      await page.getByRole('radio', { name: '5 stars: do this now' }).click();
      await page.getByRole('radio', { name: /^5 stars/, checked: true }).waitFor();
    } finally {
      await stack.restart('redis');
      await stack.restart('nats');
    }
    await ana.context.close();
  });
});

describe('a server that ends and comes back', () => {
  it.each(['SIGKILL', 'SIGTERM'] as const)(
    '%s: a live page goes on by itself, with what it missed',
    async (signal) => {
      const ana = await newPerson(browser, 'Ana Lopez', { baseURL: site.url });
      const bo = await newPerson(browser, 'Bo Chen', { baseURL: site.url });
      const workspaceId = await newWorkspace(ana, 'Restart');
      await addMember(ana, bo, workspaceId);
      await newIdea(ana, workspaceId, 'Before');
      const { page } = await watchedPage(bo.context);
      await page.goto(`/w/${workspaceId}`);
      await page.getByRole('link', { name: 'Before' }).first().waitFor();
      let loads = 0;
      page.on('load', () => loads++);
      // The stream is up: what is posted now is announced.
      await newIdea(ana, workspaceId, 'Live');
      await page.getByText('1 new idea').waitFor({ timeout: 30_000 });

      const before = site.pid('server');
      if (before === undefined) throw new Error('the server does not run');
      // Nothing reaches the page until the other one has posted: it really misses that.
      await page.route('**/trpc/activity.live*', (route) => route.abort());
      process.kill(before, signal);
      await expect.poll(() => site.pid('server') ?? before, { timeout: 30_000 }).not.toBe(before);
      const answers = () =>
        fetch(`${site.url}/readyz`).then(
          (answer) => answer.ok,
          () => false,
        );
      await expect.poll(answers, { timeout: 30_000 }).toBe(true);
      const reconnecting = page.getByRole('navigation').getByText('Reconnecting');
      await reconnecting.waitFor({ timeout: 30_000 });
      await newIdea(ana, workspaceId, 'Meanwhile');
      expect(await page.getByText('2 new ideas').count()).toBe(0);
      await page.unrouteAll();

      await page.getByText('2 new ideas').waitFor({ timeout: 45_000 });
      await reconnecting.waitFor({ state: 'detached' });
      await page.getByRole('button', { name: 'Show', exact: true }).click();
      await page.getByRole('article').getByRole('link', { name: 'Meanwhile' }).waitFor();
      // And it is live again.
      await newIdea(ana, workspaceId, 'After');
      await page.getByText('1 new idea').waitFor({ timeout: 30_000 });
      expect(loads).toBe(0);
      await ana.context.close();
      await bo.context.close();
    },
  );
});
