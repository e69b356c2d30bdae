import { matchRoutes, type RouteObject } from 'react-router';
import { expect, it, vi } from 'vitest';
import { type Subjects, screens } from '../scripts/screens.ts';
import { routes } from './routes.tsx';

// Only the addresses matter here; the frame would want a browser.
vi.mock('./session/signed-in.tsx', () => ({ SignedIn: null }));
vi.mock('./shell/crash-page.tsx', () => ({ CrashPage: null }));
vi.mock('./shell/starting.tsx', () => ({ Starting: null }));

const subjects: Subjects = {
  workspaceId: 'w1',
  ideaId: 'i1',
  revisedIdeaId: 'i2',
  guidanceId: 'g1',
  emptyWorkspaceId: 'w2',
  longWorkspaceId: 'w3',
  longIdeaId: 'i3',
  invitation: { valid: 't1', used: 't2', other: 't3' },
};

/** Addresses as they are written in the routes, of every page that is not only a frame. */
function pagesOf(all: readonly RouteObject[], base = ''): string[] {
  return all.flatMap((route) => {
    const path = route.path?.startsWith('/') ? route.path : `${base}/${route.path ?? ''}`;
    const here = path.replaceAll(/\/+/g, '/').replace(/(.)\/$/, '$1');
    return route.children ? pagesOf(route.children, here) : [here];
  });
}

/** The page that an address leads to, as it is written in the routes. */
function pageOf(address: string): string {
  const matches = matchRoutes(routes, new URL(address, 'http://localhost').pathname) ?? [];
  return `/${matches.map((m) => m.route.path ?? '').join('/')}`
    .replaceAll(/\/+/g, '/')
    .replace(/(.)\/$/, '$1');
}

it('every page has a screen that is looked at and checked', () => {
  const shown = new Set(screens.map((screen) => pageOf(screen.path(subjects))));
  expect(pagesOf(routes).filter((page) => !shown.has(page))).toEqual([]);
  expect(pagesOf(routes)).toContain('/w/:workspaceId/guidance/:guidanceId');
});

it('only the screen of a missing page leads to no page', () => {
  const lost = screens.filter((screen) => pageOf(screen.path(subjects)) === '/*').map((s) => s.name);
  expect(lost).toEqual(['not-found']);
});

it('names each screen once', () => {
  const names = screens.map((screen) => screen.name);
  expect(names.length).toBe(new Set(names).size);
});
