import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Cloudant, openCloudant, type ViewRow } from '../src/index.ts';
import { json, openTestCloudant, startStub } from './support.ts';

// The sample documents of the system that Sparkroom grew out of, and some that must not get in their way.
const samples = [
  { _id: 'client0_id', name: 'client0', type: 'client' },
  { _id: 'workspace0_id', name: 'workspace0', type: 'workspace', clientId: 'client0_id' },
  { _id: 'workspace1_id', name: 'workspace1', type: 'workspace', clientId: 'client1_id' },
  { _id: 'user0_id', username: 'user0', type: 'user' },
  {
    _id: 'user_workspace_rel0_id',
    userId: 'user0_id',
    workspaceId: 'workspace0_id',
    type: 'user_workspace_rel',
  },
  {
    _id: 'user_workspace_rel1_id',
    userId: 'user0_id',
    workspaceId: 'workspace1_id',
    type: 'user_workspace_rel',
  },
];
const others = [
  { _id: 'user0_id2', username: 'user02', type: 'user' },
  { _id: 'user0_i', username: 'user0i', type: 'user' },
  { _id: 'USER0_ID', username: 'USER0', type: 'user' },
  { _id: 'rel_a', userId: 'user0_id2', workspaceId: 'workspace0_id', type: 'user_workspace_rel' },
  { _id: 'rel_b', userId: 'user0_i', workspaceId: 'workspace0_id', type: 'user_workspace_rel' },
  { _id: 'rel_c', userId: 'USER0_ID', workspaceId: 'workspace0_id', type: 'user_workspace_rel' },
  { _id: 'rel_d', userId: 'nobody_id', workspaceId: 'workspace9_id', type: 'user_workspace_rel' },
  { _id: 'rel_e', workspaceId: 'workspace0_id', type: 'user_workspace_rel' },
  { _id: 'client_username', username: 'user0', type: 'client' },
  { _id: 'workspace_bare', name: 'bare', type: 'workspace' },
];

let cloudant: Cloudant;
let dispose: () => Promise<void>;
beforeAll(async () => {
  ({ cloudant, dispose } = await openTestCloudant());
  const rows = await cloudant.legacy.putMany([...samples, ...others]);
  expect(rows.filter((row) => row.error !== undefined)).toEqual([]);
  await cloudant.deploy();
});
afterAll(() => dispose());

const withoutRev = (row: ViewRow<object>) => {
  if (row.doc === null) return null;
  const { _rev, ...doc } = row.doc as Record<string, unknown>;
  expect(_rev).toEqual(expect.any(String));
  return doc;
};

describe('client of a workspace (S2)', () => {
  it('is one row with the client as its document', async () => {
    const rows = await cloudant.legacy.clientOfWorkspace('workspace0_id');
    expect(rows.map(withoutRev)).toEqual([samples[0]]);
    expect(rows[0]).toMatchObject({
      id: 'workspace0_id',
      key: 'workspace0_id',
      value: { _id: 'client0_id' },
    });
  });

  it('is a row without document when the client is missing', async () => {
    const rows = await cloudant.legacy.clientOfWorkspace('workspace1_id');
    expect(rows).toEqual([
      { id: 'workspace1_id', key: 'workspace1_id', value: { _id: 'client1_id' }, doc: null },
    ]);
  });

  it('is no row for an unknown workspace, another kind of document, or a workspace that names no client', async () => {
    for (const id of ['nothing', 'client0_id', 'workspace_bare', 'WORKSPACE0_ID']) {
      expect(await cloudant.legacy.clientOfWorkspace(id)).toEqual([]);
    }
  });
});

