import type { Workspace } from '@sparkroom/contract';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { newId } from '../src/index.ts';
import { allPages, openWorld, type Person, reasonOf, refusal, type World } from './world.ts';

let world: World;
let owner: Person;
let workspace: Workspace;
let workspaceId: string;

beforeAll(async () => {
  world = await openWorld('people');
  owner = await world.person('Olga');
});
afterAll(() => world?.close());
beforeEach(async () => {
  workspace = await world.workspace(owner);
  workspaceId = workspace.id;
});

const roleOf = async (userId: string) => {
  const { items } = await world.core.members.list(owner, { workspaceId, limit: 100 });
  return items.find((m) => m.userId === userId)?.role;
};

const onlyOwners = {
  reason: 'ROLE_REQUIRED',
  message: 'Only owners of this workspace can do this. Ask one of them.',
  details: {},
};
const notInWorkspace = {
  reason: 'NOT_FOUND',
  message: 'This workspace does not exist, or you are not a member of it.',
  details: {},
};

describe('members', () => {
  test('are added with a role, once', async () => {
    const person = await world.person('Bo');
    const added = await world.core.members.add(owner, { workspaceId, email: person.email, role: 'editor' });
    expect(added).toEqual({
      userId: person.userId,
      name: 'Bo',
      email: person.email,
      role: 'editor',
      since: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
    });
    expect(
      await refusal(world.core.members.add(owner, { workspaceId, email: person.email, role: 'viewer' })),
    ).toEqual({
      reason: 'ALREADY_MEMBER',
      message: 'This person is a member of the workspace already.',
      details: {},
    });
    expect(await roleOf(person.userId)).toBe('editor');
    expect(
      await refusal(
        world.core.members.add(owner, { workspaceId, email: 'nobody@sparkroom.example', role: 'member' }),
      ),
    ).toEqual({
      reason: 'USER_NOT_REGISTERED',
      message: 'Nobody has an account with this address yet. Send an invitation instead.',
      details: {},
    });
  });

  test('added twice at once are added once', async () => {
    const person = await world.person('Bo');
    const add = (role: 'editor' | 'viewer') =>
      world.core.members.add(owner, { workspaceId, email: person.email, role });
    const results = await Promise.allSettled([add('editor'), add('viewer'), add('editor')]);
    expect(results.filter((r) => r.status === 'fulfilled')).toHaveLength(1);
    expect(results.flatMap((r) => (r.status === 'rejected' ? [r.reason.reason] : []))).toEqual([
      'ALREADY_MEMBER',
      'ALREADY_MEMBER',
    ]);
    expect(await world.events(`${workspaceId}:${person.userId}`)).toEqual(['membership.added']);
  });

  test('change role, leave and return, and each step is an event of its own', async () => {
    const person = await world.member(owner, workspaceId, 'member');
    const at = { workspaceId, userId: person.userId };
    const { core } = world;
    expect((await core.members.setRole(owner, { ...at, role: 'viewer' })).role).toBe('viewer');
    await core.members.setRole(owner, { ...at, role: 'viewer' });
    expect(await core.members.remove(person, at)).toEqual({ removed: true });
    expect(await refusal(core.workspaces.get(person, { id: workspaceId }))).toEqual(notInWorkspace);
    expect(await refusal(core.members.remove(owner, at))).toMatchObject({ reason: 'NOT_FOUND' });
    await core.members.add(owner, { workspaceId, email: person.email, role: 'editor' });
    expect((await core.workspaces.get(person, { id: workspaceId })).role).toBe('editor');
    const id = `${workspaceId}:${person.userId}`;
    const rows = await world.mysql.db
      .selectFrom('outbox')
      .select(['type', 'aggregate_version'])
      .where('aggregate_id', '=', id)
      .orderBy('id')
      .execute();
    expect(rows.map((r) => [r.type, Number(r.aggregate_version)])).toEqual([
      ['membership.added', 1],
      ['membership.roleChanged', 2],
      ['membership.removed', 3],
      ['membership.added', 4],
    ]);
  });

  test.each(['editor', 'member', 'viewer'] as const)('a %s manages nobody but may leave', async (role) => {
    const person = await world.member(owner, workspaceId, role);
    const other = await world.member(owner, workspaceId, 'member');
    const { core } = world;
    const at = { workspaceId, userId: other.userId };
    const calls = [
      core.members.add(person, { workspaceId, email: owner.email, role: 'member' }),
      core.members.setRole(person, { ...at, role: 'viewer' }),
      core.members.setRole(person, { workspaceId, userId: person.userId, role: 'owner' }),
      core.members.remove(person, at),
      core.invitations.list(person, { workspaceId, limit: 20 }),
      core.invitations.create(person, { workspaceId, email: 'x@sparkroom.example', role: 'owner' }),
      core.invitations.revoke(person, { workspaceId, id: newId() }),
      core.workspaces.update(person, { id: workspaceId, version: 1, name: 'Mine' }),
      core.workspaces.archive(person, { id: workspaceId, version: 1, archived: true }),
    ];
    for (const refused of await Promise.all(calls.map(refusal))) expect(refused).toEqual(onlyOwners);
    expect((await core.members.list(person, { workspaceId, limit: 20 })).items).toHaveLength(3);
    await core.members.remove(person, { workspaceId, userId: person.userId });
    expect(await roleOf(person.userId)).toBeUndefined();
  });

  test('a workspace keeps its last owner', async () => {
    const lastOwner = {
      reason: 'LAST_OWNER',
      message: 'A workspace needs an owner. Make somebody else an owner first, then repeat this.',
      details: {},
    };
    const own = { workspaceId, userId: owner.userId };
    expect(await refusal(world.core.members.setRole(owner, { ...own, role: 'member' }))).toEqual(lastOwner);
    expect(await refusal(world.core.members.remove(owner, own))).toEqual(lastOwner);
  });

  test('also when two owners step down, or remove each other, at the same moment', async () => {
    for (const how of ['setRole', 'remove', 'each other'] as const) {
      const room = await world.workspace(owner);
      const second = await world.member(owner, room.id, 'owner');
      const step = (actor: Person, target: Person) =>
        how === 'setRole'
          ? world.core.members.setRole(actor, {
              workspaceId: room.id,
              userId: target.userId,
              role: 'member',
            })
          : world.core.members.remove(actor, { workspaceId: room.id, userId: target.userId });
      const results = await Promise.allSettled(
        how === 'each other'
          ? [step(owner, second), step(second, owner)]
          : [step(owner, owner), step(second, second)],
      );
      expect(results.map((r) => r.status).sort()).toEqual(['fulfilled', 'rejected']);
      const reason = results.flatMap((r) => (r.status === 'rejected' ? [r.reason.reason] : []));
      // Who was removed first may do nothing any more.
      expect(reason).toEqual([how === 'each other' ? 'NOT_FOUND' : 'LAST_OWNER']);
      const owners = await world.mysql.db
        .selectFrom('membership')
        .select('user_id')
        .where('workspace_id', '=', room.id)
        .where('role', '=', 'owner')
        .where('removed_at', 'is', null)
        .execute();
      expect(owners).toHaveLength(1);
    }
  });

  test('are listed strongest role first, page by page', async () => {
    for (const role of ['viewer', 'member', 'editor', 'member', 'owner', 'viewer'] as const) {
      await world.member(owner, workspaceId, role, `成员 ${role}`);
    }
    const members = await allPages((cursor) =>
      world.core.members.list(owner, { workspaceId, limit: 2, cursor }),
    );
    expect(members.map((m) => m.role)).toEqual([
      'owner',
      'owner',
      'editor',
      'member',
      'member',
      'viewer',
      'viewer',
    ]);
    expect(new Set(members.map((m) => m.userId)).size).toBe(7);
  });
});

