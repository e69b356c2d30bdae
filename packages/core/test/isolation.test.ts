import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Core } from '../src/index.ts';
import { openWorld, type Person, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld('isolation');
});
afterAll(() => world?.close());

/** What everything that belongs to a room is called, so that it can be looked for in any answer. */
interface Room {
  workspaceId: string;
  clientId: string;
  owner: Person;
  members: Person[];
  ideas: string[];
  drafts: string[];
  guidance: string;
  invitation: string;
  mark: string;
}

async function furnish(mark: string): Promise<Room> {
  const { core } = world;
  const owner = await world.person(`owner-${mark}`);
  const client = await core.clients.create(owner, { name: `client-${mark}` });
  const workspace = await core.workspaces.create(owner, {
    clientId: client.id,
    name: `workspace-${mark}`,
    description: `description-${mark}`,
  });
  const at = workspace.id;
  const members = [
    await world.member(owner, at, 'editor', `editor-${mark}`),
    await world.member(owner, at, 'member', `member-${mark}`),
  ];
  const ideas: string[] = [];
  for (const [i, author] of [owner, ...members].entries()) {
    const idea = await world.idea(author, at, 'open', `idea-${mark}-${i}`);
    ideas.push(idea.id);
    for (const person of [owner, ...members])
      await core.ratings.set(person, { ideaId: idea.id, stars: (i % 5) + 1 });
  }
  const draft = await world.idea(members[0] as Person, at, 'draft', `draft-${mark}`);
  await core.ideas.update(members[0] as Person, {
    id: draft.id,
    version: 1,
    body: { text: `secret-${mark}` },
  });
  const guidance = await core.guidance.create(owner, {
    workspaceId: at,
    title: `guidance-${mark}`,
    body: { text: `guidance text-${mark}` },
  });
  const invitation = await core.invitations.create(owner, {
    workspaceId: at,
    email: `invited-${mark}@sparkroom.example`,
    role: 'member',
  });
  return {
    workspaceId: at,
    clientId: client.id,
    owner,
    members,
    ideas,
    drafts: [draft.id],
    guidance: guidance.id,
    invitation: invitation.id,
    mark,
  };
}

const page = { limit: 100, cursor: null };

/** Every procedure that takes an id of something in a workspace, with that id put in. */
type Calls = Array<[name: string, call: (core: Core, actor: Person, id: string) => Promise<unknown>]>;

const withWorkspace: Calls = [
  ['workspaces.get', (c, a, id) => c.workspaces.get(a, { id })],
  ['workspaces.client', (c, a, id) => c.workspaces.client(a, { id })],
  ['workspaces.update', (c, a, id) => c.workspaces.update(a, { id, version: 1, name: 'x' })],
  ['workspaces.archive', (c, a, id) => c.workspaces.archive(a, { id, version: 1, archived: true })],
  ['members.list', (c, a, id) => c.members.list(a, { workspaceId: id, ...page })],
  ['members.add', (c, a, id) => c.members.add(a, { workspaceId: id, email: a.email, role: 'owner' })],
  [
    'members.setRole',
    (c, a, id) => c.members.setRole(a, { workspaceId: id, userId: a.userId, role: 'owner' }),
  ],
  ['members.remove', (c, a, id) => c.members.remove(a, { workspaceId: id, userId: a.userId })],
  ['members.remove other', (c, a, id) => c.members.remove(a, { workspaceId: id, userId: 'other' })],
  ['invitations.list', (c, a, id) => c.invitations.list(a, { workspaceId: id, ...page })],
  [
    'invitations.create',
    (c, a, id) => c.invitations.create(a, { workspaceId: id, email: 'a@b.example', role: 'owner' }),
  ],
  ['invitations.revoke', (c, a, id) => c.invitations.revoke(a, { workspaceId: id, id: 'x' })],
  [
    'ideas.list',
    (c, a, id) =>
      c.ideas.list(a, { workspaceId: id, ...page, sort: 'newest', filter: 'all', withBody: true }),
  ],
  ['ideas.ranking', (c, a, id) => c.ideas.ranking(a, { workspaceId: id, ...page })],
  [
    'ideas.create',
    (c, a, id) =>
      c.ideas.create(a, { workspaceId: id, title: 'x', body: { text: 'x' }, tags: [], status: 'open' }),
  ],
  ['guidance.list', (c, a, id) => c.guidance.list(a, { workspaceId: id, ...page })],
  [
    'guidance.create',
    (c, a, id) => c.guidance.create(a, { workspaceId: id, title: 'x', body: { text: 'x' } }),
  ],
  ['activity.list', (c, a, id) => c.activity.list(a, { workspaceId: id, ...page })],
  [
    'activity.live',
    async (c, a, id) => {
      const heard: unknown[] = [];
      const { signal } = new AbortController();
      for await (const item of c.activity.live(a, { workspaceId: id }, signal)) heard.push(item);
      return heard;
    },
  ],
];
const withIdea: Calls = [
  ['ideas.get', (c, a, id) => c.ideas.get(a, { id })],
  ['ideas.history', (c, a, id) => c.ideas.history(a, { id, limit: 20 })],
  ['ideas.update', (c, a, id) => c.ideas.update(a, { id, version: 1, title: 'x' })],
  ['ideas.update stale', (c, a, id) => c.ideas.update(a, { id, version: 99, title: 'x' })],
  ['ideas.setStatus', (c, a, id) => c.ideas.setStatus(a, { id, version: 1, status: 'archived' })],
  ['ideas.remove', (c, a, id) => c.ideas.remove(a, { id, version: 1 })],
  ['ratings.set', (c, a, id) => c.ratings.set(a, { ideaId: id, stars: 5 })],
  ['ratings.clear', (c, a, id) => c.ratings.clear(a, { ideaId: id })],
];
const withGuidance: Calls = [
  ['guidance.get', (c, a, id) => c.guidance.get(a, { id })],
  ['guidance.update', (c, a, id) => c.guidance.update(a, { id, version: 1, title: 'x' })],
  ['guidance.remove', (c, a, id) => c.guidance.remove(a, { id, version: 1 })],
];
const withClient: Calls = [
  ['clients.get', (c, a, id) => c.clients.get(a, { id })],
  ['clients.update', (c, a, id) => c.clients.update(a, { id, version: 1, name: 'x' })],
  ['clients.archive', (c, a, id) => c.clients.archive(a, { id, version: 1, archived: true })],
  ['workspaces.create', (c, a, id) => c.workspaces.create(a, { clientId: id, name: 'x', description: '' })],
];

