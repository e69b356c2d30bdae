import { crc32 } from 'node:zlib';
import { type Cache, openCache, readCacheSettings, withoutCache } from '@sparkroom/cache';
import { SHARDS, touch, versionsOf } from '@sparkroom/mysql';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type Core, createCore } from '../src/index.ts';
import { openWorld, type Person, reasonOf, type World } from './world.ts';

const list = { limit: 5, sort: 'newest', filter: 'all', withBody: false } as const;

/** A cache that takes whatever it has for good: what ours would be without the comparison of versions. */
const careless = (cache: Cache): Cache => ({
  ...cache,
  read: (family, wanted, load) => cache.read(family, { ...wanted, version: 0 }, load),
});

let world: World;
/** Two server processes, each with its own memory, over one Redis; and the truth. */
let one: Core;
let two: Core;
let truth: Core;
const caches: Cache[] = [];

function process(name: string, wrap: (cache: Cache) => Cache = (cache) => cache): Core {
  const cache = openCache({
    ...readCacheSettings(globalThis.process.env),
    prefix: `corecache-${globalThis.process.pid}`,
    instance: name,
  });
  caches.push(cache);
  // As the feed of events does on a server.
  cache.leases.beat(performance.now());
  return createCore({
    mysql: world.mysql,
    bodies: world.cloudant.bodies,
    cache: wrap(cache),
    live: { async *subscribe() {} },
    wakeRelay() {},
  });
}

beforeAll(async () => {
  world = await openWorld('corecache', { documents: true });
  one = process('one');
  two = process('two');
  truth = process('truth', withoutCache);
  await vi.waitFor(() => Promise.all(caches.map((cache) => cache.ping())));
});
afterAll(async () => {
  await Promise.all(caches.map((cache) => cache.close()));
  await world?.close();
});

/** All hot reads of one person; refusals are part of the answer. */
async function everything(core: Core, person: Person, workspaceId: string): Promise<unknown> {
  const page = { workspaceId, limit: 5 };
  const calls = {
    me: core.me.get(person),
    clients: core.me.clients(person, { limit: 20 }),
    workspaces: core.workspaces.list(person, { limit: 20, archived: false }),
    archived: core.workspaces.list(person, { limit: 20, archived: true }),
    workspace: core.workspaces.get(person, { id: workspaceId }),
    members: core.members.list(person, page),
    ideas: core.ideas.list(person, { ...page, sort: 'newest', filter: 'all', withBody: true }),
    titles: core.ideas.list(person, { ...page, sort: 'title', filter: 'all', withBody: false }),
    ranking: core.ideas.ranking(person, page),
  };
  const answers = await Promise.all(
    Object.entries(calls).map(async ([name, call]) => [
      name,
      await call.catch((error: { reason?: string }) => ({ refused: error.reason ?? String(error) })),
    ]),
  );
  return Object.fromEntries(answers);
}

