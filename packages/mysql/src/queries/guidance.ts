import { type SqlBool, sql } from 'kysely';
import type { Db, Trx } from '../database.ts';

const guidanceRow = (db: Db | Trx) =>
  db
    .selectFrom('guidance as g')
    .innerJoin('user as u', 'u.id', 'g.author_id')
    .selectAll('g')
    .select('u.name as author_name')
    .where('g.removed_at', 'is', null);

/** One piece of guidance that was not removed, with its author's name, or undefined. */
export async function findGuidance(db: Db | Trx, id: string) {
  return await guidanceRow(db).where('g.id', '=', id).executeTakeFirst();
}

export type GuidanceRow = NonNullable<Awaited<ReturnType<typeof findGuidance>>>;

/** Guidance of a workspace, newest first. */
export async function listGuidance(
  db: Db,
  workspaceId: string,
  limit: number,
  after: { createdAt: string; id: string } | null,
): Promise<GuidanceRow[]> {
  let query = guidanceRow(db)
    .where('g.workspace_id', '=', workspaceId)
    .orderBy('g.created_at', 'desc')
    .orderBy('g.id', 'desc')
    .limit(limit);
  if (after) {
    query = query.where(
      sql<SqlBool>`(g.created_at <= ${after.createdAt} and (g.created_at < ${after.createdAt} or g.id < ${after.id}))`,
    );
  }
  return await query.execute();
}

/** Newest guidance a person wrote, in workspaces they are (still) in, with their role there. */
export async function guidanceByAuthor(db: Db, userId: string, limit: number) {
  return await guidanceRow(db)
    .innerJoin('workspace as w', 'w.id', 'g.workspace_id')
    .innerJoin('membership as m', (j) =>
      j
        .onRef('m.workspace_id', '=', 'g.workspace_id')
        .on('m.user_id', '=', userId)
        .on('m.removed_at', 'is', null),
    )
    .select(['w.name as workspace_name', 'w.archived_at', 'm.role'])
    .where('g.author_id', '=', userId)
    .orderBy('g.created_at', 'desc')
    .orderBy('g.id', 'desc')
    .limit(limit)
    .execute();
}

/** The guidance's own row, locked until the transaction ends. */
export async function lockGuidance(trx: Trx, id: string) {
  return await trx
    .selectFrom('guidance')
    .selectAll()
    .where('id', '=', id)
    .where('removed_at', 'is', null)
    .forUpdate()
    .executeTakeFirst();
}