/** The whole of an answer as text, error or not. */
async function answerOf(call: Promise<unknown>): Promise<string> {
  try {
    return JSON.stringify({ value: await call });
  } catch (error) {
    const { name, message, reason, details } = error as Record<string, unknown>;
    return JSON.stringify({ name, message, reason, details });
  }
}

async function expectAlike(calls: Calls, actor: Person, foreign: string, missing: string): Promise<void> {
  for (const [name, call] of calls) {
    const [strange, nothing] = [
      await answerOf(call(world.core, actor, foreign)),
      await answerOf(call(world.core, actor, missing)),
    ];
    expect([name, strange]).toEqual([name, nothing]);
    expect([name, JSON.parse(strange).reason]).toEqual([name, 'NOT_FOUND']);
  }
}

/** Everything a person can read without knowing an id, and everything in rooms they are in. */
async function readAll(person: Person, rooms: readonly Room[]): Promise<string> {
  const { core } = world;
  const seen: unknown[] = [
    await core.me.get(person),
    await core.me.clients(person, page),
    await core.me.contributions(person, { limit: 100 }),
    await core.clients.list(person, { ...page, archived: false }),
    await core.clients.list(person, { ...page, archived: true }),
    await core.workspaces.list(person, { ...page, archived: false }),
    await core.workspaces.list(person, { ...page, archived: true }),
  ];
  for (const { workspaceId, ideas } of rooms) {
    const at = { workspaceId, ...page };
    seen.push(
      await core.workspaces.get(person, { id: workspaceId }),
      await core.members.list(person, at),
      await core.ideas.ranking(person, at),
      await core.guidance.list(person, at),
      await core.activity.list(person, at),
    );
    for (const sort of ['newest', 'oldest', 'active', 'title'] as const) {
      for (const filter of ['all', 'unrated', 'mine'] as const) {
        seen.push(await core.ideas.list(person, { ...at, sort, filter, withBody: true }));
      }
    }
    seen.push(
      await core.ideas.list(person, {
        ...at,
        sort: 'newest',
        filter: 'all',
        withBody: true,
        status: ['draft'],
      }),
    );
    for (const id of ideas)
      seen.push(await core.ideas.get(person, { id }), await core.ideas.history(person, { id, limit: 20 }));
  }
  return JSON.stringify(seen);
}

