import { withTimings } from '@sparkroom/pools';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { allPages, openWorld, type Person, reasonOf, refusal, type World } from './world.ts';

let world: World;
let owner: Person;

beforeAll(async () => {
  world = await openWorld('rooms');
  owner = await world.person('Olga');
});
afterAll(() => world?.close());

const page = { limit: 100, cursor: null };

describe('me', () => {
  test('is who I am, in the language I chose', async () => {
    const person = await world.person('王小明');
    expect(await world.core.me.get(person)).toEqual({
      id: person.userId,
      name: '王小明',
      email: person.email,
      role: 'user',
      locale: null,
    });
    expect((await world.core.me.setLocale(person, { locale: 'zh' })).locale).toBe('zh');
    expect((await world.core.me.get(person)).locale).toBe('zh');
  });

  test('of an account that is gone is nobody', async () => {
    expect(await refusal(world.core.me.get({ ...owner, userId: 'gone' }))).toEqual({
      reason: 'UNAUTHENTICATED',
      message: 'This account no longer exists. Sign in again.',
      details: {},
    });
  });

  test('clients are those of my workspaces, once each, page by page', async () => {
    const person = await world.person();
    for (const [i, name] of ['Qinghe', 'Bramwell', '蓝宇', 'bramwell'].entries()) {
      const host = await world.person();
      const client = await world.core.clients.create(host, { name });
      for (let n = 0; n <= i % 2; n++) {
        const room = await world.core.workspaces.create(host, {
          clientId: client.id,
          name: 'r',
          description: '',
        });
        await world.core.members.add(host, { workspaceId: room.id, email: person.email, role: 'viewer' });
      }
    }
    const mine = await allPages((cursor) => world.core.me.clients(person, { limit: 1, cursor }));
    expect(mine.map((c) => c.name.toLowerCase())).toEqual(['bramwell', 'bramwell', 'qinghe', '蓝宇']);
    expect(mine.map((c) => c.workspaceCount).sort()).toEqual([1, 1, 2, 2]);
    expect(new Set(mine.map((c) => c.id)).size).toBe(4);
  });

  test('clients are one SQL statement, and one more that says which version a remembered page has', async () => {
    const person = await world.person();
    for (const name of ['A', 'B']) await world.workspace(person, name);
    const statements = async (cursor: string | null) =>
      await withTimings(async (timings) => {
        const answer = await world.core.me.clients(person, { limit: 1, cursor });
        return { count: timings.count('sql'), cursor: answer.nextCursor };
      });
    const first = await statements(null);
    expect(first.count).toBeLessThanOrEqual(2);
    expect((await statements(first.cursor)).count).toBe(1);
  });

  test('contributions read ideas and guidance at the same time', async () => {
    const person = await world.person();
    const { id } = await world.workspace(person);
    await world.core.ideas.create(person, {
      workspaceId: id,
      title: 't',
      body: { text: 'b' },
      tags: [],
      status: 'open',
    });
    let most = 0;
    let over = false;
    const watch = () => {
      most = Math.max(most, world.mysql.gate.stats().busy);
      if (!over) setImmediate(watch);
    };
    watch();
    await world.core.me.contributions(person, { limit: 5 });
    over = true;
    expect(most).toBeGreaterThanOrEqual(2);
  });

  test('contributions are what I wrote where I still am, newest first', async () => {
    const person = await world.person();
    const { id: room } = await world.workspace(owner);
    const { id: left } = await world.workspace(owner);
    for (const workspaceId of [room, left]) {
      await world.core.members.add(owner, { workspaceId, email: person.email, role: 'editor' });
      await world.idea(person, workspaceId, 'open', `idea in ${workspaceId}`);
      await world.core.guidance.create(person, { workspaceId, title: 'g', body: { text: 'g' } });
    }
    await world.idea(person, room, 'draft', 'newest');
    await world.core.members.remove(owner, { workspaceId: left, userId: person.userId });
    const { ideas, guidance } = await world.core.me.contributions(person, { limit: 10 });
    expect(ideas.map((i) => [i.title, i.workspaceName, i.workspaceId])).toEqual([
      ['newest', 'Spring', room],
      [`idea in ${room}`, 'Spring', room],
    ]);
    expect(guidance.map((g) => [g.title, g.workspaceId])).toEqual([['g', room]]);
    expect((await world.core.me.contributions(person, { limit: 1 })).ideas).toHaveLength(1);
  });
});

