import type { Idea, IdeaStatus, Role } from '@sparkroom/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { allPages, openWorld, type Person, reasonOf, refusal, type World } from './world.ts';

let world: World;
let owner: Person;
let workspaceId: string;
const people = {} as Record<Role, Person>;

beforeAll(async () => {
  world = await openWorld('ideas');
  owner = await world.person('Olga');
  ({ id: workspaceId } = await world.workspace(owner));
  people.owner = owner;
  for (const role of ['editor', 'member', 'viewer'] as const) {
    people[role] = await world.member(owner, workspaceId, role);
  }
});
afterAll(() => world?.close());

const page = { limit: 100, cursor: null };
const sorted = { ...page, sort: 'newest', filter: 'all', withBody: false } as const;

describe('an idea', () => {
  test('comes back as it was written, in any script', async () => {
    const text = `第一行 🧪\n\n  zweite Zeile: "quotes" 'and' \\ %_ <b>not html</b> ${'想'.repeat(300)}`;
    const idea = await world.core.ideas.create(people.member, {
      workspaceId,
      title: '标题 👩‍🔬 Ünïcode',
      body: { text },
      tags: ['绿色', 'très bien', '🏷️'],
      status: 'open',
    });
    expect(idea).toMatchObject({
      workspaceId,
      title: '标题 👩‍🔬 Ünïcode',
      body: { text },
      tags: ['绿色', 'très bien', '🏷️'],
      status: 'open',
      version: 1,
      author: { id: people.member.userId, name: 'member' },
      myRating: null,
      mayRate: true,
      statusReason: null,
      score: { value: null, raters: 0, eligible: 2 },
    });
    expect([...idea.excerpt]).toHaveLength(280);
    expect(await world.core.ideas.get(people.viewer, { id: idea.id })).toMatchObject({
      title: idea.title,
      body: { text },
      tags: idea.tags,
      mayRate: false,
      may: { edit: false, remove: false, setStatus: [] },
    });
  });

  test('is edited by title, text and tags, and each version is kept', async () => {
    const idea = await world.idea(people.member, workspaceId, 'open', 'one');
    const { core } = world;
    const second = await core.ideas.update(people.member, { id: idea.id, version: 1, title: 'two' });
    expect([second.version, second.title, second.body.text]).toEqual([2, 'two', 'About one']);
    const third = await core.ideas.update(people.editor, {
      id: idea.id,
      version: 2,
      body: { text: 'three' },
      tags: ['t'],
    });
    expect([third.version, third.title, third.body.text, third.tags]).toEqual([3, 'two', 'three', ['t']]);
    await core.ideas.setStatus(owner, { id: idea.id, version: 3, status: 'declined', reason: 'Too dear' });
    const { items } = await core.ideas.history(people.viewer, { id: idea.id, limit: 20 });
    expect(
      items.map((r) => [r.version, r.kind, r.title, r.body?.text ?? null, r.status, r.reason, r.by.name]),
    ).toEqual([
      [4, 'statusChanged', 'two', null, 'declined', 'Too dear', 'Olga'],
      [3, 'revised', 'two', 'three', 'open', null, 'editor'],
      [2, 'revised', 'two', null, 'open', null, 'member'],
      [1, 'created', 'one', 'About one', 'open', null, 'member'],
    ]);
    expect(await world.events(idea.id)).toEqual([
      'idea.created',
      'idea.revised',
      'idea.revised',
      'idea.statusChanged',
    ]);
  });

  test('a stale edit, step or removal changes nothing and says the present version', async () => {
    const idea = await world.idea(people.member, workspaceId);
    await world.core.ideas.update(people.member, { id: idea.id, version: 1, title: 'newer' });
    const stale = {
      reason: 'VERSION_CONFLICT',
      message:
        'Somebody changed this in the meantime (version 2 is stored now). Nothing was overwritten: read it again and repeat your change.',
      details: { currentVersion: 2 },
    };
    const at = { id: idea.id, version: 1 };
    expect(await refusal(world.core.ideas.update(owner, { ...at, title: 'mine' }))).toEqual(stale);
    expect(await refusal(world.core.ideas.setStatus(owner, { ...at, status: 'accepted' }))).toEqual(stale);
    expect(await refusal(world.core.ideas.remove(owner, at))).toEqual(stale);
    expect(await world.core.ideas.get(owner, { id: idea.id })).toMatchObject({ title: 'newer', version: 2 });
  });

  test('of ten edits of one version at once one wins', async () => {
    const idea = await world.idea(people.member, workspaceId);
    const editors = [owner, people.editor, people.member];
    const results = await Promise.allSettled(
      Array.from({ length: 10 }, (_, i) =>
        world.core.ideas.update(editors[i % 3] as Person, {
          id: idea.id,
          version: 1,
          title: `edit ${i}`,
          body: { text: `text ${i}` },
        }),
      ),
    );
    const won = results.flatMap((r) => (r.status === 'fulfilled' ? [r.value] : []));
    expect(won).toHaveLength(1);
    for (const r of results) {
      if (r.status === 'rejected')
        expect(r.reason).toMatchObject({ reason: 'VERSION_CONFLICT', details: { currentVersion: 2 } });
    }
    const after = await world.core.ideas.get(owner, { id: idea.id });
    expect([after.version, after.title, after.body]).toEqual([2, won[0]?.title, won[0]?.body]);
    expect(await world.events(idea.id)).toEqual(['idea.created', 'idea.revised']);
  });

  test('is removed: gone for all, its rating too', async () => {
    const idea = await world.idea(people.member, workspaceId);
    await world.core.ratings.set(owner, { ideaId: idea.id, stars: 5 });
    expect(await world.core.ideas.remove(people.member, { id: idea.id, version: 1 })).toEqual({
      removed: true,
    });
    const gone = {
      reason: 'NOT_FOUND',
      message: 'This idea does not exist, or you are not a member of its workspace.',
      details: {},
    };
    const { core } = world;
    for (const call of [
      () => core.ideas.get(owner, { id: idea.id }),
      () => core.ideas.history(owner, { id: idea.id, limit: 20 }),
      () => core.ideas.update(owner, { id: idea.id, version: 2, title: 'x' }),
      () => core.ideas.remove(owner, { id: idea.id, version: 2 }),
      () => core.ratings.set(owner, { ideaId: idea.id, stars: 1 }),
    ]) {
      expect(await refusal(call())).toEqual(gone);
    }
    const list = await core.ideas.list(owner, { workspaceId, ...sorted });
    expect(list.items.map((i) => i.id)).not.toContain(idea.id);
    const ranking = await core.ideas.ranking(owner, { workspaceId, ...page });
    expect(ranking.items.map((i) => i.id)).not.toContain(idea.id);
  });
});

