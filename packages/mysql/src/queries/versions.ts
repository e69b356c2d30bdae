import { crc32 } from 'node:zlib';
import { type RawBuilder, sql } from 'kysely';
import type { Db, Trx } from '../database.ts';
import { workspaceQuery } from './workspaces.ts';

/**
 * Collections whose changes are counted: `room` the members and ideas of a workspace, `rated` its ratings, `own` what
 * one person rated and drafted in it (id `<workspace>:<user>`), `user` a person's account and list of workspaces.
 */
export type Scope = 'room' | 'rated' | 'own' | 'user';

export interface Touch {
  scope: Scope;
  id: string;
  /** What changed in it: different things count on different rows. */
  part: string;
}

/** Rows that a collection's changes are spread over. */
export const SHARDS = 8;

/** One person's collections have one row: one person does one thing after the other. */
const shardOf = ({ scope, part }: Touch): number =>
  scope === 'room' || scope === 'rated' ? crc32(part) % SHARDS : 0;

/**
 * Counts changes of collections in the transaction that makes them. Best done last: the rows stay locked until it
 * ends. A collection's version is the sum of its rows; each statement sees committed rows only, so a later reading
 * never has a smaller sum, and the same sum means that nothing was committed in between.
 */
export async function touch(trx: Trx, touches: readonly Touch[]): Promise<void> {
  if (touches.length === 0) return;
  const rows = touches
    .map((t) => ({ scope: t.scope, id: t.id, shard: shardOf(t) }))
    // In one order everywhere, so that two transactions cannot wait for each other.
    .sort((a, b) => compare(a.scope, b.scope) || compare(a.id, b.id) || a.shard - b.shard);
  await sql`insert into collection_version (scope, id, shard, version)
    values ${sql.join(rows.map((r) => sql`(${r.scope}, ${r.id}, ${r.shard}, 1)`))}
    on duplicate key update version = version + 1`.execute(trx);
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/**
 * Counts a change in the lists of workspaces of everybody in a workspace. The workspace's row must be locked for
 * update, and whoever joins must lock it in share mode: a member that this does not see yet would keep an old list.
 */
export async function touchMembers(trx: Trx, workspaceId: string): Promise<void> {
  await sql`insert into collection_version (scope, id, shard, version)
    select 'user', m.user_id, 0, 1 from membership m
    where m.workspace_id = ${workspaceId} and m.removed_at is null order by m.user_id
    on duplicate key update version = collection_version.version + 1`.execute(trx);
}

/** The same for everybody in any workspace of a client, whose rows it locks. */
export async function touchMembersOfClient(trx: Trx, clientId: string): Promise<void> {
  await trx
    .selectFrom('workspace')
    .select('id')
    .where('client_id', '=', clientId)
    .orderBy('id')
    .forUpdate()
    .execute();
  await sql`insert into collection_version (scope, id, shard, version)
    select distinct 'user', m.user_id, 0, 1 from membership m join workspace w on w.id = m.workspace_id
    where w.client_id = ${clientId} and m.removed_at is null order by m.user_id
    on duplicate key update version = collection_version.version + 1`.execute(trx);
}

/** Counts a change of a person's name: in their account, and in every workspace that shows it. */
export async function touchPerson(db: Db | Trx, userId: string): Promise<void> {
  await sql`insert into collection_version (scope, id, shard, version)
    select 'user', ${userId}, 0, 1
    union all select 'room', m.workspace_id, 0, 1 from membership m where m.user_id = ${userId}
    on duplicate key update version = collection_version.version + 1`.execute(db);
}

/** Share-locks a workspace's row until the transaction ends; see {@link touchMembers}. */
export async function lockAgainstRename(trx: Trx, workspaceId: string): Promise<void> {
  await trx
    .selectFrom('workspace')
    .select('id')
    .where('id', '=', workspaceId)
    .modifyEnd(sql`lock in share mode`)
    .execute();
}

/** `sum(version)` of one collection as a subquery; text as the driver gives it. `id`: a value or a column. */
export const versionIn = (scope: Scope, id: RawBuilder<unknown>): RawBuilder<string> =>
  sql<string>`(select coalesce(sum(v.version), 0) from collection_version v where v.scope = ${sql.lit(scope)} and v.id = ${id})`;

/** Versions of collections of one scope, in one query; 0 for those never counted. */
export async function versionsOf(
  db: Db | Trx,
  scope: Scope,
  ids: readonly string[],
): Promise<Map<string, number>> {
  const versions = new Map(ids.map((id) => [id, 0]));
  if (versions.size === 0) return versions;
  const rows = await sql<{ id: string; version: string }>`
    select id, sum(version) as version from collection_version
    where scope = ${sql.lit(scope)} and id in (${sql.join([...versions.keys()])}) group by id`.execute(db);
  for (const row of rows.rows) versions.set(row.id, Number(row.version));
  return versions;
}

/** A workspace, the person's role in it, and the versions of its collections, all in one query. */
export async function findRoom(db: Db, id: string, userId: string) {
  const row = await workspaceQuery(db, id, userId)
    .select([
      versionIn('room', sql.ref('w.id')).as('room'),
      versionIn('rated', sql.ref('w.id')).as('rated'),
      versionIn('own', sql`${`${id}:${userId}`}`).as('own'),
    ])
    .executeTakeFirst();
  if (!row) return undefined;
  const { room, rated, own, ...workspace } = row;
  return { workspace, versions: { room: Number(room), rated: Number(rated), own: Number(own) } };
}

export type RoomVersions = NonNullable<Awaited<ReturnType<typeof findRoom>>>['versions'];