describe('clients', () => {
  test('are made, renamed and archived by their creator or an admin', async () => {
    const person = await world.person();
    const admin = await world.person('Admin', 'admin');
    const { core } = world;
    const client = await core.clients.create(person, { name: '聚典 Optics 🔭' });
    expect(client).toMatchObject({ name: '聚典 Optics 🔭', version: 1, workspaceCount: 0, mayEdit: true });
    expect((await core.clients.update(person, { id: client.id, version: 1, name: 'New' })).version).toBe(2);
    expect(
      await refusal(core.clients.update(person, { id: client.id, version: 1, name: 'Old' })),
    ).toMatchObject({ reason: 'VERSION_CONFLICT', details: { currentVersion: 2 } });
    expect((await core.clients.update(admin, { id: client.id, version: 2, name: 'Newer' })).version).toBe(3);
    const archived = await core.clients.archive(person, { id: client.id, version: 3, archived: true });
    expect(archived.archivedAt).toMatch(/Z$/);
    expect((await core.clients.list(person, { ...page, archived: false })).items).toEqual([]);
    expect((await core.clients.list(person, { ...page, archived: true })).items).toHaveLength(1);
    expect(
      await refusal(core.workspaces.create(person, { clientId: client.id, name: 'x', description: '' })),
    ).toEqual({
      reason: 'CLIENT_ARCHIVED',
      message: 'This client is archived. Bring it back before using it.',
      details: {},
    });
    await core.clients.archive(person, { id: client.id, version: 4, archived: false });
    expect(await world.events(client.id)).toEqual([
      'client.created',
      'client.updated',
      'client.updated',
      'client.archived',
      'client.archived',
    ]);
  });

  test('page by name: mine and those I share a workspace of; all of them for an admin', async () => {
    const person = await world.person();
    const admin = await world.person('Admin', 'admin');
    const { core } = world;
    const mine = new Set<string>();
    for (const name of ['beta', 'Alpha', 'alpha', 'äther', '青禾', 'beta', 'zeta']) {
      mine.add((await core.clients.create(person, { name })).id);
    }
    const shared = await world.workspace(owner);
    await core.members.add(owner, { workspaceId: shared.id, email: person.email, role: 'viewer' });
    mine.add(shared.client.id);
    const list = (who: Person) =>
      allPages((cursor) => core.clients.list(who, { limit: 3, cursor, archived: false }));
    const seen = await list(person);
    expect(seen.map((c) => c.id).sort()).toEqual([...mine].sort());
    expect(seen.filter((c) => c.mayEdit)).toHaveLength(7);
    const all = (await list(admin)).map((c) => c.id);
    expect(new Set(all).size).toBe(all.length);
    expect([...mine].filter((id) => !all.includes(id))).toEqual([]);
  });

  test('in use are not archived; a fellow member sees but does not rename them', async () => {
    const room = await world.workspace(owner);
    const fellow = await world.member(owner, room.id, 'owner');
    const { core } = world;
    const client = await core.workspaces.client(fellow, { id: room.id });
    expect(client).toMatchObject({ id: room.client.id, workspaceCount: 1, mayEdit: false });
    expect(await refusal(core.clients.update(fellow, { id: client.id, version: 1, name: 'x' }))).toEqual({
      reason: 'ROLE_REQUIRED',
      message: 'Only whoever created this client, or a platform admin, can do this. Ask one of them.',
      details: {},
    });
    const archive = { id: client.id, version: 1, archived: true };
    expect(await refusal(core.clients.archive(owner, archive))).toEqual({
      reason: 'CLIENT_IN_USE',
      message: 'This client still has workspaces that are in use. Archive those first.',
      details: {},
    });
    await core.workspaces.archive(owner, { id: room.id, version: 1, archived: true });
    expect((await core.clients.archive(owner, archive)).archivedAt).not.toBeNull();
    expect(await reasonOf(core.workspaces.archive(owner, { id: room.id, version: 2, archived: false }))).toBe(
      'CLIENT_ARCHIVED',
    );
  });

  test('archived while a workspace is opened for it: one of the two is refused', async () => {
    for (let round = 0; round < 5; round++) {
      const client = await world.core.clients.create(owner, { name: 'Race' });
      const [archived, opened] = await Promise.allSettled([
        world.core.clients.archive(owner, { id: client.id, version: 1, archived: true }),
        world.core.workspaces.create(owner, { clientId: client.id, name: 'x', description: '' }),
      ]);
      expect([archived.status, opened.status].sort()).toEqual(['fulfilled', 'rejected']);
    }
  });
});

