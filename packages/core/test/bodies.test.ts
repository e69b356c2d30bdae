import { StoreUnavailableError } from '@sparkroom/pools';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { type Outlet, openOutlet } from './outlet.ts';
import { openWorld, type Person, type World } from './world.ts';

let world: World;
let owner: Person;
let workspaceId: string;
let redis: Outlet;
let cloudant: Outlet;

beforeAll(async () => {
  redis = await openOutlet(process.env.SPARKROOM_REDIS_URL ?? '');
  cloudant = await openOutlet(process.env.SPARKROOM_CLOUDANT_URL ?? '');
  world = await openWorld('texts', {
    documents: true,
    env: { ...process.env, SPARKROOM_REDIS_URL: redis.url, SPARKROOM_CLOUDANT_URL: cloudant.url },
  });
  owner = await world.person('Olga');
  ({ id: workspaceId } = await world.workspace(owner));
});
afterAll(async () => {
  await world?.close();
  await Promise.allSettled([redis?.close(), cloudant?.close()]);
});
afterEach(async () => {
  // Whatever a test left closed.
  for (const outlet of [redis, cloudant]) {
    await outlet.close();
    await outlet.open();
  }
});

const textOf = async (id: string) => (await world.core.ideas.get(owner, { id })).body.text;
const listed = async (id: string) => {
  const { items } = await world.core.ideas.list(owner, {
    workspaceId,
    limit: 100,
    cursor: null,
    sort: 'newest',
    filter: 'all',
    withBody: true,
  });
  return items.find((item) => item.id === id)?.body?.text;
};
const waiting = (id: string) =>
  world.mysql.db.selectFrom('idea_pending').select('version').where('idea_id', '=', id).execute();

describe('who writes a text reads it at once', () => {
  test('before it is in the document store, after, and after the next edit', async () => {
    const { core } = world;
    const idea = await world.idea(owner, workspaceId, 'open', 'one');
    expect([idea.body.text, await textOf(idea.id), await listed(idea.id)]).toEqual(
      Array(3).fill('About one'),
    );
    await world.project();
    expect(await waiting(idea.id)).toEqual([]);
    expect([await textOf(idea.id), await listed(idea.id)]).toEqual(['About one', 'About one']);
    // Now from the cache.
    expect(await textOf(idea.id)).toBe('About one');
    // An edit hides what the cache and the document store have.
    const edited = await core.ideas.update(owner, { id: idea.id, version: 1, body: { text: 'two 二 🎈' } });
    expect([edited.body.text, await textOf(idea.id), await listed(idea.id)]).toEqual(
      Array(3).fill('two 二 🎈'),
    );
    await world.project();
    expect([await textOf(idea.id), await listed(idea.id)]).toEqual(['two 二 🎈', 'two 二 🎈']);
    // A change without a text keeps the text.
    await core.ideas.update(owner, { id: idea.id, version: 2, title: 'new title' });
    expect(await textOf(idea.id)).toBe('two 二 🎈');
    await world.project();
    expect(await textOf(idea.id)).toBe('two 二 🎈');
  });

  test('the history has every text, wherever it is', async () => {
    const { core } = world;
    const idea = await world.idea(owner, workspaceId, 'open', 'first');
    await world.project();
    await core.ideas.update(owner, { id: idea.id, version: 1, body: { text: 'second' } });
    await world.project();
    await core.ideas.update(owner, { id: idea.id, version: 2, body: { text: 'third' } });
    const { items } = await core.ideas.history(owner, { id: idea.id, limit: 20 });
    expect(items.map((r) => r.body?.text)).toEqual(['third', 'second', 'About first']);
  });

  test('a long history comes in pages, newest first, each with its own texts in one request', async () => {
    const { core, cloudant } = world;
    const author = await world.member(owner, workspaceId, 'member');
    const draft = await world.idea(author, workspaceId, 'draft', 'kept back');
    await core.ideas.setStatus(author, { id: draft.id, version: 1, status: 'open' });
    const edits = 45;
    for (let v = 3; v <= edits; v++) {
      await core.ideas.update(author, { id: draft.id, version: v - 1, body: { text: `text ${v}` } });
      if (v === 30) await world.project();
    }
    const asked = vi.spyOn(cloudant.bodies, 'revisions');
    const pages: Array<Array<[number, string | undefined]>> = [];
    let cursor: string | null = null;
    do {
      const page: Awaited<ReturnType<typeof core.ideas.history>> = await core.ideas.history(owner, {
        id: draft.id,
        limit: 20,
        cursor,
      });
      pages.push(page.items.map((r) => [r.version, r.body?.text]));
      cursor = page.nextCursor;
    } while (cursor !== null);
    expect(asked.mock.calls.map(([, versions]) => versions.length)).toEqual([5, 20, 4]);
    asked.mockRestore();
    expect(pages.map((items) => items.length)).toEqual([20, 20, 4]);
    expect(pages.flat()).toEqual([
      ...Array.from({ length: edits - 2 }, (_, i) => [edits - i, `text ${edits - i}`]),
      // What was posted is the draft's text, though the posting itself brought none.
      [2, 'About kept back'],
    ]);
    const own = await core.ideas.history(author, { id: draft.id, limit: 20, cursor: null });
    expect(own.items.map((r) => r.version)).toEqual(pages[0]?.map(([version]) => version));
  });

  test('a change whose text cannot be read afterwards is said to be stored', async () => {
    const { core } = world;
    const idea = await world.idea(owner, workspaceId, 'open', 'kept');
    await world.project();
    await cloudant.close();
    const error = await core.ideas
      .update(owner, { id: idea.id, version: 1, title: 'renamed' })
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(StoreUnavailableError);
    expect(error).toMatchObject({ store: 'cloudant', outcome: 'stored' });
    await cloudant.open();
    expect(await core.ideas.get(owner, { id: idea.id })).toMatchObject({ title: 'renamed', version: 2 });
  });

  test('several edits before the projector comes: the last one is read, none is lost', async () => {
    const idea = await world.idea(owner, workspaceId, 'open', 'v1');
    for (const v of [2, 3, 4]) {
      await world.core.ideas.update(owner, { id: idea.id, version: v - 1, body: { text: `v${v}` } });
      expect(await textOf(idea.id)).toBe(`v${v}`);
    }
    await world.project();
    expect(await waiting(idea.id)).toEqual([]);
    expect(await textOf(idea.id)).toBe('v4');
    const { items } = await world.core.ideas.history(owner, { id: idea.id, limit: 20 });
    expect(items.map((r) => r.body?.text)).toEqual(['v4', 'v3', 'v2', 'About v1']);
  });

  test('readers in the middle of projecting and editing never see an older text', async () => {
    const idea = await world.idea(owner, workspaceId, 'open', '0');
    let written = 0;
    let done = false;
    const readers = Array.from({ length: 4 }, async () => {
      while (!done) {
        const least = written;
        const text = await textOf(idea.id);
        expect(Number(text.replace('About ', ''))).toBeGreaterThanOrEqual(least);
      }
    });
    const projector = (async () => {
      while (!done) await world.project();
    })();
    for (let i = 1; i <= 8; i++) {
      await world.core.ideas.update(owner, { id: idea.id, version: i, body: { text: String(i) } });
      written = i;
    }
    done = true;
    await Promise.all([...readers, projector]);
    await world.project();
    expect(await textOf(idea.id)).toBe('8');
  });

  test('a replica that lags behind what was confirmed is not believed', async () => {
    const { db } = world.mysql;
    const idea = await world.idea(owner, workspaceId, 'open', 'old');
    await world.project();
    await world.core.ideas.update(owner, { id: idea.id, version: 1, body: { text: 'new' } });
    // As if version 2 had been confirmed on a replica that this reader does not ask.
    await db.updateTable('idea').set({ stored_version: 2 }).where('id', '=', idea.id).execute();
    await db.deleteFrom('idea_pending').where('idea_id', '=', idea.id).execute();
    await expect(textOf(idea.id)).rejects.toMatchObject({ name: 'StoreUnavailableError', store: 'cloudant' });
    const body = { id: idea.id, type: 'idea', workspaceId, version: 2, body: { text: 'new' } } as const;
    await world.cloudant.bodies.apply(body);
    expect(await textOf(idea.id)).toBe('new');
  });

  test('guidance too', async () => {
    const made = await world.core.guidance.create(owner, { workspaceId, title: 'g', body: { text: 'one' } });
    const read = async () => (await world.core.guidance.get(owner, { id: made.id })).body.text;
    expect(await read()).toBe('one');
    await world.project();
    expect(await read()).toBe('one');
    await world.core.guidance.update(owner, { id: made.id, version: 1, body: { text: 'two' } });
    expect(await read()).toBe('two');
    await world.project();
    expect(await read()).toBe('two');
  });
});

