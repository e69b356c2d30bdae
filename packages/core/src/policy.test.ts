import { IdeaStatus, Role } from '@sparkroom/contract';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Actor } from './core.ts';
import { DomainError } from './errors.ts';
import {
  allows,
  ideaTransitions,
  mayEditClient,
  mayEditGuidance,
  mayEditIdea,
  mayRateAtAll,
  mayRateIdea,
  mayRemoveIdea,
  maySeeClient,
  maySeeIdea,
  reachableStatuses,
  requireOpen,
  requireRole,
  type WorkspaceAction,
} from './policy.ts';

const me: Actor = { userId: 'me', platformRole: 'user', requestId: 'r' };
const admin: Actor = { ...me, platformRole: 'admin' };
const roles = Role.options;
const statuses = IdeaStatus.options;
const actions: WorkspaceAction[] = [
  'workspace.read',
  'workspace.edit',
  'members.manage',
  'idea.post',
  'idea.rate',
  'guidance.write',
];

/** y or n for owner, editor, member, viewer. */
const table: Record<WorkspaceAction, string> = {
  'workspace.read': 'yyyy',
  'workspace.edit': 'ynnn',
  'members.manage': 'ynnn',
  'idea.post': 'yyyn',
  'idea.rate': 'yyyn',
  'guidance.write': 'yynn',
};

const reasonOf = (call: () => void): string => {
  try {
    call();
    return 'allowed';
  } catch (error) {
    return error instanceof DomainError ? error.reason : String(error);
  }
};

describe('what a role may in its workspace', () => {
  test.each(actions)('%s', (action) => {
    expect(roles.map((role) => (allows(role, action) ? 'y' : 'n')).join('')).toBe(table[action]);
    for (const role of roles) {
      expect(reasonOf(() => requireRole(role, action))).toBe(
        allows(role, action) ? 'allowed' : 'ROLE_REQUIRED',
      );
    }
  });

  test('without a membership nothing is allowed, and the thing does not exist', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...actions),
        fc.constantFrom(null, undefined),
        fc.constantFrom('workspace' as const, 'idea' as const, 'guidance' as const),
        (action, role, what) => {
          expect(allows(role, action)).toBe(false);
          expect(reasonOf(() => requireRole(role, action, what))).toBe('NOT_FOUND');
        },
      ),
    );
    fc.assert(
      fc.property(fc.constantFrom(...statuses), fc.constantFrom('me', 'other'), (status, authorId) => {
        for (const actor of [me, admin]) {
          expect(maySeeIdea(actor, null, { authorId, status })).toBe(false);
          expect(maySeeIdea(actor, undefined, { authorId, status })).toBe(false);
        }
      }),
    );
  });

  test('an archived workspace is closed', () => {
    expect(reasonOf(() => requireOpen(null))).toBe('allowed');
    expect(reasonOf(() => requireOpen('2026-01-01 00:00:00.000000'))).toBe('WORKSPACE_ARCHIVED');
  });
});