describe('workspaces', () => {
  test('are opened, described, listed with their client, and changed by version', async () => {
    const person = await world.person();
    const { core } = world;
    const client = await core.clients.create(person, { name: '青禾' });
    const made = await core.workspaces.create(person, {
      clientId: client.id,
      name: '春季 🌱',
      description: 'zwei\nZeilen',
    });
    expect(made).toMatchObject({
      name: '春季 🌱',
      description: 'zwei\nZeilen',
      client: { id: client.id, name: '青禾' },
      role: 'owner',
      version: 1,
      memberCount: 1,
      ideaCount: 0,
      archivedAt: null,
      mayPost: true,
      may: { edit: true, archive: true, manageMembers: true, post: true, rate: true, writeGuidance: true },
    });
    expect((await core.workspaces.list(person, { ...page, archived: false })).items).toEqual([
      expect.objectContaining({ id: made.id, client: { id: client.id, name: '青禾' }, role: 'owner' }),
    ]);
    const renamed = await core.workspaces.update(person, { id: made.id, version: 1, name: 'Autumn' });
    expect(renamed).toMatchObject({ name: 'Autumn', description: 'zwei\nZeilen', version: 2 });
    // Nothing changed: no version, no event.
    await core.workspaces.update(person, { id: made.id, version: 2, name: 'Autumn' });
    expect(
      await refusal(core.workspaces.update(person, { id: made.id, version: 1, name: 'x' })),
    ).toMatchObject({ reason: 'VERSION_CONFLICT', details: { currentVersion: 2 } });
    expect(await world.events(made.id)).toEqual(['workspace.created', 'workspace.updated']);
  });

  test('say to each role what it may post and write', async () => {
    const { id } = await world.workspace(owner);
    for (const [role, mayPost, writeGuidance] of [
      ['owner', true, true],
      ['editor', true, true],
      ['member', true, false],
      ['viewer', false, false],
    ] as const) {
      const person = await world.member(owner, id, role);
      const seen = await world.core.workspaces.get(person, { id });
      expect([role, seen.mayPost, seen.may.post, seen.may.writeGuidance]).toEqual([
        role,
        mayPost,
        mayPost,
        writeGuidance,
      ]);
      const { items } = await world.core.workspaces.list(person, { ...page, archived: false });
      expect([role, items.map((w) => w.mayPost)]).toEqual([role, [mayPost]]);
    }
  });

  test('page by name, those alike in name too', async () => {
    const person = await world.person();
    const client = await world.core.clients.create(person, { name: 'c' });
    for (const name of ['b', 'a', 'A', 'á', 'b', '中', 'z', 'a']) {
      await world.core.workspaces.create(person, { clientId: client.id, name, description: '' });
    }
    const all = await allPages((cursor) =>
      world.core.workspaces.list(person, { limit: 3, cursor, archived: false }),
    );
    expect(new Set(all.map((w) => w.id)).size).toBe(8);
    expect(all.map((w) => w.name[0]).slice(4)).toEqual(['b', 'b', 'z', '中']);
  });
});