describe('who may what', () => {
  const viewerRefused = 'Only owners, editors and members of this workspace can do this. Ask one of them.';

  test('viewers read and change nothing', async () => {
    const idea = await world.idea(owner, workspaceId);
    const { core } = world;
    const { viewer } = people;
    expect(
      await refusal(
        core.ideas.create(viewer, {
          workspaceId,
          title: 'x',
          body: { text: 'x' },
          tags: [],
          status: 'open',
        }),
      ),
    ).toEqual({ reason: 'ROLE_REQUIRED', message: viewerRefused, details: {} });
    expect(await reasonOf(core.ideas.update(viewer, { id: idea.id, version: 1, title: 'x' }))).toBe(
      'ROLE_REQUIRED',
    );
    expect(await reasonOf(core.ideas.remove(viewer, { id: idea.id, version: 1 }))).toBe('ROLE_REQUIRED');
    expect(
      await reasonOf(core.ideas.setStatus(viewer, { id: idea.id, version: 1, status: 'archived' })),
    ).toBe('ROLE_REQUIRED');
    expect(
      await refusal(core.guidance.create(viewer, { workspaceId, title: 'x', body: { text: 'x' } })),
    ).toEqual({
      reason: 'ROLE_REQUIRED',
      message: 'Only owners and editors of this workspace can do this. Ask one of them.',
      details: {},
    });
  });

  test('members change their own ideas, not those of others', async () => {
    const theirs = await world.idea(owner, workspaceId);
    const mine = await world.idea(people.member, workspaceId);
    const { core } = world;
    const { member } = people;
    expect(await refusal(core.ideas.update(member, { id: theirs.id, version: 1, title: 'x' }))).toEqual({
      reason: 'ROLE_REQUIRED',
      message:
        'Only the author, owners and editors (and nobody while it is archived) can do this. Ask one of them.',
      details: {},
    });
    expect(await refusal(core.ideas.remove(member, { id: theirs.id, version: 1 }))).toEqual({
      reason: 'ROLE_REQUIRED',
      message: 'Only the author (while it is a draft or open) and owners can do this. Ask one of them.',
      details: {},
    });
    expect(
      await refusal(core.ideas.setStatus(member, { id: theirs.id, version: 1, status: 'accepted' })),
    ).toEqual({
      reason: 'ROLE_REQUIRED',
      message:
        'Only owners and editors (and the author, for a draft or to archive) can do this. Ask one of them.',
      details: {},
    });
    expect((await core.ideas.update(member, { id: mine.id, version: 1, title: 'x' })).title).toBe('x');
    expect((await core.ideas.setStatus(member, { id: mine.id, version: 2, status: 'archived' })).status).toBe(
      'archived',
    );
    expect(await reasonOf(core.ideas.update(member, { id: mine.id, version: 3, title: 'y' }))).toBe(
      'ROLE_REQUIRED',
    );
  });

  test('what `may` promises is what is allowed', async () => {
    const statuses: IdeaStatus[] = ['draft', 'open', 'shortlisted', 'accepted', 'declined', 'archived'];
    for (const from of statuses) {
      for (const actor of Object.values(people)) {
        for (const author of [actor, actor === owner ? people.editor : owner]) {
          if (author === people.viewer) continue;
          const idea = await make(author, from);
          const seen = await world.core.ideas.get(actor, { id: idea.id }).catch(() => null);
          if (from === 'draft' && actor !== author) {
            expect(seen).toBeNull();
            continue;
          }
          const may = (seen as Idea).may;
          for (const to of statuses.filter((s) => s !== from)) {
            const at = await make(author, from);
            const step = world.core.ideas.setStatus(actor, {
              id: at.id,
              version: at.version,
              status: to,
              ...(to === 'declined' ? { reason: 'Because' } : {}),
            });
            const done = await step.then(
              () => true,
              () => false,
            );
            expect([actor.name, author.name, from, to, done]).toEqual([
              actor.name,
              author.name,
              from,
              to,
              may.setStatus.includes(to),
            ]);
          }
          const edited = await world.core.ideas
            .update(actor, { id: idea.id, version: idea.version, title: 'edited' })
            .then(
              (i) => i.version,
              () => 0,
            );
          expect([actor.name, author.name, from, edited > 0]).toEqual([
            actor.name,
            author.name,
            from,
            may.edit,
          ]);
          const removed = await world.core.ideas
            .remove(actor, { id: idea.id, version: edited || idea.version })
            .then(
              () => true,
              () => false,
            );
          expect([actor.name, author.name, from, removed]).toEqual([
            actor.name,
            author.name,
            from,
            may.remove,
          ]);
        }
      }
    }
  }, 60_000);

  async function make(author: Person, status: IdeaStatus): Promise<{ id: string; version: number }> {
    const idea = await world.idea(author, workspaceId, status === 'draft' ? 'draft' : 'open');
    if (status !== 'draft' && status !== 'open') {
      await world.mysql.db.updateTable('idea').set({ status }).where('id', '=', idea.id).execute();
    }
    return idea;
  }
});

