import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startBrowser } from './browser.ts';
import {
  demoPerson,
  join,
  newContext,
  newIdea,
  newPerson,
  newWorkspace,
  PASSWORD,
  watchedPage,
} from './site.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await startBrowser();
});
afterAll(() => browser?.close());

const heading = (page: Page, name: string | RegExp) =>
  page.getByRole('heading', { level: 1, name }).waitFor();
const focused = (page: Page) => page.evaluate(() => document.activeElement?.textContent ?? '');

const COLUMNS = 5;

/** The table on the page as the browser tells it to a screen reader: from its accessibility tree. */
async function heardTable(page: Page) {
  const session = await page.context().newCDPSession(page);
  const { nodes } = await session.send('Accessibility.getFullAXTree');
  await session.detach();
  const byId = new Map(nodes.map((node) => [node.nodeId, node]));
  type Node = (typeof nodes)[number];
  const text = (node: Node | undefined) => String(node?.name?.value ?? '');
  const below = (node: Node, role: string): Node[] =>
    (node.childIds ?? []).flatMap((id) => {
      const child = byId.get(id);
      if (!child) return [];
      return child.role?.value === role ? [child] : below(child, role);
    });
  const table = nodes.find((node) => node.role?.value === 'table');
  if (!table) throw new Error('there is no table in the accessibility tree');
  const [head, ...rows] = below(table, 'row');
  return {
    name: text(table),
    columns: head ? below(head, 'columnheader').map(text) : [],
    rows: rows.map((row) => ({
      header: below(row, 'rowheader').map(text).join(),
      cells: below(row, 'cell').map(text),
    })),
  };
}

