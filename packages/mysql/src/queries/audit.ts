import { type SqlBool, sql } from 'kysely';
import type { Db, Trx } from '../database.ts';

export interface AuditEntry {
  actorId: string | null;
  /** An event name, or `aggregate.verb` where there is no event. */
  action: string;
  targetType: string;
  targetId: string;
  workspaceId: string | null;
  /** Only the actor sees it in the workspace's activity. */
  private?: boolean;
  /** Before and after, title and the like. Never a secret. */
  detail: Record<string, unknown>;
  requestId: string | null;
}

/** Writes who did what, in the transaction that does it. */
export async function insertAudit(trx: Trx, entry: AuditEntry): Promise<void> {
  await trx
    .insertInto('audit')
    .values({
      actor_id: entry.actorId,
      action: entry.action,
      target_type: entry.targetType,
      target_id: entry.targetId,
      workspace_id: entry.workspaceId,
      private: entry.private ?? false,
      detail: JSON.stringify(entry.detail),
      request_id: entry.requestId,
    })
    .execute();
}

/** A workspace's activity as one person may see it, newest first. Removed ideas and others' drafts leave no trace. */
export async function listActivity(
  db: Db,
  workspaceId: string,
  userId: string,
  limit: number,
  beforeId: string | null,
) {
  let query = db
    .selectFrom('audit as a')
    .leftJoin('user as u', 'u.id', 'a.actor_id')
    .leftJoin('idea as i', (j) => j.onRef('i.id', '=', 'a.target_id').on('a.target_type', '=', 'idea'))
    .leftJoin('guidance as g', (j) =>
      j.onRef('g.id', '=', 'a.target_id').on('a.target_type', '=', 'guidance'),
    )
    .selectAll('a')
    .select(['u.name as actor_name', sql<string | null>`coalesce(i.title, g.title)`.as('title')])
    .where('a.workspace_id', '=', workspaceId)
    .where((eb) => eb.or([eb('a.private', '=', 0), eb('a.actor_id', '=', userId)]))
    .where(
      sql<SqlBool>`(a.target_type <> 'idea' or (i.removed_at is null and (i.status <> 'draft' or i.author_id = ${userId})))`,
    )
    .where(sql<SqlBool>`(a.target_type <> 'guidance' or g.removed_at is null)`)
    .orderBy('a.id', 'desc')
    .limit(limit);
  if (beforeId) query = query.where('a.id', '<', beforeId);
  return await query.execute();
}
