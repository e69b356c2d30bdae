import type { Role } from '@sparkroom/contract';
import { type SqlBool, sql } from 'kysely';
import type { Db, Trx } from '../database.ts';

/** Strongest role first; the number is only for sorting. */
const strength = sql<number>`field(m.role, 'owner', 'editor', 'member', 'viewer')`;

const memberRow = (db: Db | Trx, workspaceId: string) =>
  db
    .selectFrom('membership as m')
    .innerJoin('user as u', 'u.id', 'm.user_id')
    .select(['m.user_id', 'u.name', 'u.email', 'm.role', 'm.created_at', strength.as('strength')])
    .where('m.workspace_id', '=', workspaceId)
    .where('m.removed_at', 'is', null);

/** One present member, or undefined. */
export async function findMember(db: Db | Trx, workspaceId: string, userId: string) {
  return await memberRow(db, workspaceId).where('m.user_id', '=', userId).executeTakeFirst();
}

export type MemberRow = NonNullable<Awaited<ReturnType<typeof findMember>>>;

/** Members by strength of role, name and id. */
export async function listMembers(
  db: Db,
  workspaceId: string,
  limit: number,
  after: { strength: number; name: string; id: string } | null,
): Promise<MemberRow[]> {
  let query = memberRow(db, workspaceId)
    .orderBy(strength)
    .orderBy('u.name')
    .orderBy('m.user_id')
    .limit(limit);
  if (after) {
    query = query.where(
      sql<SqlBool>`(${strength} > ${after.strength} or (${strength} = ${after.strength}
        and (u.name > ${after.name} or (u.name = ${after.name} and m.user_id > ${after.id}))))`,
    );
  }
  return await query.execute();
}

/** One membership row, removed or not, locked until the transaction ends. */
export async function lockMembership(trx: Trx, workspaceId: string, userId: string) {
  return await trx
    .selectFrom('membership')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('user_id', '=', userId)
    .forUpdate()
    .executeTakeFirst();
}

/**
 * The membership row of somebody who is to join, locked; one that reads as removed is made when there is none, since
 * a row that does not exist cannot be locked. So two ways of joining at once come one after the other.
 * The transaction must end in {@link putMembership}, or in a rollback, when `removed_at` is not null.
 */
export async function lockSeat(trx: Trx, workspaceId: string, userId: string) {
  await trx
    .insertInto('membership')
    .values({
      workspace_id: workspaceId,
      user_id: userId,
      role: 'viewer',
      event_version: 0,
      removed_at: sql<string>`current_timestamp(6)`,
    })
    .onDuplicateKeyUpdate({ workspace_id: workspaceId })
    .execute();
  return await trx
    .selectFrom('membership')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('user_id', '=', userId)
    .forUpdate()
    .executeTakeFirstOrThrow();
}

/** Ids of the owners, their rows locked: two owners who demote each other at once come one after the other. */
export async function lockOwners(trx: Trx, workspaceId: string): Promise<string[]> {
  const rows = await trx
    .selectFrom('membership')
    .select('user_id')
    .where('workspace_id', '=', workspaceId)
    .where('role', '=', 'owner')
    .where('removed_at', 'is', null)
    .orderBy('user_id')
    .forUpdate()
    .execute();
  return rows.map((r) => r.user_id);
}

/** Adds a member or brings a former one back. @returns the membership's new event version */
export async function putMembership(
  trx: Trx,
  workspaceId: string,
  userId: string,
  role: Role,
): Promise<number> {
  await trx
    .insertInto('membership')
    .values({ workspace_id: workspaceId, user_id: userId, role })
    .onDuplicateKeyUpdate({
      role,
      removed_at: null,
      created_at: sql<string>`current_timestamp(6)`,
      event_version: sql<number>`event_version + 1`,
    })
    .execute();
  const row = await trx
    .selectFrom('membership')
    .select('event_version')
    .where('workspace_id', '=', workspaceId)
    .where('user_id', '=', userId)
    .executeTakeFirstOrThrow();
  return row.event_version;
}

/**
 * Makes a person's ratings in a workspace count, or stop counting, and corrects the sums of those ideas.
 * Own ratings never count; ratings of a viewer do not either.
 */
export async function setRatingsCounted(
  trx: Trx,
  workspaceId: string,
  userId: string,
  counted: boolean,
): Promise<void> {
  // An operator, not a factor of -1: the columns are unsigned, and so is what is computed of them.
  const change = sql.raw(counted ? '+' : '-');
  await sql`
    update idea i
    join rating r on r.idea_id = i.id and r.user_id = ${userId} and r.counted = ${!counted}
    set i.rating_count = i.rating_count ${change} 1,
        i.rating_sum = i.rating_sum ${change} r.stars,
        i.rating_sumsq = i.rating_sumsq ${change} r.stars * r.stars,
        r.counted = ${counted}
    where i.workspace_id = ${workspaceId} and i.author_id <> ${userId}`.execute(trx);
}
