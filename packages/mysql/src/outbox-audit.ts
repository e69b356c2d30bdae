import { sql } from 'kysely';
import type { Db, Mysql } from './database.ts';

/** A published event and where the stream put it. */
export interface Placed {
  id: string;
  eventId: string;
  streamSeq: number;
}

/** What is published, with its place: the query behind all of these, apart so that a test can ask for its plan. */
export const placedQuery = (db: Db) =>
  db
    .selectFrom('outbox')
    .select(['id', 'event_id as eventId', 'stream_seq as streamSeq'])
    .where('stream_seq', 'is not', null);

/** The auditor's side of the outbox: what was published, by its place in the stream. Served by `outbox_stream`. */
export function outboxAuditOf(mysql: Mysql) {
  const placed = () => placedQuery(mysql.db);
  const asPlaced = (row: { id: string; eventId: string; streamSeq: string | null }): Placed => ({
    ...row,
    streamSeq: Number(row.streamSeq),
  });
  return {
    /** The kept rows with the lowest and the highest place; null when nothing is published. */
    async edges(): Promise<{ first: Placed; last: Placed } | null> {
      // The last one first: what is published in between is judged the next time.
      const last = await placed().orderBy('stream_seq', 'desc').limit(1).executeTakeFirst();
      const first = await placed().orderBy('stream_seq').limit(1).executeTakeFirst();
      return first && last ? { first: asPlaced(first), last: asPlaced(last) } : null;
    },
    /** Rows placed at `from` or above, in order of their places. */
    async placed(from: number, limit: number): Promise<Placed[]> {
      const rows = await placed()
        .where('stream_seq', '>=', String(from))
        .orderBy('stream_seq')
        .limit(limit)
        .execute();
      return rows.map(asPlaced);
    },
    /**
     * Looks at `limit` places from `from` on for one that two rows claim, by the index alone.
     * @returns the last place looked at (null when there is none), and whether one is claimed twice
     */
    async doubles(from: number, limit: number): Promise<{ upTo: number | null; found: boolean }> {
      const { rows } = await sql<{ rows: string; places: string; upTo: string | null }>`
        select count(*) as \`rows\`, count(distinct stream_seq) as places, max(stream_seq) as upTo
        from (select stream_seq from outbox where stream_seq >= ${from} order by stream_seq limit ${limit}) as t`.execute(
        mysql.db,
      );
      const row = rows[0];
      return {
        upTo: row?.upTo == null ? null : Number(row.upTo),
        found: Number(row?.rows ?? 0) > Number(row?.places ?? 0),
      };
    },
    /**
     * Sets rows that the stream has lost to pending, each only if it is still placed where it was seen.
     * @returns how many were
     */
    async republish(rows: readonly Placed[]): Promise<number> {
      if (rows.length === 0) return 0;
      const cases = sql.join(
        rows.map((row) => sql`when ${row.id} then ${row.streamSeq}`),
        sql` `,
      );
      const result = await mysql.db
        .updateTable('outbox')
        .set((eb) => ({ published_at: null, stream_seq: null, republished: eb('republished', '+', 1) }))
        .where(
          'id',
          'in',
          rows.map((row) => row.id),
        )
        .where('stream_seq', '=', sql<string>`case id ${cases} end`)
        .executeTakeFirst();
      return Number(result.numUpdatedRows);
    },
    /** Whether there is a row of this event, published or not. */
    async has(eventId: string): Promise<boolean> {
      const row = await mysql.db
        .selectFrom('outbox')
        .select('id')
        .where('event_id', '=', eventId)
        .executeTakeFirst();
      return row !== undefined;
    },
  };
}