describe('from nothing to a rated idea', () => {
  it('sign up, workspace, idea, invitation, second person rates, the first sees it live', async () => {
    const stamp = Date.now();
    const ana = await newContext(browser);
    const { page, watch } = await watchedPage(ana);
    await page.goto('/');
    await heading(page, 'Sign in');
    await page.getByRole('link', { name: 'Create an account' }).click();
    await page.getByLabel('Your name').fill('Ana Lopez');
    await page.getByLabel('E-mail').fill(`ana.${stamp}@example.com`);
    await page.getByLabel('Password', { exact: false }).first().fill(PASSWORD);
    await page.getByRole('button', { name: 'Create an account' }).click();
    await heading(page, 'My workspaces');

    await page.getByRole('link', { name: 'Create the first workspace' }).click();
    await heading(page, 'New workspace');
    await page.getByLabel('Name of the client').fill('Northwind 食品');
    await page.getByLabel('Name of the workspace').fill(`Spring ${stamp}`);
    await page.getByRole('button', { name: 'Create workspace' }).click();
    await heading(page, 'Ideas');
    expect(await page.title()).toContain(`Spring ${stamp}`);

    await page.getByRole('link', { name: 'Post the first idea' }).click();
    await page.getByLabel('Title').fill('A tasting table 🍎');
    await page.getByLabel('The idea').fill('Beside the till.\nFirst step: ask Leeds.');
    await page.getByRole('button', { name: 'Post idea' }).click();
    await heading(page, 'A tasting table 🍎');

    await page.getByRole('link', { name: /All ideas of/ }).click();
    await page.getByRole('link', { name: 'Members' }).click();
    await heading(page, 'Members');
    const invited = `bo.${stamp}@example.com`;
    await page.getByLabel('E-mail').fill(invited);
    await page.getByRole('button', { name: 'Create invitation link' }).click();
    const link = await page.getByLabel('Invitation link').inputValue();
    expect(link).toContain('/invite/');
    await page.getByText(invited, { exact: true }).waitFor();
    await page.getByRole('link', { name: 'Ideas', exact: true }).click();
    await page.getByRole('article').getByRole('link', { name: 'A tasting table 🍎' }).waitFor();

    // The second person has no account yet; the invitation survives signing up.
    const bo = await newContext(browser);
    const second = await watchedPage(bo);
    await second.page.goto(new URL(link).pathname);
    await heading(second.page, 'Sign in');
    await second.page.getByText('You have an invitation').waitFor();
    await second.page.getByRole('link', { name: 'Create an account' }).click();
    await second.page.getByLabel('Your name').fill('Bo Chen');
    await second.page.getByLabel('E-mail').fill(invited);
    await second.page.getByLabel('Password', { exact: false }).first().fill(PASSWORD);
    await second.page.getByRole('button', { name: 'Create an account' }).click();
    await heading(second.page, 'Ideas');
    const stars = second.page.getByRole('radiogroup', { name: /A tasting table/ });
    await stars.getByRole('radio', { name: '4 stars: promising' }).click();
    await second.page.getByText('from 1 of 1 members').waitFor();
    expect(await stars.getByRole('radio', { name: /4 stars/ }).getAttribute('aria-checked')).toBe('true');

    // The author's page counts it without being touched.
    await page.getByText('from 1 of 1 members').waitFor();

    // A new idea of the other announces itself and enters on click.
    await second.page.getByRole('link', { name: 'New idea' }).first().click();
    await second.page.getByLabel('Title').fill('Second idea');
    await second.page.getByLabel('The idea').fill('From the other one.');
    await second.page.getByRole('button', { name: 'Post idea' }).click();
    await heading(second.page, 'Second idea');
    await page.getByText('1 new idea').waitFor();
    // Among the ideas it is not yet; the activity beside them may name it.
    expect(await page.getByRole('article').getByRole('link', { name: 'Second idea' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Show', exact: true }).click();
    await page.getByRole('article').getByRole('link', { name: 'Second idea' }).waitFor();
    expect(await focused(page)).toBe('Ideas');

    expect(watch.problems).toEqual([]);
    expect(second.watch.problems).toEqual([]);
    await ana.close();
    await bo.close();
  });
});

describe('an idea', () => {
  it('keeps both texts when two people edit it, and saves the merged one', async () => {
    const ana = await newPerson(browser, 'Ana Lopez');
    const workspaceId = await newWorkspace(ana, 'Conflict');
    const idea = await newIdea(ana, workspaceId, 'Bakers', 'Ask the bakers first.');
    const { page, watch } = await watchedPage(ana.context);
    await page.goto(`/ideas/${idea.id}`);
    await page.getByRole('button', { name: 'Edit idea' }).click();
    await page.getByLabel('The idea').fill('Ask the bakers and the dairies first.');
    await ana.client.ideas.update.mutate({
      id: idea.id,
      version: 1,
      body: { text: 'Ask the chains first.' },
    });
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    const panel = page.getByRole('region', { name: /Somebody saved another version/ });
    await panel.waitFor();
    await panel.getByText('Ask the chains first.').waitFor();
    expect(await panel.textContent()).toContain('dairies');

    await panel.getByRole('button', { name: 'Merge by hand' }).click();
    expect(await page.getByLabel('The idea').inputValue()).toBe('Ask the bakers and the dairies first.');
    await page.getByLabel('The idea').fill('Ask chains, bakers and dairies.');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('article').getByText('Ask chains, bakers and dairies.').waitFor();
    expect((await ana.client.ideas.get.query({ id: idea.id })).version).toBe(3);

    await page.getByRole('link', { name: 'Version 3' }).click();
    await page.getByRole('button', { name: 'Show the text' }).first().click();
    await page.locator('ins', { hasText: 'bakers' }).waitFor();
    await page.locator('del').first().waitFor();
    expect(watch.problems).toEqual([]);
    await ana.context.close();
  });

  it('is declined with a reason, reopened, and removed after a question', async () => {
    const ana = await newPerson(browser, 'Ana Lopez');
    const workspaceId = await newWorkspace(ana, 'Steps');
    const idea = await newIdea(ana, workspaceId, 'Two litres');
    const { page, watch } = await watchedPage(ana.context);
    await page.goto(`/ideas/${idea.id}`);
    await page.getByRole('button', { name: 'Shortlist' }).click();
    await page.getByRole('button', { name: 'Accept' }).waitFor();
    const more = page.getByRole('main').getByRole('button', { name: 'More actions' });
    await more.click();
    await page.getByRole('menuitem', { name: 'Decline' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Decline' }).click();
    await dialog.getByText('Give a reason').waitFor();
    await dialog.getByLabel('Why not?').fill('The chains insist on it.');
    await dialog.getByRole('button', { name: 'Decline' }).click();
    await page.getByText('Reason given: The chains insist on it.').waitFor();
    expect(await focused(page)).toBe('Two litres');

    await more.click();
    await page.getByRole('menuitem', { name: 'Remove' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await heading(page, 'Ideas');
    await page.getByText('The idea was removed.').waitFor();
    expect(watch.problems).toEqual([]);
    await ana.context.close();
  });

  it('is kept while it is written, through a reload and an ended session', async () => {
    const ana = await newPerson(browser, 'Ana Lopez');
    const workspaceId = await newWorkspace(ana, 'Kept');
    const { page, watch } = await watchedPage(ana.context);
    await page.goto(`/w/${workspaceId}/new`);
    await page.getByLabel('Title').fill('Half a thought');
    await page.reload();
    await page.waitForFunction(
      () => document.querySelector<HTMLInputElement>('[name="title"]')?.value !== undefined,
    );
    expect(await page.getByLabel('Title').inputValue()).toBe('Half a thought');

    await page.getByLabel('The idea').fill('And the other half.');
    await ana.context.clearCookies();
    await page.getByRole('button', { name: 'Post idea' }).click();
    await page.getByText('Your session has ended').waitFor();
    await page.getByLabel('E-mail').fill(ana.email);
    await page.getByLabel('Password', { exact: false }).first().fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await heading(page, 'New idea');
    expect(await page.getByLabel('Title').inputValue()).toBe('Half a thought');
    await page.getByRole('button', { name: 'Post idea' }).click();
    await heading(page, 'Half a thought');
    expect(watch.problems).toEqual([]);
    await ana.context.close();
  });

  it('shows a refused rating as it was before', async () => {
    const ana = await newPerson(browser, 'Ana Lopez');
    const bo = await newPerson(browser, 'Bo Chen');
    const workspaceId = await newWorkspace(ana, 'Rollback');
    await join(ana, bo, workspaceId);
    const idea = await newIdea(ana, workspaceId, 'Recipe cards');
    const { page } = await watchedPage(bo.context);
    await page.goto(`/ideas/${idea.id}`);
    const star = page.getByRole('radio', { name: '5 stars: do this now' });
    await star.waitFor();
    await ana.client.ideas.setStatus.mutate({ id: idea.id, version: 1, status: 'archived' });
    await star.click();
    await page.getByRole('alert').getByText('This idea cannot be rated now').waitFor();
    expect(await page.getByRole('radio', { checked: true }).count()).toBe(0);
    await ana.context.close();
    await bo.context.close();
  });

  it('runs nothing that somebody typed, and links only http and https', async () => {
    const ana = await newPerson(browser, 'Ana Lopez');
    const workspaceId = await newWorkspace(ana, 'Untrusted');
    const text = '<img src=x onerror="document.title=1"> javascript:alert(1) **bold** https://example.com/a.';
    const idea = await newIdea(ana, workspaceId, '<b>Title</b>', text);
    const { page, watch } = await watchedPage(ana.context);
    await page.goto(`/ideas/${idea.id}`);
    await heading(page, '<b>Title</b>');
    const links = page.getByRole('article').getByRole('link');
    expect(await links.count()).toBe(1);
    expect(await links.getAttribute('href')).toBe('https://example.com/a');
    expect(await links.getAttribute('rel')).toBe('noopener noreferrer nofollow');
    expect(await page.getByRole('article').locator('img').count()).toBe(0);
    expect(watch.problems).toEqual([]);
    await ana.context.close();
  });
});

describe('the keyboard alone', () => {
  it('finds a workspace, posts, rates and shows its shortcuts', async () => {
    const ana = await newPerson(browser, 'Ana Lopez');
    const bo = await newPerson(browser, 'Bo Chen');
    const name = `Keys ${Date.now()}`;
    const workspaceId = await newWorkspace(ana, name);
    await join(ana, bo, workspaceId);
    const idea = await newIdea(ana, workspaceId, 'By keyboard');
    const { page, watch } = await watchedPage(bo.context);
    await page.goto('/');
    await heading(page, 'My workspaces');
    await page.keyboard.press('Tab');
    expect(await focused(page)).toBe('Skip to content');
    await page.keyboard.press('/');
    await page.getByRole('combobox').waitFor();
    await page.keyboard.type(name);
    await page.getByRole('option', { name }).waitFor();
    await page.keyboard.press('Enter');
    await heading(page, 'Ideas');
    expect(await focused(page)).toBe('Ideas');

    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });

    const link = page.getByRole('link', { name: 'By keyboard' }).first();
    await link.focus();
    await page.keyboard.press('Enter');
    await heading(page, 'By keyboard');
    await page.keyboard.press('4');
    await page.getByText('from 1 of 1 members').waitFor();
    const mine = async () => (await bo.client.ideas.get.query({ id: idea.id })).myRating;
    expect(await mine()).toBe(4);
    await page.getByRole('radio', { name: /4 stars/ }).focus();
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('Space');
    await expect.poll(mine).toBe(3);
    await page.getByRole('button', { name: 'Take my rating back' }).focus();
    await page.keyboard.press('Enter');
    await expect.poll(mine).toBeNull();
    expect(await page.evaluate(() => document.activeElement?.getAttribute('role'))).toBe('radio');

    await page.keyboard.press('n');
    await heading(page, 'New idea');
    await page.getByLabel('Title').focus();
    await page.keyboard.type('n / ? 5');
    expect(await page.getByLabel('Title').inputValue()).toBe('n / ? 5');
    expect(watch.problems).toEqual([]);
    await ana.context.close();
    await bo.context.close();
  });
});

describe('a workspace', () => {
  it('keeps its last owner, changes roles, adds, removes and revokes', async () => {
    const ana = await newPerson(browser, 'Ana Lopez');
    const bo = await newPerson(browser, 'Bo Chen');
    const workspaceId = await newWorkspace(ana, 'People');
    const { page, watch } = await watchedPage(ana.context);
    await page.goto(`/w/${workspaceId}/members`);
    await page.getByRole('button', { name: 'Leave workspace' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Leave workspace' }).click();
    await page.getByRole('alert').getByText('A workspace needs an owner').waitFor();

    await page.getByLabel('E-mail').fill(`nobody.${Date.now()}@example.com`);
    await page.getByRole('button', { name: 'Add directly' }).click();
    await page.getByText('Nobody has an account with this address').waitFor();
    await page.getByRole('button', { name: 'Create an invitation link instead' }).click();
    await page.getByLabel('Invitation link').waitFor();
    await page.getByRole('button', { name: 'Revoke' }).click();
    await page.getByText('No invitation is open.').waitFor();

    await page.getByLabel('E-mail').fill(bo.email);
    await page.getByRole('button', { name: 'Add directly' }).click();
    const role = page.getByRole('combobox', { name: 'Role of Bo Chen' });
    await role.click();
    await page.getByRole('option', { name: 'Viewer' }).click();
    await expect
      .poll(async () => (await bo.client.workspaces.get.query({ id: workspaceId })).role)
      .toBe('viewer');
    const reader = await watchedPage(bo.context);
    for (const form of ['new', 'guidance/new']) {
      await reader.page.goto(`/w/${workspaceId}/${form}`);
      await reader.page.getByText('Your role does not allow this').waitFor();
      expect(await reader.page.getByRole('textbox').count()).toBe(0);
    }

    await reader.page.goto(`/w/${workspaceId}`);
    await reader.page.getByText('Nobody has posted an idea yet.').waitFor();
    await page.getByRole('button', { name: 'Remove Bo Chen' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByText(bo.email).waitFor({ state: 'detached' });
    // Without a touch: the live stream ends, and the page finds out why.
    await reader.page.getByText('This is not here').waitFor();
    expect(watch.problems).toEqual([]);
    expect(reader.watch.problems).toEqual([]);
    await ana.context.close();
    await bo.context.close();
  });

  it('has guidance, a new name, and can be archived and brought back', async () => {
    const ana = await newPerson(browser, 'Ana Lopez');
    const workspaceId = await newWorkspace(ana, 'Old name');
    const { page, watch } = await watchedPage(ana.context);
    await page.goto(`/w/${workspaceId}/guidance`);
    await page.getByRole('link', { name: 'Write the first guidance' }).click();
    await page.getByLabel('Title').fill('What we look for');
    await page.getByLabel('Text').fill('Before May.\n\n不降价。');
    await page.getByRole('button', { name: 'Publish' }).click();
    await heading(page, 'What we look for');
    await page.getByText('不降价。').waitFor();
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    await page.getByLabel('Title').fill('What we look for now');
    await page.getByRole('button', { name: 'Save' }).click();
    await heading(page, 'What we look for now');

    const more = page.getByRole('main').getByRole('button', { name: 'More actions' });
    await more.click();
    await page.getByRole('menuitem', { name: 'Edit workspace' }).click();
    const onMore = () => page.evaluate(() => document.activeElement?.getAttribute('aria-label'));
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await expect.poll(onMore).toBe('More actions');
    await more.click();
    await page.getByRole('menuitem', { name: 'Edit workspace' }).click();
    await page.getByRole('dialog').getByLabel('Name of the workspace').fill('New name');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await expect.poll(onMore).toBe('More actions');
    await page.getByRole('navigation').getByRole('link', { name: 'New name' }).waitFor();
    await more.click();
    await page.getByRole('menuitem', { name: 'Archive workspace' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Archive workspace' }).click();
    await page.getByText('This workspace is archived').waitFor();
    await more.click();
    await page.getByRole('menuitem', { name: 'Bring back' }).click();
    await page.getByText('This workspace is archived').waitFor({ state: 'detached' });
    expect(watch.problems).toEqual([]);
    await ana.context.close();
  });
});

describe('a client', () => {
  it('is renamed, archived when its workspaces are, and brought back, by keys alone', async () => {
    const ana = await newPerson(browser, 'Ana Lopez');
    const workspaceId = await newWorkspace(ana, 'Only one');
    const { page, watch } = await watchedPage(ana.context);
    await page.goto('/');
    const menu = (name: string) => page.getByRole('button', { name: `Actions for ${name}` });
    const press = async (name: string, item: string) => {
      await menu(name).focus();
      await page.keyboard.press('Enter');
      await page.getByRole('menuitem', { name: item }).focus();
      await page.keyboard.press('Enter');
    };
    await menu('Test Foods').waitFor();
    await press('Test Foods', 'Rename client');
    const field = page.getByRole('dialog').getByLabel('Name of the client');
    await expect.poll(() => field.evaluate((element) => document.activeElement === element)).toBe(true);
    await field.fill(' ');
    await page.keyboard.press('Enter');
    await page.getByText('Give it a name of 1 to 120 characters.').waitFor();
    // Renamed elsewhere in the meantime: nothing is overwritten until one says so again.
    const [client] = (await ana.client.clients.list.query({})).items;
    if (!client) throw new Error('the client is not listed');
    await ana.client.clients.update.mutate({ id: client.id, version: 1, name: 'Meanwhile' });
    await field.fill('青禾 Foods 🌱');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('Somebody changed this in the meantime').waitFor();
    expect(await field.inputValue()).toBe('青禾 Foods 🌱');
    await page.getByRole('heading', { level: 2, name: 'Meanwhile', includeHidden: true }).waitFor();
    await field.press('Enter');
    await page.getByRole('heading', { level: 2, name: '青禾 Foods 🌱' }).waitFor();
    await page.getByRole('navigation').getByText('青禾 Foods 🌱').waitFor();
    const label = () => page.evaluate(() => document.activeElement?.getAttribute('aria-label'));
    await expect.poll(label).toBe('Actions for 青禾 Foods 🌱');

    await press('青禾 Foods 🌱', 'Archive client');
    const confirm = page.getByRole('dialog').getByRole('button', { name: 'Archive client' });
    await confirm.press('Enter');
    await page.getByRole('alert').getByText('This client has workspaces').waitFor();

    await ana.client.workspaces.archive.mutate({ id: workspaceId, version: 1 });
    await page.reload();
    await page.getByText('You have no workspace of this client in use.').waitFor();
    await press('青禾 Foods 🌱', 'Archive client');
    await confirm.press('Enter');
    await menu('青禾 Foods 🌱').waitFor({ state: 'detached' });
    await expect.poll(() => focused(page)).toBe('My workspaces');

    await page.getByRole('button', { name: 'Show what is archived' }).press('Enter');
    await page.getByRole('main').getByRole('link', { name: 'Only one' }).waitFor();
    await press('青禾 Foods 🌱', 'Bring client back');
    await menu('青禾 Foods 🌱').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Show what is in use' }).press('Enter');
    await menu('青禾 Foods 🌱').waitFor();
    expect(watch.problems).toEqual([]);
    await ana.context.close();
  });

  it('of somebody else has no menu', async () => {
    const ana = await newPerson(browser, 'Ana Lopez');
    const bo = await newPerson(browser, 'Bo Chen');
    await join(ana, bo, await newWorkspace(ana, 'Shared'));
    await newWorkspace(bo, 'Own');
    await ana.client.clients.update.mutate({
      id: (await ana.client.clients.list.query({})).items[0]?.id ?? '',
      version: 1,
      name: 'Not mine',
    });
    const { page } = await watchedPage(bo.context);
    await page.goto('/');
    await page.getByRole('heading', { level: 2, name: 'Not mine' }).waitFor();
    await page.getByRole('button', { name: 'Actions for Test Foods' }).waitFor();
    expect(await page.getByRole('button', { name: /^Actions for/ }).count()).toBe(1);
    await ana.context.close();
    await bo.context.close();
  });
});

describe('the ranking', () => {
  it('is the same table to those who hear it, wide and on a phone', async () => {
    const person = await demoPerson(browser);
    const { items } = await person.client.workspaces.list.query({ limit: 100 });
    const workspace = items.toSorted((a, b) => b.ideaCount - a.ideaCount)[0];
    if (!workspace) throw new Error('the demo has no workspace');
    const ranking = await person.client.ideas.ranking.query({ workspaceId: workspace.id, limit: 50 });
    const { page } = await watchedPage(person.context);
    await page.goto(`/w/${workspace.id}/ranking`);
    await page.getByRole('table').waitFor();
    const wide = await heardTable(page);
    expect(wide.name).toBe('Ranking');
    expect(wide.columns.map((name) => name.split(',')[0])).toEqual([
      'Rank',
      'Idea',
      'Score',
      'Rated by',
      'Mine',
    ]);
    const ideas = wide.rows.filter((row) => row.cells.length > 0);
    expect(ideas.map((row) => row.cells.length)).toEqual(ranking.items.map(() => COLUMNS - 1));
    expect(
      ideas.map((row) => row.header.startsWith(ranking.items[ideas.indexOf(row)]?.title ?? '?')),
    ).toEqual(ranking.items.map(() => true));
    expect(ideas.map((row) => row.cells[0])).toEqual(ranking.items.map((i) => String(i.rank)));
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await heardTable(page)).toEqual(wide);
    await person.context.close();
  });

  it('shows order, interval, coverage and brackets of the demo', async () => {
    const person = await demoPerson(browser);
    const { items } = await person.client.workspaces.list.query({ limit: 100 });
    const workspace = items.toSorted((a, b) => b.ideaCount - a.ideaCount)[0];
    if (!workspace) throw new Error('the demo has no workspace');
    const ranking = await person.client.ideas.ranking.query({ workspaceId: workspace.id, limit: 50 });
    const { page, watch } = await watchedPage(person.context);
    await page.goto(`/w/${workspace.id}/ranking`);
    await page.getByRole('table').waitFor();
    expect(await page.locator('tbody th[scope="row"] a').allInnerTexts()).toEqual(
      ranking.items.map((i) => i.title),
    );
    await page
      .getByText(/^\d\.\d from \d+ of \d+ members$/)
      .first()
      .waitFor();
    await page
      .getByRole('img', { name: /^Score \d\.\d of 5, probably between/ })
      .first()
      .waitFor();
    const sizes = new Map<number, number>();
    for (const { band } of ranking.items) sizes.set(band, (sizes.get(band) ?? 0) + 1);
    const close = [...sizes.values()].filter((n) => n > 1).length;
    expect(await page.getByText('too close to call', { exact: true }).count()).toBe(close);
    expect(watch.problems).toEqual([]);
    await person.context.close();
  });
});

describe('languages, sizes and trouble', () => {
  it('speaks Chinese to a Chinese browser, and keeps a choice', async () => {
    const li = await newPerson(browser, 'Li Na', { locale: 'zh-CN' });
    const { page, watch } = await watchedPage(li.context);
    await page.goto('/');
    await heading(page, '我的工作区');
    expect(await page.locator('html').getAttribute('lang')).toBe('zh-CN');
    await expect.poll(async () => (await li.client.me.get.query()).locale).toBe('zh');
    await page.goto('/me');
    await page.getByText('English', { exact: true }).click();
    await page.getByText('Sign out').first().waitFor();
    expect(await page.locator('html').getAttribute('lang')).toBe('en');
    await expect.poll(async () => (await li.client.me.get.query()).locale).toBe('en');
    await page.reload();
    await page.getByText('Sign out').first().waitFor();
    expect(watch.problems).toEqual([]);
    await li.context.close();
  });

  it('fits a phone, with the bottom bar beside the work', async () => {
    const person = await demoPerson(browser, { viewport: { width: 390, height: 844 }, hasTouch: true });
    const { page, watch } = await watchedPage(person.context);
    await page.goto('/');
    await heading(page, 'My workspaces');
    await page.getByRole('main').getByRole('link').nth(1).click();
    await heading(page, 'Ideas');
    for (const tab of ['Ranking', 'Guidance', 'Members', 'Ideas']) {
      await page.getByRole('link', { name: tab, exact: true }).click();
      await heading(page, tab);
      await page.waitForFunction(() => document.querySelector('[aria-busy="true"]') === null);
      const tooWide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      expect(tooWide, tab).toBe(0);
      // The end of the page can be scrolled above the bar.
      const covered = await page.evaluate(() => {
        window.scrollTo(0, document.documentElement.scrollHeight);
        const last = document.querySelector('main > :last-child')?.getBoundingClientRect().bottom ?? 0;
        const bar = [...document.querySelectorAll('nav')].at(-1)?.getBoundingClientRect().top ?? 0;
        return last - bar;
      });
      expect(covered, tab).toBeLessThanOrEqual(0);
    }
    await page.getByRole('link', { name: 'My work' }).click();
    await heading(page, 'My work');
    await page.getByRole('link', { name: 'Me', exact: true }).click();
    await page.getByText('Appearance').waitFor();
    expect(watch.problems).toEqual([]);
    await person.context.close();
  });

  it('names the store that does not answer, and recovers by a click', async () => {
    const person = await demoPerson(browser);
    const { items } = await person.client.workspaces.list.query({});
    const { page } = await watchedPage(person.context);
    await page.route('**/trpc/**ideas.list*', (route) =>
      route.fulfill({
        status: 503,
        contentType: 'application/json',
        body: JSON.stringify(
          new URL(route.request().url()).pathname
            .replace('/trpc/', '')
            .split(',')
            .map(() => ({
              error: {
                message: 'away',
                code: -32603,
                data: {
                  code: 'SERVICE_UNAVAILABLE',
                  httpStatus: 503,
                  reason: 'STORE_UNAVAILABLE',
                  store: 'cloudant',
                },
              },
            })),
        ),
      }),
    );
    await page.goto(`/w/${items[0]?.id}`);
    await page.getByRole('alert').getByText('The document store (Cloudant) does not answer').waitFor();
    await page.unrouteAll();
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('article').first().waitFor();
    await person.context.close();
  });

  it('says quietly that live updates are interrupted, and catches up when the network is back', async () => {
    const ana = await newPerson(browser, 'Ana Lopez');
    const bo = await newPerson(browser, 'Bo Chen');
    const workspaceId = await newWorkspace(ana, 'Offline');
    await join(ana, bo, workspaceId);
    await newIdea(ana, workspaceId, 'Before');
    const { page } = await watchedPage(bo.context);
    await page.goto(`/w/${workspaceId}`);
    await page.getByRole('link', { name: 'Before' }).first().waitFor();
    await bo.context.setOffline(true);
    await page.reload().catch(() => {});
    await bo.context.setOffline(false);
    await page.goto(`/w/${workspaceId}`);
    await page.getByRole('link', { name: 'Before' }).first().waitFor();
    const reconnecting = page.getByRole('navigation').getByText('Reconnecting');
    await page.route('**/trpc/activity.live*', (route) => route.abort());
    await page.evaluate(() => window.dispatchEvent(new Event('online')));
    await reconnecting.waitFor();
    await newIdea(ana, workspaceId, 'Meanwhile');
    await page.unrouteAll();
    await page.evaluate(() => window.dispatchEvent(new Event('online')));
    await reconnecting.waitFor({ state: 'detached' });
    await page.getByRole('article').getByRole('link', { name: 'Meanwhile' }).waitFor();
    await ana.context.close();
    await bo.context.close();
  });

  it('leads home from an address without a page', async () => {
    const person = await demoPerson(browser);
    const { page, watch } = await watchedPage(person.context);
    await page.goto('/nowhere/at/all');
    await heading(page, 'There is no page at this address');
    await page.getByRole('main').getByRole('link', { name: 'Go to my workspaces' }).click();
    await heading(page, 'My workspaces');
    expect(watch.problems).toEqual([]);
    await person.context.close();
  });
});
