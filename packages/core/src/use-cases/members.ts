import type { Member, Paged, Role } from '@sparkroom/contract';
import {
  findMember,
  findUserByEmail,
  isoOf,
  listMembers,
  lockAgainstRename,
  lockMembership,
  lockOwners,
  lockSeat,
  type MemberRow,
  now,
  putMembership,
  setRatingsCounted,
  type Trx,
} from '@sparkroom/mysql';
import type { Actor, Core } from '../core.ts';
import { decodeCursor, encodeCursor, pageOf } from '../cursor.ts';
import { afterCommit, type Kit, membershipId } from '../deps.ts';
import { DomainError, notFound } from '../errors.ts';
import { MEMBERS } from '../families.ts';
import { versionOf } from '../invalidator.ts';
import { allows, mayRateAtAll } from '../policy.ts';
import { readIn, writeIn } from './access.ts';
import { withdrawInvitationsOf } from './withdraw-invitations.ts';

const toMember = (row: MemberRow): Member => ({
  userId: row.user_id,
  name: row.name,
  email: row.email,
  role: row.role,
  since: isoOf(row.created_at),
});

export const alreadyMember = () =>
  new DomainError('ALREADY_MEMBER', 'This person is a member of the workspace already.');

const lastOwner = () =>
  new DomainError(
    'LAST_OWNER',
    'A workspace needs an owner. Make somebody else an owner first, then repeat this.',
  );

/** Adds or brings back a member, makes their ratings count, and records it. The caller has checked the right. */
export async function join(
  { record }: Pick<Kit, 'record'>,
  trx: Trx,
  actor: Actor,
  member: { workspaceId: string; userId: string; role: Role },
): Promise<void> {
  const { workspaceId, userId, role } = member;
  await lockAgainstRename(trx, workspaceId);
  const version = await putMembership(trx, workspaceId, userId, role);
  if (mayRateAtAll(role)) await setRatingsCounted(trx, workspaceId, userId, true);
  await record(trx, actor, {
    type: 'membership.added',
    aggregateId: membershipId(workspaceId, userId),
    aggregateVersion: version,
    workspaceId,
    payload: { userId, role },
  });
}

export function memberUseCases(kit: Kit): Core['members'] {
  const { mysql, cache, command, record } = kit;

  const member = async (workspaceId: string, userId: string): Promise<Member> => {
    const row = await findMember(mysql.db, workspaceId, userId);
    if (!row) throw notFound('member');
    return toMember(row);
  };

  async function page(
    workspaceId: string,
    limit: number,
    after: readonly [number, string, string] | null,
  ): Promise<Paged<Member>> {
    const rows = await listMembers(
      mysql.db,
      workspaceId,
      limit + 1,
      after && { strength: after[0], name: after[1], id: after[2] },
    );
    return pageOf(rows, limit, toMember, (row) =>
      encodeCursor('members.list', [Number(row.strength), row.name, row.user_id]),
    );
  }

  return {
    async list(actor, { workspaceId, limit, cursor }) {
      const after = decodeCursor('members.list', ['number', 'string', 'id'], cursor);
      const { versions } = await readIn(mysql, actor, workspaceId);
      if (after) return await page(workspaceId, limit, after);
      return await cache.read(
        MEMBERS,
        { id: workspaceId, variant: String(limit), version: versionOf.room(versions) },
        () => page(workspaceId, limit, null),
      );
    },
    async add(actor, { workspaceId, email, role }) {
      const userId = await command(async (trx) => {
        await writeIn(trx, actor, workspaceId, 'members.manage');
        const user = await findUserByEmail(trx, email);
        if (!user) {
          throw new DomainError(
            'USER_NOT_REGISTERED',
            'Nobody has an account with this address yet. Send an invitation instead.',
          );
        }
        if ((await lockSeat(trx, workspaceId, user.id)).removed_at === null) throw alreadyMember();
        await join(kit, trx, actor, { workspaceId, userId: user.id, role });
        return user.id;
      });
      return await afterCommit(member(workspaceId, userId));
    },
    async setRole(actor, { workspaceId, userId, role }) {
      await command(async (trx) => {
        // Owners first and always, so that two demotions cannot pass each other.
        const owners = await lockOwners(trx, workspaceId);
        await writeIn(trx, actor, workspaceId, 'members.manage');
        const row = await lockMembership(trx, workspaceId, userId);
        if (!row || row.removed_at !== null) throw notFound('member');
        if (row.role === role) return;
        if (row.role === 'owner' && owners.length === 1) throw lastOwner();
        const version = row.event_version + 1;
        await trx
          .updateTable('membership')
          .set({ role, event_version: version })
          .where('workspace_id', '=', workspaceId)
          .where('user_id', '=', userId)
          .execute();
        if (mayRateAtAll(row.role) !== mayRateAtAll(role)) {
          await setRatingsCounted(trx, workspaceId, userId, mayRateAtAll(role));
        }
        if (!allows(role, 'members.manage')) await withdrawInvitationsOf(trx, actor, workspaceId, userId);
        await record(trx, actor, {
          type: 'membership.roleChanged',
          aggregateId: membershipId(workspaceId, userId),
          aggregateVersion: version,
          workspaceId,
          payload: { userId, from: row.role, to: role },
        });
      });
      return await afterCommit(member(workspaceId, userId));
    },
    async remove(actor, { workspaceId, userId }) {
      await command(async (trx) => {
        const owners = await lockOwners(trx, workspaceId);
        // Whoever may read may leave.
        await writeIn(trx, actor, workspaceId, userId === actor.userId ? 'workspace.read' : 'members.manage');
        const row = await lockMembership(trx, workspaceId, userId);
        if (!row || row.removed_at !== null) throw notFound('member');
        if (row.role === 'owner' && owners.length === 1) throw lastOwner();
        const version = row.event_version + 1;
        await trx
          .updateTable('membership')
          .set({ removed_at: now, event_version: version })
          .where('workspace_id', '=', workspaceId)
          .where('user_id', '=', userId)
          .execute();
        await setRatingsCounted(trx, workspaceId, userId, false);
        await withdrawInvitationsOf(trx, actor, workspaceId, userId);
        await record(trx, actor, {
          type: 'membership.removed',
          aggregateId: membershipId(workspaceId, userId),
          aggregateVersion: version,
          workspaceId,
          payload: { userId },
        });
      });
      return { removed: true };
    },
  };
}
