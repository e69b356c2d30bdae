import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type BodyInput, type Cloudant, openCloudant } from '../src/index.ts';
import { json, openTestCloudant, startStub } from './support.ts';

let cloudant: Cloudant;
let dispose: () => Promise<void>;
beforeAll(async () => {
  ({ cloudant, dispose } = await openTestCloudant());
});
afterAll(() => dispose());

let count = 0;
function input(version = 1, overrides: Partial<BodyInput> = {}): BodyInput {
  count += 1;
  return {
    id: `idea${count}`,
    type: 'idea',
    workspaceId: 'workspace0_id',
    version,
    body: { text: `Text ${count} v${version}` },
    ...overrides,
  };
}

describe('apply', () => {
  it('stores a body flat, gives it back apart, and keeps every version', async () => {
    const first = input(1, {
      body: { text: '第一个想法 🎉', links: [{ url: 'https://example.com' }], none: null },
    });
    const stored = await cloudant.bodies.apply(first);
    expect(stored.applied).toBe(true);
    expect(await cloudant.database('bodies').get(first.id)).toEqual({
      _id: first.id,
      _rev: stored.rev,
      type: 'idea',
      workspaceId: 'workspace0_id',
      appliedVersion: 1,
      ...first.body,
    });
    const second = { ...first, version: 2, body: { text: 'better' } };
    expect((await cloudant.bodies.apply(second)).applied).toBe(true);
    expect(await cloudant.bodies.get(first.id)).toEqual({
      id: first.id,
      type: 'idea',
      workspaceId: 'workspace0_id',
      appliedVersion: 2,
      body: { text: 'better' },
    });
    expect(await cloudant.bodies.revisions(first.id, [1, 2, 3])).toEqual(
      new Map<number, unknown>([
        [1, first.body],
        [2, second.body],
      ]),
    );
    expect(await cloudant.database('bodies').get(`${first.id}.r0000000001`)).toMatchObject({
      type: 'revision',
      of: first.id,
      version: 1,
    });
  });

  it('refuses the same and older versions, and takes a gap', async () => {
    const five = input(5);
    const { rev } = await cloudant.bodies.apply(five);
    expect(await cloudant.bodies.apply(five)).toEqual({ applied: false, rev });
    expect(await cloudant.bodies.apply({ ...five, version: 4, body: { text: 'late' } })).toEqual({
      applied: false,
      rev,
    });
    expect((await cloudant.bodies.get(five.id))?.body).toEqual(five.body);
    // The late version is history all the same.
    expect((await cloudant.bodies.revisions(five.id, [4])).get(4)).toEqual({ text: 'late' });
    expect((await cloudant.bodies.apply({ ...five, version: 9 })).applied).toBe(true);
  });

  it('writes a revision that a crash has lost', async () => {
    const one = input(1);
    await cloudant.bodies.apply(one);
    const bodies = cloudant.database('bodies');
    const revision = await bodies.get(`${one.id}.r0000000001`);
    await bodies.delete(`${one.id}.r0000000001`, revision?._rev ?? '');
    await cloudant.bodies.apply(one);
    expect((await cloudant.bodies.revisions(one.id, [1])).get(1)).toEqual(one.body);
  });

  it('ends with the newest version whatever the order, with ten writers at once', async () => {
    const base = input(1);
    const versions = [7, 3, 10, 1, 9, 2, 8, 5, 4, 6];
    const results = await Promise.all(
      versions.map((version) => cloudant.bodies.apply({ ...base, version, body: { text: `v${version}` } })),
    );
    expect(results.some((result) => result.applied)).toBe(true);
    expect(await cloudant.bodies.get(base.id)).toMatchObject({ appliedVersion: 10, body: { text: 'v10' } });
    expect((await cloudant.bodies.revisions(base.id, versions)).size).toBe(10);
  });

  it.each([
    ['a field of ours', { body: { workspaceId: 'other' } }, 'must not have a field named "workspaceId"'],
    ['a field of CouchDB', { body: { _rev: '1-a' } }, 'must not have a field named "_rev"'],
    ['an id of CouchDB', { id: '_design/x' }, 'needs an id'],
    ['the id of a revision', { id: 'a.r0000000001' }, 'needs an id'],
    ['no id', { id: '' }, 'needs an id'],
    ['version 0', { version: 0 }, 'whole number of at least 1'],
    ['half a version', { version: 1.5 }, 'whole number of at least 1'],
  ])('refuses %s', async (_name, overrides, message) => {
    await expect(async () => cloudant.bodies.apply(input(1, overrides))).rejects.toThrow(message);
  });

  it('refuses a document that Cloudant would refuse for its size', async () => {
    await expect(async () =>
      cloudant.bodies.apply(input(1, { body: { text: '字'.repeat(400_000) } })),
    ).rejects.toMatchObject({ statusCode: 413, error: 'document_too_large' });
  });

  it('tells ids apart that differ only in case, and takes any characters', async () => {
    const ids = ['Case', 'case', 'a/b_local?c&d#e %2F+', '想法🎉'];
    for (const id of ids) await cloudant.bodies.apply(input(1, { id, body: { text: id } }));
    const found = await cloudant.bodies.getMany(ids);
    expect(ids.map((id) => found.get(id)?.body.text)).toEqual(ids);
    expect((await cloudant.bodies.get('a/b_local?c&d#e %2F+'))?.id).toBe('a/b_local?c&d#e %2F+');
  });
});

