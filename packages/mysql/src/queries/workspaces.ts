import type { Role } from '@sparkroom/contract';
import { type SqlBool, sql } from 'kysely';
import type { Db, Trx } from '../database.ts';

/** The query behind {@link findWorkspace}, for those who want more in the same one. */
export const workspaceQuery = (db: Db | Trx, id: string, userId: string) =>
  db
    .selectFrom('workspace as w')
    .innerJoin('client as c', 'c.id', 'w.client_id')
    .leftJoin('membership as m', (j) =>
      j.onRef('m.workspace_id', '=', 'w.id').on('m.user_id', '=', userId).on('m.removed_at', 'is', null),
    )
    .selectAll('w')
    .select(['c.name as client_name', 'm.role'])
    .where('w.id', '=', id);

/** A workspace and the person's role in it; role null when not (or no longer) a member. */
export async function findWorkspace(db: Db | Trx, id: string, userId: string) {
  return await workspaceQuery(db, id, userId).executeTakeFirst();
}

export type WorkspaceRow = NonNullable<Awaited<ReturnType<typeof findWorkspace>>>;

/** The workspace's row, locked until the transaction ends. */
export async function lockWorkspace(trx: Trx, id: string) {
  return await trx.selectFrom('workspace').selectAll().where('id', '=', id).forUpdate().executeTakeFirst();
}

/**
 * The person's role, share-locked until the transaction ends, so that a member cannot be removed between the check
 * and the commit of what the check allowed. (`LOCK IN SHARE MODE` is the form both servers know.)
 */
export async function lockRole(trx: Trx, workspaceId: string, userId: string): Promise<Role | undefined> {
  const row = await trx
    .selectFrom('membership')
    .select('role')
    .where('workspace_id', '=', workspaceId)
    .where('user_id', '=', userId)
    .where('removed_at', 'is', null)
    .modifyEnd(sql`lock in share mode`)
    .executeTakeFirst();
  return row?.role;
}

/**
 * The person's role and whether the workspace is archived, both rows share-locked until the transaction ends: neither
 * can change between the check and the commit of what the check allowed.
 */
export async function lockAccess(trx: Trx, workspaceId: string, userId: string) {
  return await trx
    .selectFrom('membership as m')
    .innerJoin('workspace as w', 'w.id', 'm.workspace_id')
    .select(['m.role', 'w.archived_at'])
    .where('m.workspace_id', '=', workspaceId)
    .where('m.user_id', '=', userId)
    .where('m.removed_at', 'is', null)
    .modifyEnd(sql`lock in share mode`)
    .executeTakeFirst();
}

/** Workspaces of a person by name, without client names: those come from one query for all of the page. */
export async function workspacesOfUser(
  db: Db,
  options: { userId: string; archived: boolean; limit: number; after: { name: string; id: string } | null },
) {
  const { after } = options;
  let query = db
    .selectFrom('membership as m')
    .innerJoin('workspace as w', 'w.id', 'm.workspace_id')
    .selectAll('w')
    .select('m.role')
    .where('m.user_id', '=', options.userId)
    .where('m.removed_at', 'is', null)
    .where('w.archived_at', options.archived ? 'is not' : 'is', null)
    .orderBy('w.name')
    .orderBy('w.id')
    .limit(options.limit);
  if (after) {
    query = query.where(
      sql<SqlBool>`(w.name >= ${after.name} and (w.name > ${after.name} or w.id > ${after.id}))`,
    );
  }
  return await query.execute();
}

/** How many members and ideas a workspace has, and how many drafts whom: drafts are counted for their authors alone. */
export interface RoomCounts {
  members: number;
  ideas: number;
  drafts: Record<string, number>;
}