describe('an archived workspace', () => {
  test('can be read, and refuses every change until it is brought back', async () => {
    const { core } = world;
    const room = await world.workspace(owner);
    const workspaceId = room.id;
    const member = await world.member(owner, workspaceId, 'member');
    const guest = await world.person();
    const idea = await world.idea(owner, workspaceId);
    const draft = await world.idea(owner, workspaceId, 'draft');
    const guidance = await core.guidance.create(owner, { workspaceId, title: 'g', body: { text: 'g' } });
    const invitation = await core.invitations.create(owner, {
      workspaceId,
      email: guest.email,
      role: 'member',
    });
    await core.ratings.set(member, { ideaId: idea.id, stars: 4 });
    await core.workspaces.archive(owner, { id: workspaceId, version: 1, archived: true });

    const before = await counts(workspaceId);
    const at = { id: idea.id, version: 1 };
    const calls: Array<[string, () => Promise<unknown>]> = [
      ['workspaces.update', () => core.workspaces.update(owner, { id: workspaceId, version: 2, name: 'x' })],
      ['members.add', () => core.members.add(owner, { workspaceId, email: guest.email, role: 'member' })],
      [
        'members.setRole',
        () => core.members.setRole(owner, { workspaceId, userId: member.userId, role: 'viewer' }),
      ],
      ['members.remove', () => core.members.remove(owner, { workspaceId, userId: member.userId })],
      ['members.remove oneself', () => core.members.remove(member, { workspaceId, userId: member.userId })],
      [
        'invitations.create',
        () => core.invitations.create(owner, { workspaceId, email: 'n@x.example', role: 'member' }),
      ],
      ['invitations.revoke', () => core.invitations.revoke(owner, { workspaceId, id: invitation.id })],
      ['invitations.accept', () => core.invitations.accept(guest, { token: invitation.token })],
      [
        'ideas.create',
        () =>
          core.ideas.create(owner, {
            workspaceId,
            title: 'x',
            body: { text: 'x' },
            tags: [],
            status: 'open',
          }),
      ],
      ['ideas.update', () => core.ideas.update(owner, { ...at, title: 'x' })],
      ['ideas.setStatus', () => core.ideas.setStatus(owner, { ...at, status: 'accepted' })],
      [
        'ideas.setStatus of a draft',
        () => core.ideas.setStatus(owner, { id: draft.id, version: 1, status: 'open' }),
      ],
      ['ideas.remove', () => core.ideas.remove(owner, at)],
      ['ratings.set', () => core.ratings.set(member, { ideaId: idea.id, stars: 1 })],
      ['ratings.clear', () => core.ratings.clear(member, { ideaId: idea.id })],
      [
        'guidance.create',
        () => core.guidance.create(owner, { workspaceId, title: 'x', body: { text: 'x' } }),
      ],
      ['guidance.update', () => core.guidance.update(owner, { id: guidance.id, version: 1, title: 'x' })],
      ['guidance.remove', () => core.guidance.remove(owner, { id: guidance.id, version: 1 })],
    ];
    for (const [name, call] of calls) {
      expect([name, await refusal(call())]).toEqual([
        name,
        {
          reason: 'WORKSPACE_ARCHIVED',
          message: 'This workspace is archived: it can be read, not changed. An owner can bring it back.',
          details: {},
        },
      ]);
    }
    expect(await counts(workspaceId)).toEqual(before);

    const seen = await core.workspaces.get(owner, { id: workspaceId });
    expect(seen.may).toEqual({
      edit: false,
      archive: true,
      manageMembers: false,
      post: false,
      rate: false,
      writeGuidance: false,
    });
    expect(seen.mayPost).toBe(false);
    expect(await core.ideas.get(member, { id: idea.id })).toMatchObject({
      mayRate: false,
      may: { edit: false, remove: false, setStatus: [] },
      score: { raters: 1, mean: 4 },
    });
    expect((await core.guidance.get(owner, { id: guidance.id })).may).toEqual({ edit: false });
    expect((await core.workspaces.list(member, { ...page, archived: false })).items).toEqual([]);
    const listed = (await core.workspaces.list(member, { ...page, archived: true })).items;
    expect(listed.map((w) => w.mayPost)).toEqual([false]);
    expect(
      await reasonOf(core.workspaces.archive(member, { id: workspaceId, version: 2, archived: false })),
    ).toBe('ROLE_REQUIRED');
    await core.workspaces.archive(owner, { id: workspaceId, version: 2, archived: false });
    expect((await core.ratings.set(member, { ideaId: idea.id, stars: 1 })).score.mean).toBe(1);
  });

  /** How much has been written about a workspace. */
  async function counts(workspaceId: string) {
    const { db } = world.mysql;
    const events = await db
      .selectFrom('outbox')
      .select('id')
      .where('workspace_id', '=', workspaceId)
      .execute();
    const audit = await db.selectFrom('audit').select('id').where('workspace_id', '=', workspaceId).execute();
    return [events.length, audit.length];
  }
});

