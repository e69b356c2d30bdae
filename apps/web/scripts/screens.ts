import type { Page } from 'playwright-core';

/** What there is to show, found on the site before the pictures are taken. */
export interface Subjects {
  workspaceId: string;
  ideaId: string;
  /** An idea with more than one version, where there is one. */
  revisedIdeaId: string;
  guidanceId: string | null;
  /** Belongs to an account without anything else in it. */
  emptyWorkspaceId: string;
  /** Holds ideas with very long words. */
  longWorkspaceId: string;
  longIdeaId: string;
  /** Tokens of invitations for the demo account, and one for somebody else. */
  invitation: { valid: string; used: string; other: string };
}

export interface Screen {
  name: string;
  /** `demo`: a demo account; `fresh`: an account with an empty and a long-worded workspace; `none`: signed out. */
  as: 'demo' | 'fresh' | 'none';
  path(subjects: Subjects): string;
  /** Brings the page into the state to be shown. */
  prepare?(page: Page): Promise<void>;
  /** Answers calls of this procedure with "store unavailable". */
  failing?: string;
  /** Never answers calls of this procedure: the waiting itself is to be seen. */
  waiting?: string;
}

const refused = async (page: Page) => {
  await page.getByRole('alert').waitFor();
};

const press = (key: string) => async (page: Page) => {
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.keyboard.press(key);
  await page.getByRole('dialog').waitFor();
};

/** Opens the menu of the page, or of a part of it, and chooses an item by its place. */
const choose = (item: 'first' | 'last', button = 'main header button[aria-haspopup="menu"]') =>
  async function open(page: Page) {
    await page.locator(button).first().click();
    await page.getByRole('menuitem')[item]().click();
    await page.getByRole('dialog').waitFor();
  };

/** The menu of the first client that the person may change. */
const CLIENT_MENU = 'main section button[aria-haspopup="menu"]';

