import type { Idea, Role, Workspace } from '@sparkroom/contract';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openWorld, type Person, reasonOf, refusal, type World } from './world.ts';

let world: World;
let owner: Person;
let workspace: Workspace;

beforeAll(async () => {
  world = await openWorld('ratings');
  owner = await world.person('Olga');
  workspace = await world.workspace(owner);
});
afterAll(() => world?.close());

/** Sums on the idea rows beside those over the ratings that count. */
async function sums(workspaceId: string) {
  const ideas = await world.mysql.db
    .selectFrom('idea')
    .select(['id', 'rating_count', 'rating_sum', 'rating_sumsq'])
    .where('workspace_id', '=', workspaceId)
    .orderBy('id')
    .execute();
  const ratings = await world.mysql.db
    .selectFrom('rating as r')
    .innerJoin('idea as i', 'i.id', 'r.idea_id')
    .innerJoin('membership as m', (j) =>
      j.onRef('m.workspace_id', '=', 'i.workspace_id').onRef('m.user_id', '=', 'r.user_id'),
    )
    .select(['r.idea_id', 'r.user_id', 'r.stars', 'r.counted', 'i.author_id', 'm.role', 'm.removed_at'])
    .where('i.workspace_id', '=', workspaceId)
    .execute();
  const kept = ideas.map((i) => [i.id, i.rating_count, i.rating_sum, i.rating_sumsq]);
  const counted = ideas.map(({ id }) => {
    const stars = ratings.filter((r) => r.idea_id === id && r.counted).map((r) => r.stars);
    return [id, stars.length, stars.reduce((a, b) => a + b, 0), stars.reduce((a, b) => a + b * b, 0)];
  });
  const wrongFlags = ratings.filter(
    (r) => Boolean(r.counted) !== (r.author_id !== r.user_id && r.removed_at === null && r.role !== 'viewer'),
  );
  return { kept, counted, wrongFlags };
}

async function expectExact(workspaceId: string): Promise<void> {
  const { kept, counted, wrongFlags } = await sums(workspaceId);
  expect(kept).toEqual(counted);
  expect(wrongFlags).toEqual([]);
}

const ratingsOf = (ideaId: string) =>
  world.mysql.db.selectFrom('rating').selectAll().where('idea_id', '=', ideaId).execute();

describe('one rating', () => {
  test('is stored, counted, and taken back', async () => {
    const rater = await world.member(owner, workspace.id, 'member');
    const idea = await world.idea(owner, workspace.id);
    const set = await world.core.ratings.set(rater, { ideaId: idea.id, stars: 5 });
    expect(set).toMatchObject({ ideaId: idea.id, myRating: 5, score: { raters: 1, mean: 5 } });
    expect((await world.core.ideas.get(rater, { id: idea.id })).myRating).toBe(5);
    const again = await world.core.ratings.set(rater, { ideaId: idea.id, stars: 2 });
    expect(again.score).toMatchObject({ raters: 1, mean: 2 });
    const cleared = await world.core.ratings.clear(rater, { ideaId: idea.id });
    expect(cleared).toEqual({
      ideaId: idea.id,
      myRating: null,
      score: expect.objectContaining({ raters: 0, value: null }),
    });
    expect(await ratingsOf(idea.id)).toEqual([]);
    expect(await world.events(idea.id)).toEqual(['idea.created', 'idea.rated', 'idea.rated', 'idea.unrated']);
    await expectExact(workspace.id);
  });

  test('repeated changes nothing and tells nobody', async () => {
    const rater = await world.member(owner, workspace.id, 'editor');
    const idea = await world.idea(owner, workspace.id);
    await world.core.ratings.set(rater, { ideaId: idea.id, stars: 4 });
    await world.core.ratings.set(rater, { ideaId: idea.id, stars: 4 });
    expect(await world.events(idea.id)).toEqual(['idea.created', 'idea.rated']);
    await world.core.ratings.clear(rater, { ideaId: idea.id });
    await world.core.ratings.clear(rater, { ideaId: idea.id });
    expect(await world.events(idea.id)).toEqual(['idea.created', 'idea.rated', 'idea.unrated']);
    await expectExact(workspace.id);
  });

  test('of the author is kept but not counted', async () => {
    const author = await world.member(owner, workspace.id, 'member');
    const idea = await world.idea(author, workspace.id);
    const set = await world.core.ratings.set(author, { ideaId: idea.id, stars: 5 });
    expect(set).toMatchObject({ myRating: 5, score: { raters: 0, value: null, mean: null } });
    expect(await ratingsOf(idea.id)).toMatchObject([{ user_id: author.userId, stars: 5, counted: 0 }]);
    await world.core.members.setRole(owner, {
      workspaceId: workspace.id,
      userId: author.userId,
      role: 'viewer',
    });
    await world.core.members.setRole(owner, {
      workspaceId: workspace.id,
      userId: author.userId,
      role: 'member',
    });
    expect(await ratingsOf(idea.id)).toMatchObject([{ stars: 5, counted: 0 }]);
    await world.core.ratings.clear(author, { ideaId: idea.id });
    await expectExact(workspace.id);
  });

  test('is refused by status and by role', async () => {
    const author = await world.member(owner, workspace.id, 'member');
    const rater = await world.member(owner, workspace.id, 'member');
    const viewer = await world.member(owner, workspace.id, 'viewer');
    const draft = await world.idea(author, workspace.id, 'draft');
    expect(await refusal(world.core.ratings.set(author, { ideaId: draft.id, stars: 3 }))).toEqual({
      reason: 'NOT_RATEABLE',
      message: 'Ideas are rated while they are open or shortlisted; this one is draft.',
      details: {},
    });
    expect(await reasonOf(world.core.ratings.set(rater, { ideaId: draft.id, stars: 3 }))).toBe('NOT_FOUND');

    const idea = await world.idea(author, workspace.id);
    expect(await refusal(world.core.ratings.set(viewer, { ideaId: idea.id, stars: 3 }))).toEqual({
      reason: 'ROLE_REQUIRED',
      message: 'Only owners, editors and members of this workspace can do this. Ask one of them.',
      details: {},
    });
    await world.core.ratings.set(rater, { ideaId: idea.id, stars: 3 });
    let { version } = idea;
    const to = async (status: Idea['status'], reason?: string) => {
      ({ version } = await world.core.ideas.setStatus(owner, {
        id: idea.id,
        version,
        status,
        ...(reason ? { reason } : {}),
      }));
    };
    await to('shortlisted');
    await world.core.ratings.set(rater, { ideaId: idea.id, stars: 4 });
    for (const [status, reason] of [['declined', 'Too dear'], ['open'], ['archived']] as const) {
      await to(status, reason);
      const refused = { reason: 'NOT_RATEABLE', message: expect.stringContaining(`this one is ${status}.`) };
      if (status === 'open') continue;
      expect(await refusal(world.core.ratings.set(rater, { ideaId: idea.id, stars: 1 }))).toMatchObject(
        refused,
      );
      expect(await refusal(world.core.ratings.clear(rater, { ideaId: idea.id }))).toMatchObject(refused);
    }
    await expectExact(workspace.id);
  });
});