describe('without a store', () => {
  test('Redis: texts come from the document store, waiting ones from MySQL', async () => {
    const stored = await world.idea(owner, workspaceId, 'open', 'stored');
    await world.project();
    await redis.close();
    expect(await textOf(stored.id)).toBe('About stored');
    const fresh = await world.idea(owner, workspaceId, 'open', 'fresh');
    expect([await textOf(fresh.id), await listed(fresh.id), await listed(stored.id)]).toEqual([
      'About fresh',
      'About fresh',
      'About stored',
    ]);
    await redis.open();
    expect(await textOf(stored.id)).toBe('About stored');
  });

  test('Cloudant: waiting texts and lists are there, a stored text says what is missing, until it is back', async () => {
    const stored = await world.idea(owner, workspaceId, 'open', 'stored');
    await world.project();
    await cloudant.close();
    const error = await textOf(stored.id).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(StoreUnavailableError);
    expect(error).toMatchObject({ store: 'cloudant' });
    await expect(listed(stored.id)).rejects.toMatchObject({ store: 'cloudant' });
    const fresh = await world.idea(owner, workspaceId, 'open', 'fresh');
    expect(await textOf(fresh.id)).toBe('About fresh');
    expect((await world.core.ratings.set(owner, { ideaId: stored.id, stars: 3 })).myRating).toBe(3);
    const edited = await world.core.ideas.update(owner, {
      id: stored.id,
      version: 1,
      body: { text: 'edited meanwhile' },
    });
    expect(edited.body.text).toBe('edited meanwhile');
    await expect(world.project()).rejects.toMatchObject({ store: 'cloudant' });
    await cloudant.open();
    await world.project();
    expect([await textOf(stored.id), await textOf(fresh.id)]).toEqual(['edited meanwhile', 'About fresh']);
    expect(await waiting(stored.id)).toEqual([]);
  }, 60_000);
});