describe('remove', () => {
  it('leaves a mark that refuses late bodies but not newer ones', async () => {
    const one = input(2);
    await cloudant.bodies.apply(one);
    expect((await cloudant.bodies.remove(one.id, 3)).applied).toBe(true);
    expect(await cloudant.bodies.get(one.id)).toBeNull();
    expect((await cloudant.bodies.getMany([one.id])).size).toBe(0);
    expect(await cloudant.database('bodies').get(one.id)).toEqual({
      _id: one.id,
      _rev: expect.any(String),
      type: 'idea',
      workspaceId: 'workspace0_id',
      appliedVersion: 3,
      removed: true,
    });
    expect((await cloudant.bodies.apply({ ...one, version: 1 })).applied).toBe(false);
    expect((await cloudant.bodies.remove(one.id, 3)).applied).toBe(false);
    expect((await cloudant.bodies.revisions(one.id, [1])).size).toBe(0);
    expect((await cloudant.bodies.versions([one.id])).get(one.id)).toEqual({ version: 3, removed: true });
    expect((await cloudant.bodies.apply({ ...one, version: 4 })).applied).toBe(true);
    expect((await cloudant.bodies.get(one.id))?.appliedVersion).toBe(4);
  });

  it('works before anything was stored', async () => {
    const late = input(1);
    expect((await cloudant.bodies.remove(late.id, 2)).applied).toBe(true);
    expect((await cloudant.bodies.apply(late)).applied).toBe(false);
    expect(await cloudant.bodies.get(late.id)).toBeNull();
  });
});

describe('getMany and versions', () => {
  it('leave out what is not there', async () => {
    const one = input(3);
    await cloudant.bodies.apply(one);
    expect([...(await cloudant.bodies.getMany([one.id, 'nobody', one.id])).keys()]).toEqual([one.id]);
    expect(await cloudant.bodies.versions([one.id, 'nobody'])).toEqual(
      new Map([[one.id, { version: 3, removed: false }]]),
    );
    expect((await cloudant.bodies.getMany([])).size).toBe(0);
  });

  it('read a page in exactly one request', async () => {
    const server = await startStub((response) =>
      json(response, 200, { rows: [{ key: 'a', error: 'not_found' }] }),
    );
    const stubbed = openCloudant({ url: server.url, prefix: 'p' });
    try {
      await stubbed.bodies.getMany(Array.from({ length: 100 }, (_, i) => `i${i}`));
      await stubbed.bodies.getMany([]);
      expect(server.requests.map((request) => `${request.method} ${request.path}`)).toEqual([
        'POST /p_bodies/_all_docs?include_docs=true',
      ]);
      expect(JSON.parse(server.requests[0]?.body ?? '').keys.length).toBe(100);
    } finally {
      await stubbed.close();
      await server.close();
    }
  });
});

