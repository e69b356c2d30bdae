import { sql } from 'kysely';
import type { Trx } from '../database.ts';

/** A person's rating; the idea's row must be locked, which makes first ratings by one person come one after the other. */
export async function findRating(trx: Trx, ideaId: string, userId: string) {
  return await trx
    .selectFrom('rating')
    .selectAll()
    .where('idea_id', '=', ideaId)
    .where('user_id', '=', userId)
    .executeTakeFirst();
}

/** Stores a rating over an earlier one of the same person. */
export async function putRating(
  trx: Trx,
  row: { ideaId: string; userId: string; stars: number; counted: boolean; ideaVersion: number },
): Promise<void> {
  await trx
    .insertInto('rating')
    .values({
      idea_id: row.ideaId,
      user_id: row.userId,
      stars: row.stars,
      counted: row.counted,
      idea_version: row.ideaVersion,
    })
    .onDuplicateKeyUpdate({
      stars: row.stars,
      counted: row.counted,
      idea_version: row.ideaVersion,
      updated_at: sql<string>`current_timestamp(6)`,
    })
    .execute();
}

/** Forgets a rating; the idea's sums are the caller's business. */
export async function deleteRating(trx: Trx, ideaId: string, userId: string): Promise<void> {
  await trx.deleteFrom('rating').where('idea_id', '=', ideaId).where('user_id', '=', userId).execute();
}
