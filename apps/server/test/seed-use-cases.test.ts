import { type Cache, openCache, readCacheSettings } from '@sparkroom/cache';
import type { Cloudant } from '@sparkroom/cloudant';
import { inputs } from '@sparkroom/contract';
import { type Actor, type Core, createCore } from '@sparkroom/core';
import type { Mysql } from '@sparkroom/mysql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { clients, people } from '../src/seed/content/index.ts';
import { seedDemo } from '../src/seed/seed.ts';
import { openEmptyStores } from './empty-stores.ts';

let mysql: Mysql;
let cloudant: Cloudant;
let cache: Cache;
let core: Core;

beforeAll(async () => {
  ({ mysql, cloudant } = await openEmptyStores('seeduse'));
  cache = openCache({ ...readCacheSettings(process.env), prefix: `seeduse-${process.pid}` });
  core = createCore({
    mysql,
    bodies: cloudant.bodies,
    cache,
    live: { subscribe: () => (async function* () {})() },
    wakeRelay() {},
  });
  await seedDemo(mysql, cloudant, {
    seed: 1,
    add: false,
    signal: new AbortController().signal,
    say() {},
  });
});

afterAll(async () => {
  await Promise.allSettled([mysql?.close(), cloudant?.close(), cache?.close()]);
});

async function actor(person: string): Promise<Actor> {
  const email = people[person]?.email ?? '';
  const { id } = await mysql.db
    .selectFrom('user')
    .select('id')
    .where('email', '=', email)
    .executeTakeFirstOrThrow();
  return { userId: id, platformRole: 'user', requestId: 'test-request' };
}

async function workspaceOf(who: Actor, name: string): Promise<string> {
  const page = await core.workspaces.list(who, inputs.workspaces.list.parse({ limit: 100 }));
  const found = page.items.find((workspace) => workspace.name === name);
  if (!found) throw new Error(`${name} is not in the list`);
  return found.id;
}

const contents = clients.flatMap((client) => client.workspaces);

describe('use cases on the seeded demo', () => {
  test.each(contents.map((content) => [content.name, content] as const))(
    '%s: its owner reads every idea as it was written',
    async (name, content) => {
      const owner = Object.entries(content.members).find(([, role]) => role === 'owner')?.[0] ?? '';
      const who = await actor(owner);
      const workspaceId = await workspaceOf(who, name);
      const items: Awaited<ReturnType<typeof core.ideas.list>>['items'] = [];
      let cursor: string | null = null;
      do {
        const page = inputs.ideas.list.parse({ workspaceId, cursor, sort: 'oldest', withBody: true });
        const list = await core.ideas.list(who, page);
        items.push(...list.items);
        cursor = list.nextCursor;
      } while (cursor !== null);
      const visible = content.ideas.filter((idea) => idea.status !== 'draft' || idea.by === owner);
      expect(items.map((idea) => idea.title)).toEqual(visible.map((idea) => idea.title));
      expect(items.map((idea) => idea.body?.text)).toEqual(visible.map((idea) => idea.text));
      const guidance = await core.guidance.list(who, inputs.guidance.list.parse({ workspaceId }));
      expect(guidance.items.map((item) => item.title).sort()).toEqual(
        content.guidance.map((item) => item.title).sort(),
      );
      const ranking = await core.ideas.ranking(who, inputs.ideas.ranking.parse({ workspaceId, limit: 100 }));
      expect(ranking.items[0]?.score.value).toBeGreaterThan(ranking.items.at(-1)?.score.value ?? 0);
    },
  );

  test('a revised and decided idea tells its story', async () => {
    const who = await actor('mara');
    const workspaceId = await workspaceOf(who, 'Cold chain visibility 2027');
    const list = await core.ideas.list(who, inputs.ideas.list.parse({ workspaceId, status: ['accepted'] }));
    const id = list.items[0]?.id ?? '';
    const idea = await core.ideas.get(who, { id });
    expect(idea.statusReason).toContain('Karin agreed');
    const { items } = await core.ideas.history(who, { id, limit: 20 });
    expect(items.map((item) => `${item.version} ${item.kind} ${item.status}`)).toEqual([
      '4 statusChanged accepted',
      '3 statusChanged shortlisted',
      '2 revised open',
      '1 created open',
    ]);
    expect(items[3]?.body?.text).not.toBe(items[2]?.body?.text);
    expect(items[2]?.body).toEqual(idea.body);
  });

  test('activity is there, and nobody else’s drafts are in it', async () => {
    const who = await actor('mara');
    const workspaceId = await workspaceOf(who, 'Cold chain visibility 2027');
    const { items } = await core.activity.list(who, inputs.activity.list.parse({ workspaceId, limit: 100 }));
    expect(items.length).toBeGreaterThan(60);
    expect(items.map((item) => item.at)).toEqual(
      items
        .map((item) => item.at)
        .toSorted()
        .reverse(),
    );
    expect(items.some((item) => item.subject.title === 'Join temperature logs with customs seals')).toBe(
      false,
    );
  });

  test('people go on where the seed ended: rating, revising and deciding work', async () => {
    const who = await actor('mara');
    const workspaceId = await workspaceOf(who, 'Cold chain visibility 2027');
    const { items } = await core.ideas.list(
      who,
      inputs.ideas.list.parse({ workspaceId, status: ['open'], filter: 'unrated' }),
    );
    const idea = items.find((item) => item.score.raters === 0);
    if (!idea) throw new Error('no unrated idea');
    const rated = await core.ratings.set(who, { ideaId: idea.id, stars: 4 });
    expect(rated.score).toMatchObject({ raters: 1, mean: 4 });
    const revised = await core.ideas.update(who, {
      id: idea.id,
      version: idea.version,
      body: { text: 'Said better.' },
    });
    expect(revised.body.text).toBe('Said better.');
    const decided = await core.ideas.setStatus(who, {
      id: idea.id,
      version: revised.version,
      status: 'shortlisted',
    });
    expect(decided.status).toBe('shortlisted');
    const versions = await mysql.db
      .selectFrom('outbox')
      .select('aggregate_version')
      .where('aggregate_id', '=', idea.id)
      .orderBy('id')
      .execute();
    // Posting and storing the text were events 1 and 2.
    expect(versions.map((row) => Number(row.aggregate_version))).toEqual([3, 4, 5]);
  });

  test('user0 has something to rate in several workspaces', async () => {
    const who = await actor('mara');
    const { items } = await core.workspaces.list(who, inputs.workspaces.list.parse({ limit: 100 }));
    expect(items).toHaveLength(10);
    const pulses = await Promise.all(items.map(({ id }) => core.workspaces.get(who, { id })));
    expect(pulses.filter(({ pulse }) => pulse.toRate > 0).length).toBeGreaterThan(5);
    expect((await core.me.clients(who, inputs.me.clients.parse({ limit: 100 }))).items).toHaveLength(6);
  });
});