describe('applyMany', () => {
  it('stores many, in several batches, and can be repeated', async () => {
    const inputs = Array.from({ length: 600 }, () => input(1));
    const results = await cloudant.bodies.applyMany(inputs);
    expect(results.length).toBe(600);
    expect(results.every((result) => result.applied)).toBe(true);
    const again = await cloudant.bodies.applyMany(inputs);
    expect(again).toEqual(results.map(({ rev }) => ({ applied: false, rev })));
    expect((await cloudant.bodies.getMany(inputs.map(({ id }) => id))).size).toBe(600);
  });

  it('stores the newest of several versions of one id, and all of them as history', async () => {
    const base = input(1);
    const inputs = [2, 3, 1].map((version) => ({ ...base, version, body: { text: `v${version}` } }));
    const results = await cloudant.bodies.applyMany(inputs);
    expect(results.map(({ applied }) => applied)).toEqual([false, true, false]);
    expect(await cloudant.bodies.get(base.id)).toMatchObject({ appliedVersion: 3, body: { text: 'v3' } });
    expect((await cloudant.bodies.revisions(base.id, [1, 2, 3])).size).toBe(3);
  });

  it('respects removal and newer versions', async () => {
    const removed = input(1);
    const newer = input(5);
    await cloudant.bodies.remove(removed.id, 2);
    await cloudant.bodies.apply(newer);
    const results = await cloudant.bodies.applyMany([removed, { ...newer, version: 4 }, input(1)]);
    expect(results.map(({ applied }) => applied)).toEqual([false, false, true]);
    expect((await cloudant.bodies.get(newer.id))?.appliedVersion).toBe(5);
    expect((await cloudant.bodies.revisions(removed.id, [1])).size).toBe(0);
  });

  it('names the row that was refused', async () => {
    const server = await startStub((response, _index, request) => {
      if (request.path.includes('_all_docs')) return json(response, 200, { rows: [] });
      const { docs } = JSON.parse(request.body) as { docs: { _id: string }[] };
      json(
        response,
        201,
        docs.map(({ _id }) =>
          _id === 'bad' ? { id: _id, error: 'forbidden', reason: 'no' } : { id: _id, rev: '1-a' },
        ),
      );
    });
    const stubbed = openCloudant({ url: server.url, prefix: 'p' });
    try {
      await expect(
        stubbed.bodies.applyMany([input(1, { id: 'good' }), input(1, { id: 'bad' })]),
      ).rejects.toMatchObject({ name: 'CloudantError', error: 'forbidden', reason: 'Document bad: no' });
    } finally {
      await stubbed.close();
      await server.close();
    }
  });
});

/** A server that keeps one document and answers wrongly as asked. */
async function stubbedBodies(misbehave: (bulk: number, store: () => void) => 'conflict' | 'lose' | 'store') {
  let stored: Record<string, unknown> | undefined;
  let bulks = 0;
  const server = await startStub((response, _index, request) => {
    if (request.method === 'GET') {
      if (stored) json(response, 200, stored);
      else json(response, 404, { error: 'not_found', reason: 'missing' });
      return;
    }
    const { docs } = JSON.parse(request.body) as { docs: Record<string, unknown>[] };
    const main = docs.at(-1);
    const current = stored?._rev;
    const store = () => {
      stored = { ...main, _rev: `${bulks}-x` };
    };
    bulks += 1;
    const what = main?._rev !== current ? 'conflict' : misbehave(bulks, store);
    if (what !== 'conflict') store();
    if (what === 'lose') {
      response.destroy();
      return;
    }
    json(
      response,
      201,
      docs.map((doc) =>
        what === 'conflict'
          ? { id: doc._id, error: 'conflict', reason: 'Document update conflict.' }
          : { ok: true, id: doc._id, rev: `${bulks}-x` },
      ),
    );
  });
  const stubbed = openCloudant({ url: server.url, prefix: 'p' });
  return {
    bodies: stubbed.bodies,
    bulks: () => bulks,
    async close() {
      await stubbed.close();
      await server.close();
    },
  };
}

describe('apply on a server that misbehaves', () => {
  it('takes the duplicate of its own lost success for success', async () => {
    const stub = await stubbedBodies((bulk) => (bulk === 1 ? 'lose' : 'store'));
    try {
      expect(await stub.bodies.apply(input(1))).toEqual({ applied: true, rev: '1-x' });
      expect(stub.bulks()).toBe(2);
    } finally {
      await stub.close();
    }
  });

  it('reads and decides again after conflicts, up to a bound', async () => {
    const some = await stubbedBodies((bulk) => (bulk <= 3 ? 'conflict' : 'store'));
    const storm = await stubbedBodies(() => 'conflict');
    try {
      expect(await some.bodies.apply(input(1))).toEqual({ applied: true, rev: '4-x' });
      await expect(storm.bodies.apply(input(1))).rejects.toMatchObject({
        name: 'CloudantError',
        statusCode: 409,
      });
      expect(storm.bulks()).toBe(8);
    } finally {
      await some.close();
      await storm.close();
    }
  });
});