/** Every screen of the app: pages, and what opens upon them. */
export const screens: readonly Screen[] = [
  { name: 'sign-in', as: 'none', path: () => '/sign-in' },
  { name: 'session-expired', as: 'none', path: () => '/sign-in?expired=1' },
  { name: 'sign-up', as: 'none', path: () => '/sign-up' },
  { name: 'invite-signed-out', as: 'none', path: (s) => `/invite/${s.invitation.valid}` },
  {
    name: 'invite',
    as: 'demo',
    path: (s) => `/invite/${s.invitation.valid}`,
    waiting: 'invitations.accept',
  },
  { name: 'invite-used', as: 'demo', path: (s) => `/invite/${s.invitation.used}`, prepare: refused },
  { name: 'invite-other', as: 'demo', path: (s) => `/invite/${s.invitation.other}`, prepare: refused },
  { name: 'home', as: 'demo', path: () => '/' },
  { name: 'client-rename', as: 'fresh', path: () => '/', prepare: choose('first', CLIENT_MENU) },
  { name: 'client-archive', as: 'fresh', path: () => '/', prepare: choose('last', CLIENT_MENU) },
  { name: 'ideas', as: 'demo', path: (s) => `/w/${s.workspaceId}` },
  { name: 'ranking', as: 'demo', path: (s) => `/w/${s.workspaceId}/ranking` },
  { name: 'guidance', as: 'demo', path: (s) => `/w/${s.workspaceId}/guidance` },
  {
    name: 'guidance-read',
    as: 'demo',
    path: (s) => `/w/${s.workspaceId}/guidance${s.guidanceId ? `/${s.guidanceId}` : ''}`,
  },
  { name: 'guidance-new', as: 'demo', path: (s) => `/w/${s.workspaceId}/guidance/new` },
  { name: 'members', as: 'demo', path: (s) => `/w/${s.workspaceId}/members` },
  { name: 'workspace-edit', as: 'fresh', path: (s) => `/w/${s.emptyWorkspaceId}`, prepare: choose('first') },
  {
    name: 'workspace-archive',
    as: 'fresh',
    path: (s) => `/w/${s.emptyWorkspaceId}`,
    prepare: choose('last'),
  },
  { name: 'idea', as: 'demo', path: (s) => `/ideas/${s.ideaId}` },
  { name: 'idea-edit', as: 'demo', path: (s) => `/ideas/${s.ideaId}?edit=1` },
  {
    name: 'idea-conflict',
    as: 'demo',
    path: (s) => `/ideas/${s.ideaId}?edit=1`,
    prepare: async (page) => {
      await page.route('**/trpc/ideas.update*', (route) =>
        route.fulfill({
          status: 409,
          contentType: 'application/json',
          body: JSON.stringify([
            {
              error: {
                message: 'stale',
                code: -32009,
                data: { code: 'CONFLICT', httpStatus: 409, reason: 'VERSION_CONFLICT', currentVersion: 9 },
              },
            },
          ]),
        }),
      );
      const text = page.locator('textarea[name="text"]');
      await text.fill(`${await text.inputValue()} One more sentence.`);
      await page.locator('form button[type="submit"]').click();
      await page.getByRole('alert').waitFor();
    },
  },
  {
    name: 'history',
    as: 'demo',
    path: (s) => `/ideas/${s.revisedIdeaId}/history`,
    prepare: async (page) => {
      await page.locator('ol button[aria-expanded]').first().click();
    },
  },
  { name: 'idea-new', as: 'demo', path: (s) => `/w/${s.workspaceId}/new` },
  {
    name: 'idea-new-faults',
    as: 'fresh',
    path: (s) => `/w/${s.emptyWorkspaceId}/new`,
    prepare: async (page) => {
      await page.locator('form button[type="submit"]').click();
    },
  },
  { name: 'choose-workspace', as: 'demo', path: () => '/new' },
  { name: 'workspace-new', as: 'demo', path: () => '/workspaces/new' },
  { name: 'work', as: 'demo', path: () => '/work' },
  { name: 'me', as: 'demo', path: () => '/me' },
  { name: 'finder', as: 'demo', path: () => '/', prepare: press('/') },
  { name: 'shortcuts', as: 'demo', path: () => '/', prepare: press('?') },
  {
    name: 'me-menu',
    as: 'demo',
    path: () => '/',
    prepare: async (page) => {
      // In the rail only; a phone has a page of its own for it.
      const button = page.locator('nav button[aria-haspopup="dialog"]');
      if (await button.isVisible()) {
        await button.click();
        await page.getByRole('dialog').waitFor();
      }
    },
  },
  {
    name: 'idea-menu',
    as: 'demo',
    path: (s) => `/ideas/${s.ideaId}`,
    prepare: async (page) => {
      await page.locator('main button[aria-haspopup="menu"]').click();
      await page.getByRole('menu').waitFor();
    },
  },
  { name: 'not-found', as: 'demo', path: () => '/nowhere' },
  {
    name: 'crash',
    as: 'demo',
    path: () => '/me',
    prepare: async (page) => {
      // As after an update of the site: the code of the next page is not there any more.
      await page.route('**/assets/work-page*', (route) => route.fulfill({ status: 404 }));
      await page.locator('a[href="/work"]').locator('visible=true').click();
      await page.getByRole('alert').waitFor();
    },
  },
  { name: 'empty-ideas', as: 'fresh', path: (s) => `/w/${s.emptyWorkspaceId}` },
  { name: 'empty-ranking', as: 'fresh', path: (s) => `/w/${s.emptyWorkspaceId}/ranking` },
  { name: 'empty-guidance', as: 'fresh', path: (s) => `/w/${s.emptyWorkspaceId}/guidance` },
  { name: 'empty-work', as: 'fresh', path: () => '/work' },
  { name: 'empty-home', as: 'fresh', path: () => '/?archived=1' },
  { name: 'long-ideas', as: 'fresh', path: (s) => `/w/${s.longWorkspaceId}` },
  { name: 'long-ranking', as: 'fresh', path: (s) => `/w/${s.longWorkspaceId}/ranking` },
  { name: 'long-idea', as: 'fresh', path: (s) => `/ideas/${s.longIdeaId}` },
  { name: 'error-store', as: 'demo', path: (s) => `/w/${s.workspaceId}`, failing: 'ideas.list' },
  { name: 'error-missing', as: 'demo', path: () => '/ideas/nothing-here' },
];
