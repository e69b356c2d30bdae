import { afterAll, beforeAll, expect, test } from 'vitest';
import { insertEvent, type Mysql, outboxAuditOf, outboxOf, PARTITIONS } from '../src/index.ts';
import { placedQuery } from '../src/outbox-audit.ts';
import { eventId, openDatabase, planOf } from './support.ts';

let mysql: Mysql;
const never = new AbortController().signal;

beforeAll(async () => {
  mysql = await openDatabase('outbox_audit');
});
afterAll(() => mysql?.close());

/** Three versions each of three aggregates, placed from 1 on in order of their ids. */
async function fill(): Promise<void> {
  await mysql.db.deleteFrom('outbox').execute();
  for (let version = 1; version <= 3; version++)
    for (const aggregateId of ['a', 'b', 'c'])
      await mysql.transaction((trx) =>
        insertEvent(trx, {
          id: eventId(),
          type: 'client.created',
          aggregateId,
          aggregateVersion: version,
          workspaceId: null,
          actorId: null,
          requestId: null,
          payload: { name: aggregateId },
        }),
      );
  const rows = await mysql.db.selectFrom('outbox').select('id').orderBy('id').execute();
  await outboxOf(mysql).withPartition(
    0,
    (session) => session.markPublished(rows.map(({ id }, index) => ({ id, streamSeq: index + 1 }))),
    never,
  );
}

test('tells what was published by its place', async () => {
  const audit = outboxAuditOf(mysql);
  await mysql.db.deleteFrom('outbox').execute();
  expect(await audit.edges()).toBeNull();
  expect(await audit.doubles(0, 10)).toEqual({ upTo: null, found: false });
  await fill();
  const edges = await audit.edges();
  expect([edges?.first.streamSeq, edges?.last.streamSeq]).toEqual([1, 9]);
  expect((await audit.placed(4, 3)).map((row) => row.streamSeq)).toEqual([4, 5, 6]);
  expect(await audit.has(edges?.last.eventId ?? '')).toBe(true);
  expect(await audit.has('01NOBODY')).toBe(false);
  expect(await audit.doubles(2, 4)).toEqual({ upTo: 5, found: false });
  await mysql.db.updateTable('outbox').set({ stream_seq: '7' }).where('stream_seq', '=', '6').execute();
  expect(await audit.doubles(0, 100)).toEqual({ upTo: 9, found: true });
});

test('sets what was lost to pending, only where it was seen', async () => {
  await fill();
  const audit = outboxAuditOf(mysql);
  const [first, second] = await audit.placed(1, 2);
  if (!first || !second) throw new Error('no rows');
  expect(await audit.republish([])).toBe(0);
  expect(await audit.republish([first, { ...second, streamSeq: 77 }])).toBe(1);
  expect(await audit.republish([first])).toBe(0);
  const again: string[] = [];
  for (let partition = 0; partition < PARTITIONS; partition++)
    await outboxOf(mysql).withPartition(
      partition,
      async (session) => {
        for (const row of await session.pending(10)) again.push(`${row.eventId} ${row.republished}`);
      },
      never,
    );
  expect(again).toEqual([`${first.eventId} 1`]);
});

test('gives an aggregate’s lost events between two versions, in order', async () => {
  await fill();
  const rows = await outboxOf(mysql).withPartition(0, (session) => session.lost('client', 'b', 0, 3), never);
  expect(rows?.map((row) => [row.aggregateId, row.aggregateVersion, row.republished])).toEqual([
    ['b', 1, 1],
    ['b', 2, 1],
  ]);
  expect((await outboxOf(mysql).depth()).pending).toBe(2);
});

test('reads by the index of places, without sorting', async () => {
  await mysql.db.deleteFrom('outbox').execute();
  await mysql.db
    .insertInto('outbox')
    .values(
      Array.from({ length: 3_000 }, (_, i) => ({
        event_id: eventId(),
        aggregate_type: 'client',
        aggregate_id: `many${i}`,
        aggregate_version: 1,
        workspace_id: null,
        actor_id: null,
        request_id: null,
        type: 'client.created',
        schema_version: 1,
        subject: 's',
        payload: '{}',
        traceparent: null,
        partition_no: i % PARTITIONS,
        published_at: '2026-01-01 00:00:00.000000',
        first_attempt_at: null,
        stream_seq: String(i + 1),
        last_error: null,
      })),
    )
    .execute();
  for (const query of [
    placedQuery(mysql.db).orderBy('stream_seq', 'desc').limit(1),
    placedQuery(mysql.db).where('stream_seq', '>=', '2500').orderBy('stream_seq').limit(100),
  ]) {
    const plan = await planOf(query);
    expect(plan.text).toContain('outbox_stream');
    expect(plan.sorts).toBe(false);
  }
});