/** Counts of each workspace, in two queries for all of them. */
export async function roomCounts(db: Db | Trx, ids: readonly string[]): Promise<Map<string, RoomCounts>> {
  const counts = new Map(ids.map((id): [string, RoomCounts] => [id, { members: 0, ideas: 0, drafts: {} }]));
  if (ids.length === 0) return counts;
  const drafter = sql<string | null>`case status when 'draft' then author_id end`;
  const [members, ideas] = await Promise.all([
    db
      .selectFrom('membership')
      .select((eb) => ['workspace_id', eb.fn.countAll().as('n')])
      .where('workspace_id', 'in', [...ids])
      .where('removed_at', 'is', null)
      .groupBy('workspace_id')
      .execute(),
    db
      .selectFrom('idea')
      .select((eb) => ['workspace_id', drafter.as('drafter'), eb.fn.countAll().as('n')])
      .where('workspace_id', 'in', [...ids])
      .where('removed_at', 'is', null)
      .groupBy(['workspace_id', 'drafter'])
      .execute(),
  ]);
  for (const row of members) {
    const entry = counts.get(row.workspace_id);
    if (entry) entry.members = Number(row.n);
  }
  for (const row of ideas) {
    const entry = counts.get(row.workspace_id);
    if (!entry) continue;
    if (row.drafter === null) entry.ideas = Number(row.n);
    else entry.drafts[row.drafter] = Number(row.n);
  }
  return counts;
}

/** A person's stars for some ideas (null where there are none), and whether they have a draft in the workspace. */
export async function ownAmong(
  db: Db | Trx,
  workspaceId: string,
  userId: string,
  ideaIds: readonly string[],
): Promise<{ stars: Record<string, number | null>; drafts: boolean }> {
  const stars: Record<string, number | null> = Object.fromEntries(ideaIds.map((id) => [id, null]));
  const draft = db
    .selectFrom('idea')
    .select(['id', sql<number | null>`null`.as('stars')])
    .where('workspace_id', '=', workspaceId)
    .where('author_id', '=', userId)
    .where('status', '=', 'draft')
    .where('removed_at', 'is', null);
  const rows =
    ideaIds.length === 0
      ? await draft.execute()
      : await db
          .selectFrom('rating')
          .select(['idea_id as id', sql<number | null>`stars`.as('stars')])
          .where('user_id', '=', userId)
          .where('idea_id', 'in', [...ideaIds])
          .unionAll(draft)
          .execute();
  for (const row of rows) if (row.stars !== null) stars[row.id] = row.stars;
  return { stars, drafts: rows.some((row) => row.stars === null) };
}

/** How far the rating of a workspace is, for one person. */
export async function workspacePulse(db: Db, workspaceId: string, userId: string) {
  const rateable = sql`i.status in ('open', 'shortlisted')`;
  const row = await db
    .selectFrom('idea as i')
    .leftJoin('rating as r', (j) => j.onRef('r.idea_id', '=', 'i.id').on('r.user_id', '=', userId))
    .select([
      sql<string | null>`sum(${rateable})`.as('rateable'),
      sql<string | null>`sum(${rateable} and i.author_id <> ${userId} and r.stars is null)`.as('toRate'),
      sql<string | null>`sum(${rateable} and i.rating_count > 0)`.as('rated'),
      sql<string | null>`sum(i.status in ('accepted', 'declined'))`.as('decided'),
    ])
    .where('i.workspace_id', '=', workspaceId)
    .where('i.removed_at', 'is', null)
    .executeTakeFirstOrThrow();
  return {
    rateable: Number(row.rateable ?? 0),
    toRate: Number(row.toRate ?? 0),
    rated: Number(row.rated ?? 0),
    decided: Number(row.decided ?? 0),
  };
}

/** Workspaces of a client that are not archived. */
export async function countOpenWorkspaces(trx: Trx, clientId: string): Promise<number> {
  const row = await trx
    .selectFrom('workspace')
    .select((eb) => eb.fn.countAll().as('n'))
    .where('client_id', '=', clientId)
    .where('archived_at', 'is', null)
    .executeTakeFirstOrThrow();
  return Number(row.n);
}
