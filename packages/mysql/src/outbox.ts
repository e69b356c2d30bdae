import { crc32 } from 'node:zlib';
import { type EventName, type EventPayload, events, subjectOf } from '@sparkroom/contract';
import { sql } from 'kysely';
import type { Db, Mysql, Trx } from './database.ts';
import { parseJson } from './dialect.ts';
import { translateError } from './errors.ts';
import type { Tables } from './types.ts';

/** Relays run one for each partition; an aggregate stays in one, so its order is one relay's business. */
export const PARTITIONS = 4;

/** Partition of an aggregate: CRC-32 of its type and id, modulo {@link PARTITIONS}. */
export const partitionOf = (aggregateType: string, aggregateId: string): number =>
  crc32(`${aggregateType}\u0000${aggregateId}`) % PARTITIONS;

export interface NewEvent<N extends EventName = EventName> {
  /** ULID. */
  id: string;
  type: N;
  aggregateId: string;
  /** Taken by an UPDATE of the aggregate's row in the same transaction, which also holds its lock. */
  aggregateVersion: number;
  workspaceId: string | null;
  actorId: string | null;
  requestId: string | null;
  payload: EventPayload<N>;
  traceparent?: string | null;
}

/** Largest payload in bytes: below the stream's message limit with room for headers. */
export const MAX_PAYLOAD = 256 * 1024;

/**
 * Writes an event into the outbox of the transaction that makes it true.
 * @throws z.ZodError when the payload does not fit the catalogue; Error when it is larger than {@link MAX_PAYLOAD}
 */
export async function insertEvent<N extends EventName>(trx: Trx, event: NewEvent<N>): Promise<void> {
  const definition = events.get(event.type);
  if (!definition) throw new Error(`Event ${event.type} is not in the catalogue`);
  const payload = JSON.stringify(definition.latest.parse(event.payload));
  if (Buffer.byteLength(payload) > MAX_PAYLOAD) throw new Error(`Payload of ${event.type} is too large`);
  await trx
    .insertInto('outbox')
    .values({
      event_id: event.id,
      aggregate_type: definition.aggregate,
      aggregate_id: event.aggregateId,
      aggregate_version: event.aggregateVersion,
      workspace_id: event.workspaceId,
      actor_id: event.actorId,
      request_id: event.requestId,
      type: event.type,
      schema_version: definition.version,
      // Without the deployment's prefix, which the relay puts in front.
      subject: subjectOf('', event.workspaceId, definition.aggregate, event.aggregateId).slice(1),
      payload,
      traceparent: event.traceparent ?? null,
      partition_no: partitionOf(definition.aggregate, event.aggregateId),
    })
    .execute();
}

export interface OutboxRow {
  /** BIGINT as decimal text. */
  id: string;
  eventId: string;
  aggregateType: string;
  aggregateId: string;
  aggregateVersion: number;
  workspaceId: string | null;
  actorId: string | null;
  requestId: string | null;
  type: string;
  schemaVersion: number;
  subject: string;
  payload: unknown;
  traceparent: string | null;
  createdAt: string;
  firstAttemptAt: string | null;
  attempts: number;
  /** How often the stream lost it. */
  republished: number;
}

/** What a relay does with its partition while it holds the partition's lock. */
export interface OutboxSession {
  /** Unpublished rows in id order. Never a cursor: a later id can commit first. */
  pending(limit: number): Promise<OutboxRow[]>;
  /** Marks rows as stored in the stream, each with its sequence. */
  markPublished(rows: ReadonlyArray<{ id: string; streamSeq: number }>): Promise<void>;
  /** Counts an attempt and keeps its error; sets the time of the first one. */
  markAttempt(ids: readonly string[], error: string | null): Promise<void>;
  /**
   * Sets the published rows of an aggregate between two versions (both exclusive) to pending again.
   * @returns all kept rows between the two, in order of their versions
   */
  lost(aggregateType: string, aggregateId: string, after: number, before: number): Promise<OutboxRow[]>;
}

const pendingColumns = [
  'id',
  'event_id',
  'aggregate_type',
  'aggregate_id',
  'aggregate_version',
  'workspace_id',
  'actor_id',
  'request_id',
  'type',
  'schema_version',
  'subject',
  'payload',
  'traceparent',
  'created_at',
  'first_attempt_at',
  'attempts',
  'republished',
] as const satisfies ReadonlyArray<keyof Tables['outbox']>;

/** The query behind {@link OutboxSession.pending}, apart so that a test can ask for its plan. */
export const pendingQuery = (db: Db, partition: number, limit: number) =>
  db
    .selectFrom('outbox')
    .select(pendingColumns)
    .where('partition_no', '=', partition)
    .where('published_at', 'is', null)
    .orderBy('id')
    .limit(limit);

type PendingRow = Awaited<ReturnType<ReturnType<typeof pendingQuery>['execute']>>[number];