describe('whatever is changed, wherever', () => {
  test('every process answers at once as the stores would', async () => {
    const names = ['owner', 'editor', 'member', 'viewer'] as const;
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.nat(12), fc.nat(3), fc.nat(3)), { minLength: 6, maxLength: 10 }),
        async (commands) => {
          const owner = await world.person('owner');
          const client = await one.clients.create(owner, { name: 'Client' });
          const room = await one.workspaces.create(owner, {
            clientId: client.id,
            name: 'Room',
            description: '',
          });
          const people = [owner];
          for (const role of names.slice(1)) people.push(await world.member(owner, room.id, role));
          const ideas = [await world.idea(owner, room.id, 'open', 'First')];
          for (const [i, [kind, who, which]] of commands.entries()) {
            const core = i % 2 === 0 ? one : two;
            const person = people[who] as Person;
            const seen = ideas[which % ideas.length] as { id: string };
            const now = await truth.ideas.get(person, { id: seen.id }).catch(() => null);
            const there = await truth.workspaces.get(owner, { id: room.id });
            const company = await truth.clients.get(owner, { id: client.id });
            const at = { workspaceId: room.id, userId: person.userId };
            const body = { text: `text ${i}` };
            const step = [
              () => core.ratings.set(person, { ideaId: seen.id, stars: 1 + (i % 5) }),
              () => core.ratings.clear(person, { ideaId: seen.id }),
              async () =>
                ideas.push(
                  await core.ideas.create(person, {
                    workspaceId: room.id,
                    title: `Idea ${i}`,
                    body,
                    tags: [],
                    status: which === 0 ? 'draft' : 'open',
                  }),
                ),
              () =>
                core.ideas.update(person, { id: seen.id, version: now?.version ?? 1, title: `T${i}`, body }),
              () =>
                core.ideas.setStatus(person, {
                  id: seen.id,
                  version: now?.version ?? 1,
                  status: now?.may.setStatus[0] ?? 'open',
                }),
              () => core.ideas.remove(person, { id: seen.id, version: now?.version ?? 1 }),
              () => core.members.remove(owner, at),
              () => core.members.add(owner, { workspaceId: room.id, email: person.email, role: 'member' }),
              () => core.members.setRole(owner, { ...at, role: names[which] ?? 'viewer' }),
              () => core.workspaces.update(owner, { id: room.id, version: there.version, name: `Room ${i}` }),
              () => core.clients.update(owner, { id: client.id, version: company.version, name: `C${i}` }),
              () =>
                core.workspaces.archive(owner, {
                  id: room.id,
                  version: there.version,
                  archived: there.archivedAt === null,
                }),
              () => core.me.setLocale(person, { locale: which % 2 === 0 ? 'en' : 'zh' }),
            ][kind];
            // Many are refused; those change nothing.
            await step?.().catch(() => {});
            // The process that made the change, and counts of the other without the feed, which is tested apart.
            caches[i % 2 === 0 ? 1 : 0]?.leases.interrupted();
            if (i % 3 === 0) await world.project();
            for (const reader of people) {
              const right = await everything(truth, reader, room.id);
              expect(await everything(one, reader, room.id)).toEqual(right);
              expect(await everything(two, reader, room.id)).toEqual(right);
            }
          }
        },
      ),
      { numRuns: 4, seed: 7 },
    );
  }, 60_000);

  test('and would not, if versions were not compared', async () => {
    const wrong = process('careless', careless);
    await vi.waitFor(() => caches.at(-1)?.ping());
    const owner = await world.person('owner');
    const room = await world.workspace(owner);
    // Lists are kept from their second load on.
    await everything(wrong, owner, room.id);
    const before = await everything(wrong, owner, room.id);
    await world.idea(owner, room.id, 'open', 'New');
    expect(await everything(wrong, owner, room.id)).toMatchObject({ ideas: { items: [] } });
    expect(before).toMatchObject({ ideas: { items: [] } });
    expect(await everything(one, owner, room.id)).toMatchObject({ ideas: { items: [{ title: 'New' }] } });
  });
});

