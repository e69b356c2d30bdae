import { type SqlBool, sql } from 'kysely';
import type { Db, Trx } from '../database.ts';

const openInvitations = (db: Db | Trx, workspaceId: string) =>
  db
    .selectFrom('invitation as i')
    .innerJoin('user as u', 'u.id', 'i.invited_by')
    .select([
      'i.id',
      'i.email',
      'i.role',
      'i.created_at',
      'i.expires_at',
      'i.invited_by',
      'u.name as inviter',
    ])
    .where('i.workspace_id', '=', workspaceId)
    .where('i.open_mark', '=', 1)
    .where('i.expires_at', '>', sql<string>`current_timestamp(6)`);

/** Open invitations, newest first. */
export async function listInvitations(
  db: Db,
  workspaceId: string,
  limit: number,
  after: { createdAt: string; id: string } | null,
) {
  let query = openInvitations(db, workspaceId)
    .orderBy('i.created_at', 'desc')
    .orderBy('i.id', 'desc')
    .limit(limit);
  if (after) {
    query = query.where(
      sql<SqlBool>`(i.created_at <= ${after.createdAt} and (i.created_at < ${after.createdAt} or i.id < ${after.id}))`,
    );
  }
  return await query.execute();
}

/** An open invitation that has not expired, or undefined. */
export async function findInvitation(db: Db | Trx, workspaceId: string, id: string) {
  return await openInvitations(db, workspaceId).where('i.id', '=', id).executeTakeFirst();
}

const byToken = (trx: Trx, tokenHash: Buffer) =>
  trx
    .selectFrom('invitation')
    .selectAll()
    .where('token_hash', '=', tokenHash)
    .where('open_mark', '=', 1)
    .where('expires_at', '>', sql<string>`current_timestamp(6)`);

/** An invitation that can be accepted at this moment, by the SHA-256 of its token. */
export async function findInvitationByToken(trx: Trx, tokenHash: Buffer) {
  return await byToken(trx, tokenHash).executeTakeFirst();
}

/** An invitation that can still be accepted, by the SHA-256 of its token, locked. */
export async function lockInvitationByToken(trx: Trx, tokenHash: Buffer) {
  return await byToken(trx, tokenHash).forUpdate().executeTakeFirst();
}

/** Closes what is open of one inviter's invitations. @returns the ids of those it closed */
export async function closeInvitationsOf(
  trx: Trx,
  workspaceId: string,
  inviterId: string,
): Promise<string[]> {
  const rows = await trx
    .selectFrom('invitation')
    .select('id')
    .where('workspace_id', '=', workspaceId)
    .where('invited_by', '=', inviterId)
    .where('open_mark', '=', 1)
    .orderBy('id')
    .forUpdate()
    .execute();
  const ids = rows.map((row) => row.id);
  if (ids.length > 0) {
    await trx
      .updateTable('invitation')
      .set({ open_mark: null, closed_at: sql<string>`current_timestamp(6)` })
      .where('id', 'in', ids)
      .execute();
  }
  return ids;
}

/** Closes expired invitations for an address, so that the unique key lets a new one in. */
export async function closeExpired(trx: Trx, workspaceId: string, email: string): Promise<void> {
  await trx
    .updateTable('invitation')
    .set({ open_mark: null, closed_at: sql<string>`current_timestamp(6)` })
    .where('workspace_id', '=', workspaceId)
    .where('email', '=', email)
    .where('open_mark', '=', 1)
    .where('expires_at', '<=', sql<string>`current_timestamp(6)`)
    .execute();
}

/** @returns whether it was open */
export async function closeInvitation(
  trx: Trx,
  workspaceId: string,
  id: string,
  acceptedBy: string | null,
): Promise<boolean> {
  const result = await trx
    .updateTable('invitation')
    .set({ open_mark: null, accepted_by: acceptedBy, closed_at: sql<string>`current_timestamp(6)` })
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .where('open_mark', '=', 1)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}