/** Rights over an idea: own or another's, by status in the order of the contract, each as a word. */
describe('what may be done with an idea', () => {
  const rights = (role: Role, own: boolean): string =>
    statuses
      .map((status) => {
        const idea = { authorId: own ? 'me' : 'other', status };
        return [
          maySeeIdea(me, role, idea) ? 's' : '-',
          mayEditIdea(me, role, idea) ? 'e' : '-',
          mayRemoveIdea(me, role, idea) ? 'x' : '-',
          mayRateIdea(role, idea) ? 'r' : '-',
        ].join('');
      })
      .join(' ');

  test.each<[Role, boolean, string]>([
    // s see, e edit, x remove, r rate: draft, open, shortlisted, accepted, declined, archived
    ['owner', true, 'sex- sexr sexr sex- sex- s-x-'],
    ['owner', false, '---- sexr sexr sex- sex- s-x-'],
    ['editor', true, 'sex- sexr se-r se-- se-- s---'],
    ['editor', false, '---- se-r se-r se-- se-- s---'],
    ['member', true, 'sex- sexr se-r se-- se-- s---'],
    ['member', false, '---- s--r s--r s--- s--- s---'],
    ['viewer', true, 's--- s--- s--- s--- s--- s---'],
    ['viewer', false, '---- s--- s--- s--- s--- s---'],
  ])('%s, own: %s', (role, own, expected) => {
    expect(rights(role, own)).toBe(expected);
  });

  const steps = (role: Role, own: boolean): string =>
    statuses
      .map((status) =>
        reachableStatuses(me, role, { authorId: own ? 'me' : 'other', status })
          .map((s) => s.slice(0, 2))
          .join('+'),
      )
      .map((s) => s || '-')
      .join(' ');

  test.each<[Role, boolean, string]>([
    ['owner', true, 'op sh+ac+de+ar ac+de+op+ar sh+ar op+ar op'],
    ['owner', false, '- sh+ac+de+ar ac+de+op+ar sh+ar op+ar op'],
    ['editor', true, 'op sh+ac+de+ar ac+de+op+ar sh+ar op+ar op'],
    ['editor', false, '- sh+ac+de+ar ac+de+op+ar sh+ar op+ar op'],
    ['member', true, 'op ar - - - -'],
    ['member', false, '- - - - - -'],
    ['viewer', true, '- - - - - -'],
    ['viewer', false, '- - - - - -'],
  ])('steps of %s, own: %s', (role, own, expected) => {
    expect(steps(role, own)).toBe(expected);
  });

  test('the life of an idea: nothing becomes a draft again, and every status can be left', () => {
    for (const status of statuses) {
      const next = ideaTransitions[status].map(({ to }) => to);
      expect(next).not.toContain('draft');
      expect(next).not.toContain(status);
      expect(next.length).toBeGreaterThan(0);
      expect(new Set(next).size).toBe(next.length);
    }
  });

  test('who cannot see it can do nothing with it', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...roles),
        fc.constantFrom(...statuses),
        fc.constantFrom('me', 'other'),
        (role, status, authorId) => {
          const idea = { authorId, status };
          if (maySeeIdea(me, role, idea)) return;
          expect(mayEditIdea(me, role, idea)).toBe(false);
          expect(mayRemoveIdea(me, role, idea)).toBe(false);
          expect(reachableStatuses(me, role, idea)).toEqual([]);
        },
      ),
    );
  });

  test('all but viewers count as raters', () => {
    expect(roles.filter(mayRateAtAll)).toEqual(['owner', 'editor', 'member']);
  });
});

describe('clients and guidance', () => {
  test('a client is seen by its creator, by who shares a workspace of it, and by the admin', () => {
    const foreign = { created_by: 'other', my_workspaces: '0' };
    expect(maySeeClient(me, foreign)).toBe(false);
    expect(maySeeClient(admin, foreign)).toBe(true);
    expect(maySeeClient(me, { ...foreign, my_workspaces: '1' })).toBe(true);
    expect(maySeeClient(me, { ...foreign, my_workspaces: null })).toBe(false);
    expect(maySeeClient(me, { created_by: 'me', my_workspaces: 0 })).toBe(true);
    expect(maySeeClient(me, { created_by: null, my_workspaces: 0n })).toBe(false);
    expect([mayEditClient(me, foreign), mayEditClient(admin, foreign)]).toEqual([false, true]);
    expect(mayEditClient(me, { created_by: 'me' })).toBe(true);
  });

  test('guidance is changed by owners, and by its author while owner or editor', () => {
    const own = { authorId: 'me' };
    const other = { authorId: 'other' };
    expect(roles.filter((role) => mayEditGuidance(me, role, own))).toEqual(['owner', 'editor']);
    expect(roles.filter((role) => mayEditGuidance(me, role, other))).toEqual(['owner']);
  });
});