describe('invitations', () => {
  const invite = (email: string, role: 'member' | 'editor' = 'member') =>
    world.core.invitations.create(owner, { workspaceId, email, role });
  const invalid = {
    reason: 'INVITATION_INVALID',
    message:
      'This invitation cannot be used: it was used or withdrawn, or it has expired. Ask for a new one.',
    details: {},
  };

  test('bring in whoever they were sent to, once', async () => {
    const person = await world.person('Wei 魏');
    const invitation = await invite(person.email, 'editor');
    expect(invitation.token).toMatch(/^[\w-]{43}$/);
    const { items } = await world.core.invitations.list(owner, { workspaceId, limit: 20 });
    expect(items).toEqual([
      expect.objectContaining({ id: invitation.id, email: person.email, role: 'editor' }),
    ]);
    expect(JSON.stringify(items)).not.toContain(invitation.token);
    const rows = await world.mysql.db.selectFrom('invitation').selectAll().execute();
    expect(JSON.stringify(rows)).not.toContain(invitation.token);

    const joined = await world.core.invitations.accept(person, { token: invitation.token });
    expect(joined).toMatchObject({ id: workspaceId, role: 'editor', memberCount: 2 });
    expect(await refusal(world.core.invitations.accept(person, { token: invitation.token }))).toEqual(
      invalid,
    );
    expect((await world.core.invitations.list(owner, { workspaceId, limit: 20 })).items).toEqual([]);
  });

  test('accepted twice at the same moment let in once', async () => {
    const person = await world.person();
    const { token } = await invite(person.email);
    const results = await Promise.allSettled(
      [1, 2, 3].map(() => world.core.invitations.accept(person, { token })),
    );
    expect(results.map((r) => r.status).sort()).toEqual(['fulfilled', 'rejected', 'rejected']);
    for (const r of results) if (r.status === 'rejected') expect(r.reason.reason).toBe('INVITATION_INVALID');
    expect(await world.events(`${workspaceId}:${person.userId}`)).toEqual(['membership.added']);
  });

  test('are for nobody else', async () => {
    const person = await world.person();
    const thief = await world.person();
    const { token } = await invite(person.email);
    expect(await refusal(world.core.invitations.accept(thief, { token }))).toEqual({
      reason: 'INVITATION_OTHER_PERSON',
      message: 'This invitation is for another e-mail address. Sign in with the address it was sent to.',
      details: {},
    });
    expect(await reasonOf(world.core.workspaces.get(thief, { id: workspaceId }))).toBe('NOT_FOUND');
    expect((await world.core.invitations.accept(person, { token })).id).toBe(workspaceId);
  });

  test('unknown, expired and withdrawn ones answer alike', async () => {
    const person = await world.person();
    const expired = await invite(person.email);
    await world.mysql.db
      .updateTable('invitation')
      .set({ expires_at: '2020-01-01 00:00:00.000000' })
      .where('id', '=', expired.id)
      .execute();
    expect((await world.core.invitations.list(owner, { workspaceId, limit: 20 })).items).toEqual([]);
    const withdrawn = await invite(person.email);
    await world.core.invitations.revoke(owner, { workspaceId, id: withdrawn.id });
    for (const token of ['unknown', expired.token, withdrawn.token]) {
      expect(await refusal(world.core.invitations.accept(person, { token }))).toEqual(invalid);
    }
    expect(await reasonOf(world.core.invitations.revoke(owner, { workspaceId, id: withdrawn.id }))).toBe(
      'NOT_FOUND',
    );
  });

  test.each([
    ['removed', (boss: Person) => world.core.members.remove(owner, { workspaceId, userId: boss.userId })],
    [
      'gone by themselves',
      (boss: Person) => world.core.members.remove(boss, { workspaceId, userId: boss.userId }),
    ],
    [
      'an owner no more',
      (boss: Person) =>
        world.core.members.setRole(owner, { workspaceId, userId: boss.userId, role: 'editor' }),
    ],
  ])('of an inviter who is %s are withdrawn, also when they come back', async (_, end) => {
    const boss = await world.member(owner, workspaceId, 'owner');
    const [person, other] = [await world.person(), await world.person()];
    const { core } = world;
    const theirs = await core.invitations.create(boss, { workspaceId, email: person.email, role: 'owner' });
    const kept = await invite(other.email);
    await end(boss);
    const { items } = await core.invitations.list(owner, { workspaceId, limit: 100 });
    expect(items.map((i) => i.id)).toContain(kept.id);
    expect(items.map((i) => i.id)).not.toContain(theirs.id);
    expect(await refusal(core.invitations.accept(person, { token: theirs.token }))).toEqual(invalid);
    const trail = await world.mysql.db
      .selectFrom('audit')
      .select('action')
      .where('target_id', '=', theirs.id)
      .orderBy('id')
      .execute();
    expect(trail.map((row) => row.action)).toEqual(['invitation.created', 'invitation.revoked']);
    await core.members.add(owner, { workspaceId, email: boss.email, role: 'owner' }).catch(() => {});
    expect(await refusal(core.invitations.accept(person, { token: theirs.token }))).toEqual(invalid);
    // The address is free for somebody who may invite.
    expect((await invite(person.email)).email).toBe(person.email);
    expect((await core.invitations.accept(other, { token: kept.token })).id).toBe(workspaceId);
  });

  test('left open by an inviter whose right has ended do not work', async () => {
    const boss = await world.member(owner, workspaceId, 'owner');
    const person = await world.person();
    const { token } = await world.core.invitations.create(boss, {
      workspaceId,
      email: person.email,
      role: 'member',
    });
    const roleIs = (role: 'owner' | 'editor') =>
      world.mysql.db.updateTable('membership').set({ role }).where('user_id', '=', boss.userId).execute();
    await roleIs('editor');
    expect(await refusal(world.core.invitations.accept(person, { token }))).toEqual(invalid);
    await roleIs('owner');
    expect((await world.core.invitations.accept(person, { token })).id).toBe(workspaceId);
  });

  test('accepted while the inviter is put out: in or not, and nothing is left open', async () => {
    for (let round = 0; round < 5; round++) {
      const boss = await world.member(owner, workspaceId, 'owner');
      const person = await world.person();
      const { token } = await world.core.invitations.create(boss, {
        workspaceId,
        email: person.email,
        role: 'member',
      });
      const [accepted, removed] = await Promise.allSettled([
        world.core.invitations.accept(person, { token }),
        world.core.members.remove(owner, { workspaceId, userId: boss.userId }),
      ]);
      expect(removed.status).toBe('fulfilled');
      if (accepted.status === 'rejected') expect(accepted.reason.reason).toBe('INVITATION_INVALID');
      const open = await world.core.invitations.list(owner, { workspaceId, limit: 100 });
      expect(open.items.map((i) => i.email)).not.toContain(person.email);
    }
  });

  test('there is one open for each address', async () => {
    const exists = {
      reason: 'INVITATION_EXISTS',
      message: 'This address has an open invitation already. Withdraw it to send a new one.',
      details: {},
    };
    const first = await invite('new@sparkroom.example');
    expect(await refusal(invite('new@sparkroom.example', 'editor'))).toEqual(exists);
    await world.core.invitations.revoke(owner, { workspaceId, id: first.id });
    await invite('new@sparkroom.example');
    const results = await Promise.allSettled([1, 2, 3, 4].map(() => invite('other@sparkroom.example')));
    expect(results.filter((r) => r.status === 'fulfilled')).toHaveLength(1);
    for (const r of results) if (r.status === 'rejected') expect(r.reason.reason).toBe('INVITATION_EXISTS');
  });

  test('are not for members, and use up when somebody was added by hand', async () => {
    const person = await world.person();
    const { token } = await invite(person.email, 'editor');
    await world.core.members.add(owner, { workspaceId, email: person.email, role: 'viewer' });
    expect(await refusal(invite(person.email))).toMatchObject({ reason: 'ALREADY_MEMBER' });
    expect((await world.core.invitations.accept(person, { token })).role).toBe('viewer');
  });

  test('accepted and added by hand at the same moment leave one membership with one event', async () => {
    for (let round = 0; round < 5; round++) {
      const person = await world.person();
      const { token } = await invite(person.email, 'editor');
      const [accepted, added] = await Promise.allSettled([
        world.core.invitations.accept(person, { token }),
        world.core.members.add(owner, { workspaceId, email: person.email, role: 'viewer' }),
      ]);
      expect(accepted.status).toBe('fulfilled');
      if (added.status === 'rejected') expect(added.reason.reason).toBe('ALREADY_MEMBER');
      expect(await world.events(`${workspaceId}:${person.userId}`)).toEqual(['membership.added']);
    }
  });
});