describe('user with workspaces (S3)', () => {
  it('is three rows in order: the user, then the two workspaces', async () => {
    const rows = await cloudant.legacy.userWithWorkspaces('user0_id');
    expect(rows.map(withoutRev)).toEqual([samples[3], samples[1], samples[2]]);
    expect(rows.map((row) => row.key)).toEqual([
      ['user0_id', 0],
      ['user0_id', 1],
      ['user0_id', 1],
    ]);
  });

  it.each(['user0_id2', 'user0_i', 'USER0_ID'])('is only the own rows for %s', async (userId) => {
    const rows = await cloudant.legacy.userWithWorkspaces(userId);
    expect(rows.map((row) => row.key)).toEqual([
      [userId, 0],
      [userId, 1],
    ]);
    expect(rows.map((row) => row.doc?._id)).toEqual([userId, 'workspace0_id']);
  });

  it.each(['user0_id', 'user0_i'])(
    'asks for a range in which the server has nobody else: %s',
    async (userId) => {
      const rows = await cloudant
        .database('legacy')
        .view('user-with-workspaces', 'documents', { startkey: [userId], endkey: [userId, 1] });
      expect(rows.length).toBeGreaterThan(1);
      expect(rows.every((row) => (row.key as unknown[])[0] === userId)).toBe(true);
    },
  );

  it('says null for a workspace that is missing, and has no first row when the user is', async () => {
    expect(await cloudant.legacy.userWithWorkspaces('nobody_id')).toEqual([
      { id: 'rel_d', key: ['nobody_id', 1], value: { _id: 'workspace9_id' }, doc: null },
    ]);
    expect(await cloudant.legacy.userWithWorkspaces('user0')).toEqual([]);
  });

  it('says null for a workspace that was deleted', async () => {
    await cloudant.legacy.putMany([
      { _id: 'workspace_gone', type: 'workspace', name: 'gone', clientId: 'client0_id' },
      { _id: 'rel_gone', userId: 'user_gone', workspaceId: 'workspace_gone', type: 'user_workspace_rel' },
    ]);
    const database = cloudant.database('legacy');
    const gone = await database.get('workspace_gone');
    expect(await database.delete('workspace_gone', gone?._rev ?? '')).toBe(true);
    expect((await cloudant.legacy.userWithWorkspaces('user_gone')).map((row) => row.doc)).toEqual([null]);
  });
});

describe('user by name (S4)', () => {
  it('finds the user, and only users', async () => {
    const users = await cloudant.legacy.findUserByUsername('user0');
    expect(users.map(({ _rev, ...user }) => user)).toEqual([samples[3]]);
    expect(await cloudant.legacy.findUserByUsername('User0')).toEqual([]);
  });

  it('uses the index and scans nothing', async () => {
    const { index } = await cloudant.legacy.explainUserByUsername('user0');
    expect(index).toMatchObject({ ddoc: '_design/user-by-username', name: 'type-username', type: 'json' });
  });
});

describe('rows of other ids that the collation takes for equal', () => {
  it('are dropped', async () => {
    // CouchDB's collation does this; the embedded server's does not, so a server that answers so stands in.
    const composed = 'ren\u00e9';
    const decomposed = 'rene\u0301';
    const server = await startStub((response, index) =>
      json(response, 200, {
        rows: [composed, decomposed].map((id) => ({
          id,
          key: index === 0 ? [id, 0] : id,
          value: {},
          doc: { _id: id },
        })),
      }),
    );
    const stubbed = openCloudant({ url: server.url, prefix: 'p' });
    try {
      const rows = await stubbed.legacy.userWithWorkspaces(composed);
      expect(rows.map((row) => row.id)).toEqual([composed]);
      const asked = new URL(server.requests[0]?.path ?? '', server.url).searchParams;
      expect(Object.fromEntries(asked)).toEqual({
        startkey: JSON.stringify([composed]),
        endkey: JSON.stringify([composed, 1]),
        include_docs: 'true',
      });
      expect((await stubbed.legacy.clientOfWorkspace(composed)).map((row) => row.id)).toEqual([composed]);
    } finally {
      await stubbed.close();
      await server.close();
    }
  });
});
