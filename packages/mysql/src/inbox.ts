import { sql } from 'kysely';
import type { Mysql, Trx } from './database.ts';
import { parseJson } from './dialect.ts';
import { isDuplicate } from './errors.ts';

class AlreadyProcessed extends Error {}

/** An event that a consumer could not handle, whole. */
export interface DeadLetterRow {
  consumer: string;
  eventId: string;
  subject: string;
  streamSeq: number;
  payload: unknown;
  headers: Record<string, string>;
  error: string;
  attempts: number;
}

const valuesOf = (row: DeadLetterRow) => ({
  consumer: row.consumer,
  event_id: row.eventId,
  subject: row.subject,
  stream_seq: row.streamSeq,
  payload: JSON.stringify(row.payload ?? null),
  headers: JSON.stringify(row.headers),
  error: [...row.error].slice(0, 2000).join(''),
  attempts: row.attempts,
});

/** The consumers' side: which events have had their effect, and which could not have it. */
export function inboxOf(mysql: Mysql) {
  const letter = (consumer: string, eventId: string) =>
    mysql.db.selectFrom('dead_letter').where('consumer', '=', consumer).where('event_id', '=', eventId);
  return {
    /**
     * Runs `effect` in one transaction whose first statement claims the event for this consumer, so a second delivery
     * (even at the same moment elsewhere) has no second effect.
     * @returns `done: false` when the event had its effect before
     */
    async once<T>(
      consumer: string,
      eventId: string,
      effect: (trx: Trx) => Promise<T>,
    ): Promise<{ done: true; value: T } | { done: false }> {
      try {
        const value = await mysql.transaction(async (trx) => {
          try {
            await trx.insertInto('inbox').values({ consumer, event_id: eventId }).execute();
          } catch (error) {
            throw isDuplicate(error) ? new AlreadyProcessed() : error;
          }
          return await effect(trx);
        });
        return { done: true, value };
      } catch (error) {
        if (error instanceof AlreadyProcessed) return { done: false };
        throw error;
      }
    },
    /**
     * Forgets a chunk of events handled more than `days` ago; keep them longer than the stream keeps its events.
     * @returns rows deleted; call again while it is `limit`
     */
    async purge(days: number, limit = 1000): Promise<number> {
      const result = await sql`
        delete from inbox where processed_at < current_timestamp(6) - interval ${days} day
        order by processed_at limit ${limit}`.execute(mysql.db);
      return Number(result.numAffectedRows ?? 0);
    },
    /** Keeps an event that could not be handled, whole, for a person to look at. A repeated call replaces the row. */
    async deadLetter(row: DeadLetterRow): Promise<void> {
      const values = valuesOf(row);
      await mysql.db
        .insertInto('dead_letter')
        .values(values)
        .onDuplicateKeyUpdate({ ...values, state: 'dead' })
        .execute();
    },
    /**
     * Counts a beginning of a handler that may end its process; the row is in state `trying` meanwhile. A dead letter
     * stays one.
     * @returns how often it has begun without an end, this time included; 0 for a dead letter
     */
    async began(row: DeadLetterRow): Promise<number> {
      await mysql.db
        .insertInto('dead_letter')
        .values({ ...valuesOf(row), state: 'trying' })
        .onDuplicateKeyUpdate({ attempts: sql<number>`if(state = 'trying', attempts + 1, attempts)` })
        .execute();
      const { attempts, state } = await letter(row.consumer, row.eventId)
        .select(['attempts', 'state'])
        .executeTakeFirstOrThrow();
      return state === 'trying' ? attempts : 0;
    },
    /** The handler of {@link began} came to its end. */
    async ended(consumer: string, eventId: string): Promise<void> {
      await mysql.db
        .deleteFrom('dead_letter')
        .where('consumer', '=', consumer)
        .where('event_id', '=', eventId)
        .where('state', '=', 'trying')
        .execute();
    },
    /**
     * Asks the consumer to try dead letters again; it looks every few seconds.
     * @param eventIds which; all of the consumer when left out
     * @returns how many were marked
     */
    async retry(consumer: string, eventIds?: readonly string[]): Promise<number> {
      if (eventIds?.length === 0) return 0;
      let query = mysql.db
        .updateTable('dead_letter')
        .set({ state: 'retry' })
        .where('consumer', '=', consumer)
        .where('state', '=', 'dead');
      if (eventIds) query = query.where('event_id', 'in', [...eventIds]);
      return Number((await query.executeTakeFirst()).numUpdatedRows);
    },
    /** Takes dead letters marked by {@link retry}, oldest first; each goes to one caller only and is `dead` again. */
    async claimRetries(consumer: string, limit: number): Promise<DeadLetterRow[]> {
      const rows = await mysql.db
        .selectFrom('dead_letter')
        .selectAll()
        .where('state', '=', 'retry')
        .where('consumer', '=', consumer)
        .orderBy('failed_at')
        .limit(limit)
        .execute();
      const claimed: DeadLetterRow[] = [];
      for (const row of rows) {
        const { numUpdatedRows } = await mysql.db
          .updateTable('dead_letter')
          .set((eb) => ({ state: 'dead', attempts: eb('attempts', '+', 1) }))
          .where('consumer', '=', consumer)
          .where('event_id', '=', row.event_id)
          .where('state', '=', 'retry')
          .executeTakeFirst();
        if (Number(numUpdatedRows) === 0) continue;
        claimed.push({
          consumer,
          eventId: row.event_id,
          subject: row.subject,
          streamSeq: Number(row.stream_seq),
          payload: parseJson(row.payload),
          headers: parseJson(row.headers) as Record<string, string>,
          error: row.error,
          attempts: row.attempts + 1,
        });
      }
      return claimed;
    },
    /** Removes a dead letter that had its effect after all. */
    async settled(consumer: string, eventId: string): Promise<void> {
      await mysql.db
        .deleteFrom('dead_letter')
        .where('consumer', '=', consumer)
        .where('event_id', '=', eventId)
        .execute();
    },
  };
}

export type Inbox = ReturnType<typeof inboxOf>;
