import { sql } from 'kysely';
import type { Mysql, Trx } from './database.ts';
import { isDuplicate } from './errors.ts';

class AlreadyProcessed extends Error {}

/** The consumers' side: which events have had their effect, and which could not have it. */
export function inboxOf(mysql: Mysql) {
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
    async deadLetter(row: {
      consumer: string;
      eventId: string;
      subject: string;
      streamSeq: number;
      payload: unknown;
      headers: Record<string, string>;
      error: string;
      attempts: number;
    }): Promise<void> {
      const values = {
        consumer: row.consumer,
        event_id: row.eventId,
        subject: row.subject,
        stream_seq: row.streamSeq,
        payload: JSON.stringify(row.payload ?? null),
        headers: JSON.stringify(row.headers),
        error: [...row.error].slice(0, 2000).join(''),
        attempts: row.attempts,
      };
      await mysql.db
        .insertInto('dead_letter')
        .values(values)
        .onDuplicateKeyUpdate({ ...values, state: 'dead' })
        .execute();
    },
  };
}

export type Inbox = ReturnType<typeof inboxOf>;