describe('lists', () => {
  test('page through every idea once, in their order, whatever comes in between', async () => {
    const author = await world.person('Author');
    const { id: room } = await world.workspace(author);
    const rater = await world.member(author, room, 'member');
    const made: string[] = [];
    for (let i = 0; i < 23; i++) {
      const idea = await world.idea(author, room, 'open', `title ${'bBaÄä你'[i % 6]} ${i % 4}`);
      made.push(idea.id);
      if (i % 3 === 0) await world.core.ratings.set(rater, { ideaId: idea.id, stars: (i % 5) + 1 });
    }
    for (const sort of ['newest', 'oldest', 'title'] as const) {
      let pages = 0;
      const seen = await allPages(async (cursor) => {
        if (pages++ === 2) {
          await world.idea(author, room, 'open', 'aaa in between');
          await world.core.ratings.set(rater, { ideaId: made[5] as string, stars: (pages % 5) + 1 });
        }
        return await world.core.ideas.list(author, { workspaceId: room, ...sorted, sort, limit: 4, cursor });
      });
      const ids = seen.map((i) => i.id);
      expect(new Set(ids).size).toBe(ids.length);
      expect(made.filter((id) => !ids.includes(id))).toEqual([]);
      const whole = await world.core.ideas.list(author, { workspaceId: room, ...sorted, sort });
      const order = new Map(whole.items.map((idea, i) => [idea.id, i]));
      const places = ids.map((id) => order.get(id) ?? -1);
      expect(places).toEqual([...places].sort((a, b) => a - b));
    }
    // By activity an idea that is rated meanwhile moves to the front; the others are seen once, none twice.
    let pages = 0;
    const active = await allPages(async (cursor) => {
      if (pages++ === 2) await world.core.ratings.set(rater, { ideaId: made[20] as string, stars: 1 });
      return await world.core.ideas.list(author, {
        workspaceId: room,
        ...sorted,
        sort: 'active',
        limit: 4,
        cursor,
      });
    });
    const ids = active.map((i) => i.id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(made.filter((id) => !ids.includes(id) && id !== made[20])).toEqual([]);
  });

  test('a ranking pages through every idea once, also while others are rated', async () => {
    const author = await world.person('Author');
    const { id: room } = await world.workspace(author);
    const raters = await Promise.all([1, 2, 3].map(() => world.member(author, room, 'member')));
    const made: string[] = [];
    for (let i = 0; i < 18; i++) {
      const idea = await world.idea(author, room, 'open', `idea ${i}`);
      made.push(idea.id);
      for (const [j, rater] of raters.entries()) {
        if ((i + j) % 3 !== 0)
          await world.core.ratings.set(rater, { ideaId: idea.id, stars: ((i * j) % 5) + 1 });
      }
    }
    const { core } = world;
    const whole = await core.ideas.ranking(author, { workspaceId: room, ...page });
    expect(whole.items.map((i) => i.rank)).toEqual(made.map((_, i) => i + 1));
    expect(whole.total).toBe(18);
    const scores = whole.items.map((i) => i.score.value ?? whole.prior.mean);
    for (const [i, score] of scores.entries())
      expect(score).toBeLessThanOrEqual((scores[i - 1] ?? 5) + 0.001);
    const bands = whole.items.map((i) => i.band);
    expect(bands[0]).toBe(1);
    for (const [i, band] of bands.entries()) if (i > 0) expect([0, 1]).toContain(band - (bands[i - 1] ?? 0));

    const calm = await allPages((cursor) =>
      core.ideas.ranking(author, { workspaceId: room, limit: 5, cursor }),
    );
    expect(calm.map((i) => i.id)).toEqual(whole.items.map((i) => i.id));

    // Somebody rates one idea between the pages, which moves the workspace's mean; the others stay in their places.
    let pages = 0;
    const moved = whole.items[12]?.id as string;
    const busy = await allPages(async (cursor) => {
      if (pages++ === 1) {
        for (const rater of raters) await core.ratings.set(rater, { ideaId: moved, stars: 5 });
      }
      return await core.ideas.ranking(author, { workspaceId: room, limit: 5, cursor });
    });
    const others = (items: Array<{ id: string }>) => items.map((i) => i.id).filter((id) => id !== moved);
    expect(others(busy)).toEqual(others(whole.items));
  });

  test('filter by status, by what is mine, and by what I have not rated', async () => {
    const author = await world.person('Author');
    const { id: room } = await world.workspace(author);
    const rater = await world.member(author, room, 'member');
    const [a, b, c] = [
      await world.idea(author, room, 'open', 'a'),
      await world.idea(author, room, 'open', 'b'),
      await world.idea(rater, room, 'open', 'c'),
    ];
    const draft = await world.idea(rater, room, 'draft', 'd');
    await world.core.ratings.set(rater, { ideaId: a.id, stars: 3 });
    const list = async (who: Person, more: object) =>
      (await world.core.ideas.list(who, { workspaceId: room, ...sorted, sort: 'title', ...more })).items.map(
        (i) => i.id,
      );
    expect(await list(rater, { filter: 'unrated' })).toEqual([b.id]);
    expect(await list(rater, { filter: 'mine' })).toEqual([c.id, draft.id]);
    expect(await list(author, { filter: 'mine' })).toEqual([a.id, b.id]);
    expect(await list(author, {})).toEqual([a.id, b.id, c.id]);
    expect(await list(rater, { status: ['draft'] })).toEqual([draft.id]);
    expect(await list(author, { status: ['draft', 'accepted'] })).toEqual([]);
  });

  test('with bodies', async () => {
    const { id: room } = await world.workspace(owner);
    await world.idea(owner, room, 'open', 'x');
    const { items } = await world.core.ideas.list(owner, { workspaceId: room, ...sorted, withBody: true });
    expect(items[0]?.body).toEqual({ text: 'About x' });
    const bare = await world.core.ideas.list(owner, { workspaceId: room, ...sorted });
    expect(bare.items[0]).not.toHaveProperty('body');
  });
});