const rowOf = (r: PendingRow): OutboxRow => ({
  id: r.id,
  eventId: r.event_id,
  aggregateType: r.aggregate_type,
  aggregateId: r.aggregate_id,
  aggregateVersion: Number(r.aggregate_version),
  workspaceId: r.workspace_id,
  actorId: r.actor_id,
  requestId: r.request_id,
  type: r.type,
  schemaVersion: r.schema_version,
  subject: r.subject,
  payload: parseJson(r.payload),
  traceparent: r.traceparent,
  createdAt: isoOf(r.created_at),
  firstAttemptAt: r.first_attempt_at === null ? null : isoOf(r.first_attempt_at),
  attempts: r.attempts,
  republished: r.republished,
});

function sessionOn(db: Db, partition: number): OutboxSession {
  return {
    async pending(limit) {
      return (await pendingQuery(db, partition, limit).execute()).map(rowOf);
    },
    async markPublished(rows) {
      if (rows.length === 0) return;
      const cases = sql.join(
        rows.map((r) => sql`when ${r.id} then ${r.streamSeq}`),
        sql` `,
      );
      await db
        .updateTable('outbox')
        .set({
          published_at: sql<string>`current_timestamp(6)`,
          stream_seq: sql<string>`case id ${cases} end`,
          last_error: null,
        })
        .where(
          'id',
          'in',
          rows.map((r) => r.id),
        )
        .execute();
    },
    async markAttempt(ids, error) {
      if (ids.length === 0) return;
      await db
        .updateTable('outbox')
        .set((eb) => ({
          attempts: eb('attempts', '+', 1),
          first_attempt_at: sql<string>`coalesce(first_attempt_at, current_timestamp(6))`,
          last_error: error === null ? null : error.slice(0, 500),
        }))
        .where('id', 'in', [...ids])
        .execute();
    },
    async lost(aggregateType, aggregateId, after, before) {
      await db
        .updateTable('outbox')
        .set((eb) => ({ published_at: null, stream_seq: null, republished: eb('republished', '+', 1) }))
        .where('aggregate_type', '=', aggregateType)
        .where('aggregate_id', '=', aggregateId)
        .where('aggregate_version', '>', String(after))
        .where('aggregate_version', '<', String(before))
        .where('published_at', 'is not', null)
        .execute();
      const rows = await db
        .selectFrom('outbox')
        .select(pendingColumns)
        .where('aggregate_type', '=', aggregateType)
        .where('aggregate_id', '=', aggregateId)
        .where('aggregate_version', '>', String(after))
        .where('aggregate_version', '<', String(before))
        .orderBy('aggregate_version')
        .execute();
      return rows.map(rowOf);
    },
  };
}

/** The relay's side of the outbox. */
export function outboxOf(mysql: Mysql, lockName = 'outbox') {
  return {
    /**
     * Runs `fn` while one connection holds the partition's named lock; reads and marks go over that same connection,
     * so a relay that lost its lock has lost its way to the outbox too.
     * @returns null when another relay holds the partition
     * @throws StoreUnavailableError
     */
    async withPartition<T>(
      partition: number,
      fn: (session: OutboxSession) => Promise<T>,
      signal: AbortSignal,
    ): Promise<T | null> {
      signal.throwIfAborted();
      try {
        return await mysql.db.connection().execute(async (db) => {
          // Locks are per server, not per database: the database's name keeps two deployments apart.
          const name = sql`concat(left(database(), 40), ':', ${lockName}, ':', ${partition})`;
          const lock = await sql<{ got: unknown }>`select get_lock(${name}, 0) as got`.execute(db);
          if (Number(lock.rows[0]?.got) !== 1) return null;
          try {
            // A relay that hangs (stopped, or its machine gone without a word) would keep the lock as long as its
            // session lives, eight hours by default. A working one asks at least once a second.
            await sql`set session wait_timeout = 15`.execute(db);
            return await fn(sessionOn(db, partition));
          } finally {
            // On a lost connection the server has released it already.
            await sql`select release_lock(${name})`.execute(db).catch(() => {});
            await sql`set session wait_timeout = default`.execute(db).catch(() => {});
          }
        });
      } catch (error) {
        throw translateError(error);
      }
    },
    /** How many events wait for the stream and for how long the oldest has. */
    async depth(): Promise<{ pending: number; oldestMs: number }> {
      const row = await mysql.db
        .selectFrom('outbox')
        .select((eb) => [
          eb.fn.countAll().as('pending'),
          sql<string | null>`timestampdiff(microsecond, min(created_at), current_timestamp(6))`.as('oldest'),
        ])
        .where('published_at', 'is', null)
        .executeTakeFirstOrThrow();
      return { pending: Number(row.pending), oldestMs: Number(row.oldest ?? 0) / 1000 };
    },
    /**
     * Deletes a chunk of rows published more than `hours` ago.
     * @returns rows deleted; call again while it is `limit`
     */
    async purge(hours = 24, limit = 1000): Promise<number> {
      const result = await sql`
        delete from outbox where published_at < current_timestamp(6) - interval ${hours} hour
        order by published_at, id limit ${limit}`.execute(mysql.db);
      return Number(result.numAffectedRows ?? 0);
    },
  };
}

export type Outbox = ReturnType<typeof outboxOf>;

/** `2026-11-30 09:12:05.123456` as stored becomes `2026-11-30T09:12:05.123456Z`. */
export function isoOf(stored: string): string {
  return `${stored.replace(' ', 'T')}Z`;
}
