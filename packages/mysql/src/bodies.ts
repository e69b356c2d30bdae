import { sql } from 'kysely';
import type { Db, Mysql, Trx } from './database.ts';
import { parseJson } from './dialect.ts';
import { insertEvent } from './outbox.ts';

export type BodyKind = 'idea' | 'guidance';

export interface PendingBody {
  id: string;
  version: number;
  workspaceId: string;
  title: string;
  body: { text: string };
}

/** The two tables of waiting texts have one shape but for the name of the id. */
const pendingTable = (kind: BodyKind) => ({
  table: sql.table(`${kind}_pending`),
  id: sql.ref(`${kind}_id`),
});

/** Keeps a text in the transaction of its command, until the document store has it. */
export async function insertPending(
  trx: Trx,
  kind: BodyKind,
  id: string,
  version: number,
  body: { text: string },
): Promise<void> {
  const pending = pendingTable(kind);
  await sql`insert into ${pending.table} (${pending.id}, version, body)
    values (${id}, ${version}, ${JSON.stringify(body)})`.execute(trx);
}

async function dropPending(trx: Trx, kind: BodyKind, id: string, upTo: number): Promise<void> {
  const pending = pendingTable(kind);
  await sql`delete from ${pending.table} where ${pending.id} = ${id} and version <= ${upTo}`.execute(trx);
}

/**
 * Texts that the document store may not have yet, by id and version: what readers take before they ask it.
 * @param versions only these; while the projector is away, many texts of one id can wait
 */
export async function pendingBodies(
  db: Db | Trx,
  kind: BodyKind,
  ids: readonly string[],
  versions?: readonly number[],
): Promise<Map<string, Map<number, { text: string }>>> {
  const found = new Map<string, Map<number, { text: string }>>();
  if (ids.length === 0 || versions?.length === 0) return found;
  const pending = pendingTable(kind);
  const wanted = versions ? sql`and version in (${sql.join(versions)})` : sql``;
  const { rows } = await sql<{ id: string; version: number; body: string | { text: string } }>`
    select ${pending.id} as id, version, body from ${pending.table}
    where ${pending.id} in (${sql.join(ids)}) ${wanted}`.execute(db);
  for (const row of rows) {
    const texts = found.get(row.id) ?? new Map<number, { text: string }>();
    texts.set(row.version, parseJson(row.body));
    found.set(row.id, texts);
  }
  return found;
}

/** The projector's side: carries texts from MySQL into the document store and confirms them. */
export function bodiesOf(mysql: Mysql, newEventId: () => string) {
  return {
    /** The text of one version; null when it has been confirmed (or its owner removed) already. */
    async pending(kind: BodyKind, id: string, version: number): Promise<PendingBody | null> {
      const row = await mysql.db
        .selectFrom(kind)
        .select(['workspace_id', 'title'])
        .where('id', '=', id)
        .where('removed_at', 'is', null)
        .executeTakeFirst();
      const body = (await pendingBodies(mysql.db, kind, [id], [version])).get(id)?.get(version);
      if (!row || !body) return null;
      return { id, version, workspaceId: row.workspace_id, title: row.title, body };
    },

    /**
     * Says that the document store has the text of `version`: one transaction that moves `stored_version` forward,
     * drops pending texts up to it and writes `bodyStored`. Repeating it, or coming late, does nothing.
     * @returns whether this call was the one that moved it
     */
    async confirm(kind: BodyKind, id: string, version: number): Promise<boolean> {
      return await mysql.transaction(async (trx) => {
        const row = await trx
          .selectFrom(kind)
          .select(['workspace_id', 'stored_version', 'body_version', 'event_version', 'removed_at'])
          .where('id', '=', id)
          .forUpdate()
          .executeTakeFirst();
        if (!row) return false;
        await dropPending(trx, kind, id, version);
        if (row.stored_version >= version || version > row.body_version || row.removed_at !== null)
          return false;
        const eventVersion = row.event_version + 1;
        await trx
          .updateTable(kind)
          .set({ stored_version: version, event_version: eventVersion })
          .where('id', '=', id)
          .execute();
        await insertEvent(trx, {
          id: newEventId(),
          type: `${kind}.bodyStored`,
          aggregateId: id,
          aggregateVersion: eventVersion,
          workspaceId: row.workspace_id,
          actorId: null,
          requestId: null,
          payload: { bodyVersion: version },
        });
        return true;
      });
    },

    /** Drops what is still pending of something that was removed. */
    async discard(kind: BodyKind, id: string): Promise<void> {
      await mysql.transaction(async (trx) => {
        const row = await trx
          .selectFrom(kind)
          .select('removed_at')
          .where('id', '=', id)
          .forUpdate()
          .executeTakeFirst();
        if (!row || row.removed_at === null) return;
        await dropPending(trx, kind, id, 2 ** 32 - 1);
      });
    },

    /**
     * Texts that have waited longer than `olderThanMs`: their event was lost on the way or the projector is behind.
     * Oldest first, for the reconciler to project again; versions of one id in order.
     */
    async stale(
      olderThanMs: number,
      limit: number,
    ): Promise<Array<{ kind: BodyKind; id: string; version: number }>> {
      const found: Array<{ kind: BodyKind; id: string; version: number }> = [];
      for (const kind of ['idea', 'guidance'] as const) {
        const pending = pendingTable(kind);
        const { rows } = await sql<{ id: string; version: number }>`
          select ${pending.id} as id, version from ${pending.table}
          where created_at < current_timestamp(6) - interval ${olderThanMs * 1000} microsecond
          order by created_at, version limit ${limit}`.execute(mysql.db);
        found.push(...rows.map((r) => ({ kind, id: r.id, version: r.version })));
      }
      return found;
    },
  };
}

export type BodyProjection = ReturnType<typeof bodiesOf>;
