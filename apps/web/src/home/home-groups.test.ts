import type { Client, WorkspaceSummary } from '@sparkroom/contract';
import { expect, it } from 'vitest';
import { homeGroups } from './home-groups.ts';

const client = (id: string, mayEdit: boolean): Client => ({
  id,
  name: `Client ${id}`,
  version: 1,
  workspaceCount: 0,
  archivedAt: null,
  createdAt: '2026-11-30T12:00:00Z',
  mayEdit,
});
const workspace = (id: string, clientId: string): WorkspaceSummary => ({
  id,
  name: id,
  client: { id: clientId, name: `Client ${clientId}` },
  role: 'owner',
  version: 1,
  memberCount: 1,
  ideaCount: 0,
  archivedAt: null,
  createdAt: '2026-11-30T12:00:00Z',
  mayPost: true,
});

it('puts workspaces under their clients, then own clients without any; a menu only where I may change it', () => {
  const groups = homeGroups(
    [workspace('w1', 'b'), workspace('w2', 'a'), workspace('w3', 'b')],
    [client('a', true), client('b', false), client('c', true), client('d', false)],
  );
  expect(groups.map((g) => [g.id, g.workspaces.map((w) => w.id), g.client?.id ?? null])).toEqual([
    ['b', ['w1', 'w3'], null],
    ['a', ['w2'], 'a'],
    ['c', [], 'c'],
  ]);
});