describe('at the same moment', () => {
  test('twenty first ratings by one person are one row, counted once', async () => {
    const rater = await world.member(owner, workspace.id, 'member');
    const idea = await world.idea(owner, workspace.id);
    const stars = Array.from({ length: 20 }, (_, i) => (i % 5) + 1);
    await Promise.all(stars.map((s) => world.core.ratings.set(rater, { ideaId: idea.id, stars: s })));
    const rows = await ratingsOf(idea.id);
    expect(rows).toHaveLength(1);
    const row = await world.core.ideas.get(owner, { id: idea.id });
    expect(row.score).toMatchObject({ raters: 1, mean: rows[0]?.stars });
    await expectExact(workspace.id);
  });

  test('ratings of many people, departures, returns and changes of role leave exact sums', async () => {
    const crowd = await Promise.all(
      Array.from({ length: 6 }, () => world.member(owner, workspace.id, 'member')),
    );
    const ideas = await Promise.all([owner, ...crowd.slice(0, 3)].map((p) => world.idea(p, workspace.id)));
    const calls: Array<Promise<unknown>> = [];
    for (const [i, person] of crowd.entries()) {
      for (const [j, idea] of ideas.entries()) {
        calls.push(world.core.ratings.set(person, { ideaId: idea.id, stars: ((i + j) % 5) + 1 }));
        if (j % 2 === 0) calls.push(world.core.ratings.clear(person, { ideaId: idea.id }));
      }
      const role: Role = i % 2 === 0 ? 'viewer' : 'editor';
      calls.push(
        world.core.members.setRole(owner, { workspaceId: workspace.id, userId: person.userId, role }),
      );
      if (i % 3 === 0)
        calls.push(world.core.members.remove(owner, { workspaceId: workspace.id, userId: person.userId }));
    }
    const results = await Promise.allSettled(calls);
    // Who left or became a viewer first is refused; nothing else may go wrong.
    const reasons = results.flatMap((r) => (r.status === 'rejected' ? [r.reason.reason ?? r.reason] : []));
    expect(reasons.filter((reason) => !['ROLE_REQUIRED', 'NOT_FOUND'].includes(reason))).toEqual([]);
    await expectExact(workspace.id);
  });
});

type Command =
  | { do: 'rate'; who: number; what: number; stars: number }
  | { do: 'clear'; who: number; what: number }
  | { do: 'role'; who: number; role: Role }
  | { do: 'leave' | 'return'; who: number };

const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('rate' as const),
      who: fc.nat(3),
      what: fc.nat(3),
      stars: fc.integer({ min: 1, max: 5 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('clear' as const), who: fc.nat(3), what: fc.nat(3) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('role' as const),
      who: fc.nat(3),
      role: fc.constantFrom<Role>('viewer', 'member', 'editor', 'owner'),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constantFrom('leave' as const, 'return' as const), who: fc.nat(3) }),
  },
);

test('whatever is done, the sums on an idea are those of the ratings that count', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(command, { minLength: 5, maxLength: 40 }), async (commands) => {
      const room = await world.workspace(owner);
      const people = await Promise.all([0, 1, 2, 3].map(() => world.member(owner, room.id, 'member')));
      const ideas = await Promise.all(people.map((p) => world.idea(p, room.id)));
      const { core } = world;
      for (const c of commands) {
        const person = people[c.who] as Person;
        const at = { workspaceId: room.id, userId: person.userId };
        const ideaId = 'what' in c ? (ideas[c.what]?.id ?? '') : '';
        const run = {
          rate: () => core.ratings.set(person, { ideaId, stars: 'stars' in c ? c.stars : 1 }),
          clear: () => core.ratings.clear(person, { ideaId }),
          role: () => core.members.setRole(owner, { ...at, role: 'role' in c ? c.role : 'member' }),
          leave: () => core.members.remove(owner, at),
          return: () =>
            core.members.add(owner, { workspaceId: room.id, email: person.email, role: 'member' }),
        }[c.do];
        await run().catch((error) => {
          if (!['ROLE_REQUIRED', 'NOT_FOUND', 'ALREADY_MEMBER'].includes(error.reason)) throw error;
        });
      }
      await expectExact(room.id);
    }),
    { numRuns: 12 },
  );
});