describe('whoever is not in a workspace', () => {
  test('gets the answer of a missing one for all that is in it, and sees nothing of it anywhere', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom('in', 'out', 'left', 'viewer'), { minLength: 3, maxLength: 3 }),
        fc.constantFrom('user' as const, 'admin' as const),
        async (places, platformRole) => {
          const person = await world.person('looker', platformRole);
          const rooms: Room[] = [];
          for (const [i, place] of places.entries()) {
            const room = await furnish(`${person.userId.slice(-8)}-${i}`);
            rooms.push(room);
            const { workspaceId, owner } = room;
            if (place !== 'out') {
              const role = place === 'viewer' ? ('viewer' as const) : ('member' as const);
              await world.core.members.add(owner, { workspaceId, email: person.email, role });
            }
            if (place === 'left')
              await world.core.members.remove(person, { workspaceId, userId: person.userId });
          }
          const [inside, outside] = [
            rooms.filter((_, i) => places[i] === 'in' || places[i] === 'viewer'),
            rooms.filter((_, i) => places[i] === 'out' || places[i] === 'left'),
          ];
          const seen = await readAll(person, inside);
          for (const room of outside) {
            // An admin sees the names of clients, and nothing else.
            const read = platformRole === 'admin' ? seen.replaceAll(`client-${room.mark}`, '') : seen;
            expect(read).not.toContain(room.mark);
            for (const id of [room.workspaceId, ...room.ideas, ...room.drafts, room.guidance]) {
              expect(read).not.toContain(id);
            }
            await expectAlike(withWorkspace, person, room.workspaceId, 'missing');
            for (const id of [...room.ideas.slice(0, 1), ...room.drafts]) {
              await expectAlike(withIdea, person, id, 'missing');
            }
            await expectAlike(withGuidance, person, room.guidance, 'missing');
            if (platformRole === 'user') await expectAlike(withClient, person, room.clientId, 'missing');
          }
          for (const room of inside) {
            expect(seen).toContain(`idea-${room.mark}-0`);
            // Drafts of others are nowhere, not even for members.
            expect(seen).not.toContain(`draft-${room.mark}`);
            expect(seen).not.toContain(`secret-${room.mark}`);
            for (const id of room.drafts) {
              expect(seen).not.toContain(id);
              await expectAlike(withIdea, person, id, 'missing');
            }
            expect(seen).not.toContain(`invited-${room.mark}`);
          }
        },
      ),
      { numRuns: 4, seed: 7, examples: [[['in', 'out', 'left'], 'user']] },
    );
  }, 90_000);

  test('counts nothing of others’ drafts', async () => {
    const room = await furnish('counts');
    const [editor, member] = room.members as [Person, Person];
    const { core } = world;
    for (const [person, ideas] of [
      [editor, 4],
      [member, 3],
      [room.owner, 3],
    ] as const) {
      const one = await core.workspaces.get(person, { id: room.workspaceId });
      const { items } = await core.workspaces.list(person, { ...page, archived: false });
      expect([one.ideaCount, items[0]?.ideaCount]).toEqual([ideas, ideas]);
      expect(one.pulse).toEqual({ rateable: 3, toRate: 0, rated: 3, decided: 0 });
      expect((await core.ideas.ranking(person, { workspaceId: room.workspaceId, ...page })).total).toBe(3);
    }
  });

  test('an invitation of another workspace cannot be withdrawn through one’s own', async () => {
    const [mine, theirs] = [await furnish('mine'), await furnish('theirs')];
    const revoke = (id: string) =>
      answerOf(world.core.invitations.revoke(mine.owner, { workspaceId: mine.workspaceId, id }));
    expect(await revoke(theirs.invitation)).toBe(await revoke('missing'));
    const open = await world.core.invitations.list(theirs.owner, {
      workspaceId: theirs.workspaceId,
      ...page,
    });
    expect(open.items).toHaveLength(1);
  });
});

describe('a draft', () => {
  test('is its author’s alone, and so is what was tried in it after it was posted', async () => {
    const owner = await world.person('Olga');
    const { id: workspaceId } = await world.workspace(owner);
    const author = await world.member(owner, workspaceId, 'member');
    const { core } = world;
    const draft = await core.ideas.create(author, {
      workspaceId,
      title: 'first title',
      body: { text: 'first text' },
      tags: [],
      status: 'draft',
    });
    await core.ideas.update(author, {
      id: draft.id,
      version: 1,
      title: 'posted title',
      body: { text: 'posted text' },
    });
    await core.ideas.setStatus(author, { id: draft.id, version: 2, status: 'open' });
    const others = await core.ideas.history(owner, { id: draft.id, limit: 20 });
    expect(JSON.stringify(others)).not.toContain('first');
    expect(others.items).toEqual([
      expect.objectContaining({
        version: 3,
        kind: 'statusChanged',
        title: 'posted title',
        body: { text: 'posted text' },
      }),
    ]);
    const own = await core.ideas.history(author, { id: draft.id, limit: 20 });
    expect(own.items.map((r) => [r.version, r.kind, r.title, r.body?.text ?? null])).toEqual([
      [3, 'statusChanged', 'posted title', null],
      [2, 'revised', 'posted title', 'posted text'],
      [1, 'created', 'first title', 'first text'],
    ]);
    const activity = await core.activity.list(owner, { workspaceId, ...page });
    const ofIdea = activity.items.filter((item) => item.subject.id === draft.id);
    expect(ofIdea.map((item) => item.type)).toEqual(['idea.statusChanged']);
  });

  test('that was removed leaves no trace for others', async () => {
    const owner = await world.person('Olga');
    const { id: workspaceId } = await world.workspace(owner);
    const author = await world.member(owner, workspaceId, 'member');
    const draft = await world.idea(author, workspaceId, 'draft', 'never posted');
    await world.core.ideas.remove(author, { id: draft.id, version: 1 });
    for (const person of [owner, author]) {
      const activity = await world.core.activity.list(person, { workspaceId, ...page });
      expect(JSON.stringify(activity)).not.toContain(draft.id);
    }
  });
});