test('what allowed a write cannot change before the write is done', async () => {
  const { core, mysql } = world;
  const { id: workspaceId } = await world.workspace(owner);
  const member = await world.member(owner, workspaceId, 'member');
  const idea = await world.idea(owner, workspaceId);
  let release = (): void => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  let locked = (): void => {};
  const holding = new Promise<void>((resolve) => {
    locked = resolve;
  });
  const holder = mysql.transaction(async (trx) => {
    await trx.selectFrom('idea').select('id').where('id', '=', idea.id).forUpdate().execute();
    locked();
    await held;
  });
  await holding;
  // Waits for the idea, after it has looked at role and workspace.
  const rating = core.ratings.set(member, { ideaId: idea.id, stars: 4 });
  /** Whether somebody holds the membership, and the workspace, so that they cannot be changed. */
  const kept = async (table: 'membership' | 'workspace') => {
    const row =
      table === 'membership'
        ? mysql.db
            .selectFrom('membership')
            .select('role')
            .where('workspace_id', '=', workspaceId)
            .where('user_id', '=', member.userId)
        : mysql.db.selectFrom('workspace').select('id').where('id', '=', workspaceId);
    return await row
      .forUpdate()
      .noWait()
      .execute()
      .then(
        () => false,
        () => true,
      );
  };
  const end = Date.now() + 5000;
  while (Date.now() < end && !((await kept('membership')) && (await kept('workspace')))) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  expect([await kept('membership'), await kept('workspace')]).toEqual([true, true]);
  const archiving = core.workspaces.archive(owner, { id: workspaceId, version: 1, archived: true });
  release();
  await Promise.all([holder, rating, archiving]);
  const written = await mysql.db
    .selectFrom('audit')
    .select('action')
    .where('workspace_id', '=', workspaceId)
    .orderBy('id')
    .execute();
  expect(written.map((row) => row.action).slice(-2)).toEqual(['idea.rated', 'workspace.archived']);
  expect(await kept('membership')).toBe(false);
});

describe('guidance', () => {
  test('is written, changed by its author or owners, and removed', async () => {
    const { core } = world;
    const { id: workspaceId } = await world.workspace(owner);
    const editor = await world.member(owner, workspaceId, 'editor');
    const other = await world.member(owner, workspaceId, 'editor');
    const viewer = await world.member(owner, workspaceId, 'viewer');
    const made = await core.guidance.create(editor, {
      workspaceId,
      title: '评分指南 📏',
      body: { text: '先读，再评。🙂' },
    });
    expect(await core.guidance.get(viewer, { id: made.id })).toMatchObject({
      title: '评分指南 📏',
      body: { text: '先读，再评。🙂' },
      may: { edit: false },
    });
    expect(await refusal(core.guidance.update(other, { id: made.id, version: 1, title: 'x' }))).toEqual({
      reason: 'ROLE_REQUIRED',
      message: 'Only its author (as owner or editor) and owners can do this. Ask one of them.',
      details: {},
    });
    const changed = await core.guidance.update(owner, { id: made.id, version: 1, body: { text: 'new' } });
    expect(changed).toMatchObject({ title: '评分指南 📏', body: { text: 'new' }, version: 2 });
    expect(
      await refusal(core.guidance.update(editor, { id: made.id, version: 1, title: 'x' })),
    ).toMatchObject({ reason: 'VERSION_CONFLICT', details: { currentVersion: 2 } });
    await core.guidance.remove(editor, { id: made.id, version: 2 });
    expect(await refusal(core.guidance.get(owner, { id: made.id }))).toEqual({
      reason: 'NOT_FOUND',
      message: 'This guidance does not exist, or you are not a member of its workspace.',
      details: {},
    });
    expect(await world.events(made.id)).toEqual([
      'guidance.published',
      'guidance.revised',
      'guidance.removed',
    ]);
  });

  test('and activity page newest first, each once', async () => {
    const { core } = world;
    const { id: workspaceId } = await world.workspace(owner);
    for (let i = 0; i < 7; i++) {
      await core.guidance.create(owner, { workspaceId, title: `g${i}`, body: { text: 'x' } });
    }
    const guidance = await allPages((cursor) => core.guidance.list(owner, { workspaceId, limit: 3, cursor }));
    expect(guidance.map((g) => g.title)).toEqual(['g6', 'g5', 'g4', 'g3', 'g2', 'g1', 'g0']);
    const activity = await allPages((cursor) => core.activity.list(owner, { workspaceId, limit: 4, cursor }));
    expect(activity.map((a) => a.type)).toEqual([
      ...Array(7).fill('guidance.published'),
      'membership.added',
      'workspace.created',
    ]);
    expect(activity[0]).toMatchObject({
      actor: { id: owner.userId, name: 'Olga' },
      subject: { type: 'guidance', title: 'g6' },
    });
  });

  test('invitations page too', async () => {
    const { id: workspaceId } = await world.workspace(owner);
    for (let i = 0; i < 5; i++) {
      await world.core.invitations.create(owner, { workspaceId, email: `i${i}@x.example`, role: 'member' });
    }
    const all = await allPages((cursor) =>
      world.core.invitations.list(owner, { workspaceId, limit: 2, cursor }),
    );
    expect(all.map((i) => i.email)).toEqual([4, 3, 2, 1, 0].map((i) => `i${i}@x.example`));
  });
});