describe('with a warm cache', () => {
  async function warmRoom() {
    const owner = await world.person('owner');
    const room = await world.workspace(owner);
    const member = await world.member(owner, room.id, 'member');
    await world.idea(owner, room.id);
    for (const person of [owner, member])
      for (const core of [one, two, one]) await everything(core, person, room.id);
    return { owner, room, member };
  }

  test('who was removed is refused by the next read, on every process', async () => {
    const { owner, room, member } = await warmRoom();
    await one.members.remove(owner, { workspaceId: room.id, userId: member.userId });
    for (const core of [one, two]) {
      expect(await reasonOf(core.ideas.list(member, { ...list, workspaceId: room.id }))).toBe('NOT_FOUND');
      expect(await reasonOf(core.ideas.ranking(member, { workspaceId: room.id, limit: 5 }))).toBe(
        'NOT_FOUND',
      );
      expect(await reasonOf(core.members.list(member, { workspaceId: room.id, limit: 5 }))).toBe('NOT_FOUND');
      expect(await reasonOf(core.workspaces.get(member, { id: room.id }))).toBe('NOT_FOUND');
      expect((await core.workspaces.list(member, { limit: 5, archived: false })).items).toEqual([]);
      expect((await core.me.clients(member, { limit: 5 })).items).toEqual([]);
    }
  });

  test('a stranger is refused, and a role that changed decides at once', async () => {
    const { owner, room, member } = await warmRoom();
    const stranger = await world.person('stranger');
    expect(await reasonOf(one.ideas.list(stranger, { ...list, workspaceId: room.id }))).toBe('NOT_FOUND');
    await two.members.setRole(owner, { workspaceId: room.id, userId: member.userId, role: 'viewer' });
    expect(
      (await one.ideas.list(member, { ...list, workspaceId: room.id })).items.map((i) => i.mayRate),
    ).toEqual([false]);
  });

  test('people see their own ratings and drafts in a list they share', async () => {
    const { owner, room, member } = await warmRoom();
    const idea = (await one.ideas.list(member, { ...list, workspaceId: room.id })).items[0];
    await one.ratings.set(member, { ideaId: idea?.id ?? '', stars: 4 });
    await world.idea(member, room.id, 'draft', 'Mine');
    const seenBy = async (core: Core, person: Person) =>
      (await core.ideas.list(person, { ...list, workspaceId: room.id })).items.map((i) => [
        i.title,
        i.myRating,
      ]);
    for (const core of [one, two, one]) {
      expect(await seenBy(core, owner)).toEqual([['An idea', null]]);
      expect(await seenBy(core, member)).toEqual([
        ['Mine', null],
        ['An idea', 4],
      ]);
    }
  });

  test('reads are answered from memory and from the other process’s fills', async () => {
    const { owner, room } = await warmRoom();
    const hits = (i: number) => ({ ...caches[i]?.figures().families.get('ideas') });
    const before = hits(0);
    await one.ideas.list(owner, { ...list, workspaceId: room.id });
    expect(hits(0)).toEqual({ ...before, hitMemory: (before.hitMemory ?? 0) + 1 });
    const third = process('three');
    await vi.waitFor(() => caches.at(-1)?.ping());
    await third.ideas.list(owner, { ...list, workspaceId: room.id });
    expect(caches.at(-1)?.figures().families.get('ideas')).toMatchObject({ hitRedis: 1, missAbsent: 0 });
  });

  test('a version that the host brings decides; without one it is asked for', async () => {
    const { owner, room } = await warmRoom();
    await two.workspaces.update(owner, { id: room.id, version: 1, name: 'Renamed' });
    const names = async (actor: Person & { listsVersion?: number }) =>
      (await one.workspaces.list(actor, { limit: 20, archived: false })).items.map((w) => w.name);
    expect(await names({ ...owner, listsVersion: 1 })).toEqual(['Spring']);
    expect(await names(owner)).toEqual(['Renamed']);
  });
});

test('somebody who joins while a workspace or its client is renamed sees the new names', async () => {
  const owner = await world.person('owner');
  for (let i = 0; i < 10; i++) {
    const client = await one.clients.create(owner, { name: 'old' });
    const room = await one.workspaces.create(owner, { clientId: client.id, name: 'old', description: '' });
    const guest = await world.person('guest');
    const look = async (core: Core) =>
      (await core.workspaces.list(guest, { limit: 5, archived: false })).items;
    const looking = Array.from({ length: 6 }, (_, n) => look(n % 2 === 0 ? one : two));
    await Promise.all([
      one.members.add(owner, { workspaceId: room.id, email: guest.email, role: 'member' }),
      two.workspaces.update(owner, { id: room.id, version: 1, name: 'new' }),
      two.clients.update(owner, { id: client.id, version: 1, name: 'new' }),
      ...looking,
    ]);
    for (const core of [one, two]) {
      expect(await look(core)).toMatchObject([{ name: 'new', client: { name: 'new' } }]);
    }
  }
});

describe('ratings of one workspace', () => {
  /** A workspace with an idea for each row that its ratings are counted on. */
  async function rateableRoom() {
    const owner = await world.person('owner');
    const room = await world.workspace(owner);
    const rater = await world.member(owner, room.id, 'member');
    const byShard = new Map<number, string>();
    while (byShard.size < SHARDS) {
      const { id } = await world.idea(owner, room.id);
      byShard.set(crc32(id) % SHARDS, id);
    }
    return { room, rater, ideas: [...byShard.values()] };
  }

  test('do not wait for each other’s commit when the ideas are counted apart', async () => {
    const { room, rater, ideas } = await rateableRoom();
    const [held = '', ...others] = ideas;
    await world.mysql.transaction(async (trx) => {
      await touch(trx, [{ scope: 'rated', id: room.id, part: held }]);
      for (const ideaId of others) await one.ratings.set(rater, { ideaId, stars: 4 });
    });
  });

  test('are counted once each when they come all at once', async () => {
    const { room, rater, ideas } = await rateableRoom();
    await Promise.all(ideas.map((ideaId, i) => (i % 2 ? one : two).ratings.set(rater, { ideaId, stars: 4 })));
    expect(await versionsOf(world.mysql.db, 'rated', [room.id])).toEqual(new Map([[room.id, SHARDS]]));
  });
});
