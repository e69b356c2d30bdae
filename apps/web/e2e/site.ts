import { randomUUID } from 'node:crypto';
import { createSparkroomClient, type SparkroomClient } from '@sparkroom/client';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { expect } from 'vitest';

/** Where the tests' set-up (infra/local) has started the site with the demo in it. */
export const siteUrl: string = (() => {
  const url = process.env.SPARKROOM_URL;
  if (!url)
    throw new Error('SPARKROOM_URL is not set: run these tests by "npm test", which starts the site.');
  return url;
})();

export const PASSWORD = 'sparkroom-demo';

/** A person with an account, a browser of their own and a typed client. */
export interface Person {
  name: string;
  email: string;
  context: BrowserContext;
  client: SparkroomClient;
}

/** What no page may do: tell the console of an error, or break the content security policy. */
export interface Watch {
  problems: string[];
}

/** Chromium tells every failed request to the console; those a test provokes are expected. */
const isProvoked = (text: string) =>
  /Failed to load resource: the server responded with a status of (4|5)\d\d/.test(text);

/** Opens a page and writes down everything it complains about. */
export async function watchedPage(context: BrowserContext): Promise<{ page: Page; watch: Watch }> {
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
  const watch: Watch = { problems: [] };
  page.on('pageerror', (error) => watch.problems.push(`uncaught: ${error.message}`));
  page.on('console', (message) => {
    if (message.type() === 'error' && !isProvoked(message.text())) watch.problems.push(message.text());
  });
  await page.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', (event) => {
      console.error(
        `content security policy: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`,
      );
    });
  });
  return { page, watch };
}

export const newContext = (browser: Browser, options: BrowserContextOptions = {}): Promise<BrowserContext> =>
  browser.newContext({
    baseURL: siteUrl,
    locale: 'en-GB',
    viewport: { width: 1280, height: 900 },
    reducedMotion: 'reduce',
    ...options,
  });

/** Client that is signed in as the person of the browser context. */
async function clientOf(context: BrowserContext, url: string): Promise<SparkroomClient> {
  const cookie = (await context.cookies()).map((c) => `${c.name}=${c.value}`).join('; ');
  return createSparkroomClient({
    url,
    fetch: (input, init) => {
      const headers = new Headers(init?.headers);
      headers.set('cookie', cookie);
      headers.set('origin', url);
      return fetch(input, { ...init, headers });
    },
  });
}

async function send(context: BrowserContext, url: string, path: string, data: object): Promise<void> {
  const answer = await context.request.post(path, { data, headers: { origin: url } });
  expect(answer.status(), `${path} ${await answer.text()}`).toBe(200);
}

/** Somebody new, signed in. */
export async function newPerson(
  browser: Browser,
  name: string,
  options: BrowserContextOptions = {},
): Promise<Person> {
  const context = await newContext(browser, options);
  const email = `${name.toLowerCase().replaceAll(/[^a-z]+/g, '.')}.${randomUUID().slice(0, 8)}@example.com`;
  const url = options.baseURL ?? siteUrl;
  await send(context, url, '/api/auth/sign-up/email', { name, email, password: PASSWORD });
  return { name, email, context, client: await clientOf(context, url) };
}

/** One of the demo's people, signed in. */
export async function demoPerson(browser: Browser, options: BrowserContextOptions = {}): Promise<Person> {
  const context = await newContext(browser, options);
  const email = 'user0@sparkroom.example';
  await send(context, siteUrl, '/api/auth/sign-in/email', { email, password: PASSWORD });
  const client = await clientOf(context, siteUrl);
  const { name } = await client.me.get.query();
  return { name, email, context, client };
}

/** A workspace of its own for one test. */
export async function newWorkspace(owner: Person, name: string): Promise<string> {
  const made = await owner.client.clients.create.mutate({ name: 'Test Foods' });
  return (await owner.client.workspaces.create.mutate({ clientId: made.id, name })).id;
}

/** Makes `member` a member of the workspace. */
export async function join(owner: Person, member: Person, workspaceId: string): Promise<void> {
  await owner.client.members.add.mutate({ workspaceId, email: member.email });
}

/** An idea that is open for rating. */
export async function newIdea(author: Person, workspaceId: string, title: string, text = `${title}.`) {
  return author.client.ideas.create.mutate({ workspaceId, title, body: { text } });
}
