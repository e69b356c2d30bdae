import type { Me } from '@sparkroom/contract';
import { sql } from 'kysely';
import type { Db, Mysql, Trx } from '../database.ts';
import { insertEvent } from '../outbox.ts';
import { versionIn } from './versions.ts';

/** The account of a person, or undefined. */
export async function findUser(db: Db | Trx, id: string): Promise<Me | undefined> {
  return await db
    .selectFrom('user')
    .select(['id', 'name', 'email', 'role', 'locale'])
    .where('id', '=', id)
    .executeTakeFirst();
}

/** The account with this address (already lower-cased), or undefined. */
export async function findUserByEmail(db: Db | Trx, email: string): Promise<Me | undefined> {
  return await db
    .selectFrom('user')
    .select(['id', 'name', 'email', 'role', 'locale'])
    .where('email', '=', email)
    .executeTakeFirst();
}

/** Sets the language of an account. */
export async function setUserLocale(db: Db | Trx, id: string, locale: 'en' | 'zh'): Promise<void> {
  await db.updateTable('user').set({ locale }).where('id', '=', id).execute();
}

/** Names by id, in one query; ids nobody has are left out. */
export async function userNames(db: Db | Trx, ids: readonly string[]): Promise<Map<string, string>> {
  const distinct = [...new Set(ids)];
  if (distinct.length === 0) return new Map();
  const rows = await db.selectFrom('user').select(['id', 'name']).where('id', 'in', distinct).execute();
  return new Map(rows.map((r) => [r.id, r.name]));
}

/** Registration events. */
export function usersOf(mysql: Mysql, newEventId: () => string) {
  return {
    /**
     * Writes `user.registered` once for an account. The auth library commits the account by itself, so this follows
     * in a transaction of its own; {@link announceMissing} finishes what a crash in between left over.
     * @returns whether this call wrote it
     */
    async announce(userId: string): Promise<boolean> {
      return await mysql.transaction(async (trx) => {
        const user = await trx
          .selectFrom('user')
          .select(['name', 'announced_at', 'event_version'])
          .where('id', '=', userId)
          .forUpdate()
          .executeTakeFirst();
        if (!user || user.announced_at !== null) return false;
        await trx
          .updateTable('user')
          .set({ announced_at: sql<string>`current_timestamp(6)`, event_version: user.event_version + 1 })
          .where('id', '=', userId)
          .execute();
        await insertEvent(trx, {
          id: newEventId(),
          type: 'user.registered',
          aggregateId: userId,
          aggregateVersion: user.event_version + 1,
          workspaceId: null,
          actorId: userId,
          requestId: null,
          payload: { name: user.name },
        });
        return true;
      });
    },
    /** Announces accounts older than ten seconds that nobody announced. @returns how many */
    async announceMissing(limit: number): Promise<number> {
      const rows = await mysql.db
        .selectFrom('user')
        .select('id')
        .where('announced_at', 'is', null)
        .where('created_at', '<', sql<string>`current_timestamp(6) - interval 10 second`)
        .limit(limit)
        .execute();
      let count = 0;
      for (const row of rows) if (await this.announce(row.id)) count++;
      return count;
    },
  };
}

export type Registrations = ReturnType<typeof usersOf>;

/** The person behind a session token that has not expired, or undefined. */
export async function findSession(db: Db, token: string) {
  return await db
    .selectFrom('session as s')
    .innerJoin('user as u', 'u.id', 's.userId')
    // The version of the person's lists comes along: whoever is checked anyway can use them from a cache.
    .select(['u.id as userId', 'u.role', versionIn('user', sql.ref('u.id')).as('version')])
    .where('s.token', '=', token)
    .where('s.expiresAt', '>', sql<string>`current_timestamp(3)`)
    .executeTakeFirst();
}
