import { type SqlBool, sql } from 'kysely';
import type { Db, Trx } from '../database.ts';

/** Where a page continues: strictly after this name and id. */
export interface AfterName {
  name: string;
  id: string;
}

const afterName = (column: string, idColumn: string, after: AfterName) =>
  sql<SqlBool>`(${sql.ref(column)} >= ${after.name} and (${sql.ref(column)} > ${after.name} or ${sql.ref(idColumn)} > ${after.id}))`;

/** Clients of the workspaces a person is in: one join, by name. `limit` rows after `after`. */
export async function clientsOfUser(db: Db, userId: string, limit: number, after: AfterName | null) {
  let query = db
    .selectFrom('membership as m')
    .innerJoin('workspace as w', 'w.id', 'm.workspace_id')
    .innerJoin('client as c', 'c.id', 'w.client_id')
    .select((eb) => ['c.id', 'c.name', eb.fn.count('w.id').as('workspaces')])
    .where('m.user_id', '=', userId)
    .where('m.removed_at', 'is', null)
    .where('w.archived_at', 'is', null)
    .groupBy(['c.id', 'c.name'])
    .orderBy('c.name')
    .orderBy('c.id')
    .limit(limit);
  if (after) query = query.where(afterName('c.name', 'c.id', after));
  const rows = await query.execute();
  return rows.map((r) => ({ id: r.id, name: r.name, workspaceCount: Number(r.workspaces) }));
}

const clientRow = (db: Db | Trx, userId: string) =>
  db
    .selectFrom('client as c')
    .selectAll('c')
    .select((eb) =>
      eb
        .selectFrom('workspace as w')
        .innerJoin('membership as m', (j) =>
          j.onRef('m.workspace_id', '=', 'w.id').on('m.user_id', '=', userId).on('m.removed_at', 'is', null),
        )
        .whereRef('w.client_id', '=', 'c.id')
        .select((e) => e.fn.countAll().as('n'))
        .as('my_workspaces'),
    );

/** One client and how many of its workspaces the person is in. */
export async function findClient(db: Db | Trx, id: string, userId: string) {
  return await clientRow(db, userId).where('c.id', '=', id).executeTakeFirst();
}

export type ClientRow = NonNullable<Awaited<ReturnType<typeof findClient>>>;

/** Clients by name: those the person made or shares a workspace of, or all of them. */
export async function listClients(
  db: Db,
  options: { userId: string; all: boolean; archived: boolean; limit: number; after: AfterName | null },
): Promise<ClientRow[]> {
  const { userId, after } = options;
  let query = clientRow(db, userId)
    .where('c.archived_at', options.archived ? 'is not' : 'is', null)
    .orderBy('c.name')
    .orderBy('c.id')
    .limit(options.limit);
  if (after) query = query.where(afterName('c.name', 'c.id', after));
  if (!options.all) {
    // Two look-ups by index instead of a scan over all clients.
    query = query.where('c.id', 'in', (eb) =>
      eb
        .selectFrom('workspace as mw')
        .innerJoin('membership as mm', 'mm.workspace_id', 'mw.id')
        .select('mw.client_id as id')
        .where('mm.user_id', '=', userId)
        .where('mm.removed_at', 'is', null)
        .union(eb.selectFrom('client as own').select('own.id').where('own.created_by', '=', userId)),
    );
  }
  return await query.execute();
}

/** The client's row, locked until the transaction ends. */
export async function lockClient(trx: Trx, id: string) {
  return await trx.selectFrom('client').selectAll().where('id', '=', id).forUpdate().executeTakeFirst();
}

/** Names by id, in one query. */
export async function clientNames(db: Db | Trx, ids: readonly string[]) {
  const distinct = [...new Set(ids)];
  if (distinct.length === 0) return [];
  return await db.selectFrom('client').select(['id', 'name']).where('id', 'in', distinct).execute();
}
