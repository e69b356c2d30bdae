import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  bodiesOf,
  inboxOf,
  insertEvent,
  insertPending,
  type Mysql,
  openMysql,
  outboxOf,
  PARTITIONS,
  partitionOf,
  type Trx,
  usersOf,
} from '../src/index.ts';
import { pendingQuery } from '../src/outbox.ts';
import {
  door,
  eventId,
  insertIdea,
  insertUser,
  insertWorkspace,
  openDatabase,
  planOf,
  settingsOf,
} from './support.ts';

let mysql: Mysql;
const never = new AbortController().signal;

beforeAll(async () => {
  mysql = await openDatabase('outbox', { connections: 10 });
  await insertUser(mysql, 'ana');
  await insertWorkspace(mysql, 'w', 'ana');
});
afterAll(() => mysql?.close());
beforeEach(async () => {
  await mysql.db.deleteFrom('outbox').execute();
});

const event = (trx: Trx, aggregateId: string, version = 1) =>
  insertEvent(trx, {
    id: eventId(),
    type: 'client.created',
    aggregateId,
    aggregateVersion: version,
    workspaceId: null,
    actorId: 'ana',
    requestId: 'request 请求',
    payload: { name: `客户 🎈 ${aggregateId}` },
  });

/** An aggregate id that falls into a partition. */
function idIn(partition: number, nth = 0): string {
  for (let i = 0; ; i++) if (partitionOf('client', `c${i}`) === partition && nth-- === 0) return `c${i}`;
}

const pending = async (partition: number) =>
  (await outboxOf(mysql).withPartition(partition, (session) => session.pending(100), never)) ?? [];

describe('the outbox', () => {
  test('gives an event as it was written', async () => {
    await mysql.transaction((trx) => event(trx, idIn(1)));
    const [row] = await pending(1);
    expect(row).toMatchObject({
      aggregateType: 'client',
      aggregateId: idIn(1),
      aggregateVersion: 1,
      workspaceId: null,
      actorId: 'ana',
      requestId: 'request 请求',
      type: 'client.created',
      schemaVersion: 1,
      subject: `_.client.${idIn(1)}`,
      payload: { name: `客户 🎈 ${idIn(1)}` },
      attempts: 0,
      firstAttemptAt: null,
    });
    expect(typeof row?.id).toBe('string');
    expect(row?.createdAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
    expect(Math.abs(Date.parse(row?.createdAt ?? '') - Date.now())).toBeLessThan(60_000);
  });

  test('sees an event that commits after a later one (where a cursor would miss it)', async () => {
    const [inserted, release] = [door(), door()];
    const slow = mysql.transaction(async (trx) => {
      await event(trx, idIn(0, 0));
      inserted.open();
      await release.opened;
    });
    await inserted.opened;
    await mysql.transaction((trx) => event(trx, idIn(0, 1)));
    const outbox = outboxOf(mysql);
    const seen = await outbox.withPartition(
      0,
      async (session) => {
        const before = await session.pending(10);
        await session.markPublished(before.map((r) => ({ id: r.id, streamSeq: 7 })));
        release.open();
        await slow;
        return [before, await session.pending(10)];
      },
      never,
    );
    const [before = [], after = []] = seen ?? [];
    expect(before.map((r) => r.aggregateId)).toEqual([idIn(0, 1)]);
    expect(after.map((r) => r.aggregateId)).toEqual([idIn(0, 0)]);
    // The one that came late has the smaller id.
    expect(BigInt(after[0]?.id ?? 0)).toBeLessThan(BigInt(before[0]?.id ?? 0));
  });

  test('keeps partitions apart and gives each in order', async () => {
    for (let p = 0; p < PARTITIONS; p++) {
      await mysql.transaction((trx) => event(trx, idIn(p)));
      await mysql.transaction((trx) => event(trx, idIn(p), 2));
    }
    for (let p = 0; p < PARTITIONS; p++) {
      expect((await pending(p)).map((r) => [r.aggregateId, r.aggregateVersion])).toEqual([
        [idIn(p), 1],
        [idIn(p), 2],
      ]);
    }
  });

  test('lets one session hold a partition', async () => {
    const second = await openMysql(settingsOf('outbox', { connections: 2 }));
    const [holding, release] = [door(), door()];
    const holder = outboxOf(mysql).withPartition(
      2,
      async () => {
        holding.open();
        await release.opened;
        return 'held';
      },
      never,
    );
    await holding.opened;
    for (const other of [mysql, second]) {
      expect(await outboxOf(other).withPartition(2, async () => 'held', never)).toBeNull();
      expect(await outboxOf(other).withPartition(3, async () => 'held', never)).toBe('held');
    }
    release.open();
    expect(await holder).toBe('held');
    expect(await outboxOf(second).withPartition(2, async () => 'held', never)).toBe('held');
    await second.close();
  });

  test('frees a partition whose holder’s work failed or whose process died', async () => {
    const outbox = outboxOf(mysql);
    await expect(
      outbox.withPartition(
        1,
        async () => {
          throw new Error('broken');
        },
        never,
      ),
    ).rejects.toThrow('broken');
    expect(await outbox.withPartition(1, async () => 1, never)).toBe(1);
  });

  test('counts attempts, marks what is published, and deletes it a day later', async () => {
    for (const n of [0, 1, 2]) await mysql.transaction((trx) => event(trx, idIn(3, n)));
    const outbox = outboxOf(mysql);
    await outbox.withPartition(
      3,
      async (session) => {
        const rows = await session.pending(10);
        await session.markAttempt([rows[2]?.id ?? ''], 'no answer 没有回答'.repeat(100));
        await session.markPublished([
          { id: rows[0]?.id ?? '', streamSeq: 11 },
          { id: rows[1]?.id ?? '', streamSeq: 9_007_199_254_740_991 },
        ]);
      },
      never,
    );
    const rows = await mysql.db.selectFrom('outbox').selectAll().orderBy('id').execute();
    expect(rows.map((r) => [r.stream_seq, r.published_at !== null, r.attempts])).toEqual([
      ['11', true, 0],
      ['9007199254740991', true, 0],
      [null, false, 1],
    ]);
    expect(rows[2]?.last_error).toHaveLength(500);
    expect((await outbox.depth()).pending).toBe(1);
    expect(await outbox.purge()).toBe(0);
    await mysql.db
      .updateTable('outbox')
      .set({ published_at: '2020-01-01 00:00:00.000000' })
      .where('stream_seq', '=', '11')
      .execute();
    expect(await outbox.purge()).toBe(1);
    expect(await outbox.purge()).toBe(0);
  });

  test('refuses what does not fit the catalogue, and two events of one version', async () => {
    await expect(
      mysql.transaction((trx) =>
        insertEvent(trx, {
          id: eventId(),
          type: 'client.created',
          aggregateId: 'x',
          aggregateVersion: 1,
          workspaceId: null,
          actorId: null,
          requestId: null,
          payload: { nam: 'typo' } as never,
        }),
      ),
    ).rejects.toThrow();
    await mysql.transaction((trx) => event(trx, 'once'));
    await expect(mysql.transaction((trx) => event(trx, 'once'))).rejects.toMatchObject({ errno: 1062 });
  });

  test('is read by an index alone, however much is published', async () => {
    await mysql.db
      .insertInto('outbox')
      .values(
        Array.from({ length: 3000 }, (_, i) => ({
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
          published_at: i < 2900 ? '2026-01-01 00:00:00.000000' : null,
          first_attempt_at: null,
          last_error: null,
        })),
      )
      .execute();
    const plan = await planOf(pendingQuery(mysql.db, 1, 64));
    expect(plan.text).toContain('outbox_pending');
    expect(plan.sorts).toBe(false);
    // The check itself notices.
    expect((await planOf(mysql.db.selectFrom('outbox').selectAll().orderBy('subject'))).sorts).toBe(true);
    expect(await pending(1)).toHaveLength(25);
  });
});

describe('the inbox', () => {
  test('lets one of two deliveries at the same moment have its effect', async () => {
    const inbox = inboxOf(mysql);
    const id = eventId();
    let effects = 0;
    const deliver = () =>
      inbox.once('projector', id, async (trx) => {
        effects++;
        await trx.updateTable('user').set({ name: 'effect' }).where('id', '=', 'ana').execute();
        return effects;
      });
    const results = await Promise.all([deliver(), deliver(), deliver()]);
    expect(results.filter((r) => r.done)).toHaveLength(1);
    expect(effects).toBe(1);
    expect(await deliver()).toEqual({ done: false });
    expect((await inbox.once('another', id, async () => 'x')).done).toBe(true);
  });

  test('forgets a delivery whose effect failed', async () => {
    const inbox = inboxOf(mysql);
    const id = eventId();
    const failing = inbox.once('projector', id, async () => {
      throw new Error('not now');
    });
    await expect(failing).rejects.toThrow('not now');
    expect(await inbox.once('projector', id, async () => 'done')).toEqual({ done: true, value: 'done' });
  });

  test('passes on a duplicate key of the effect itself', async () => {
    const clash = inboxOf(mysql).once('projector', eventId(), async (trx) => {
      await trx
        .insertInto('client')
        .values({ id: 'w', name: 'x', created_by: null, archived_at: null })
        .execute();
    });
    await expect(clash).rejects.toMatchObject({ errno: 1062 });
  });

  test('keeps what could not be handled, whole', async () => {
    const row = {
      consumer: 'projector',
      eventId: eventId(),
      subject: 's',
      streamSeq: 5,
      payload: { text: '坏 💥' },
      headers: { 'Nats-Msg-Id': 'x' },
      error: '错'.repeat(3000),
      attempts: 3,
    };
    await inboxOf(mysql).deadLetter(row);
    await inboxOf(mysql).deadLetter({ ...row, attempts: 4 });
    const rows = await mysql.db.selectFrom('dead_letter').selectAll().execute();
    expect(rows).toHaveLength(1);
    expect(rows[0]).toMatchObject({ attempts: 4, state: 'dead', stream_seq: '5' });
    expect([...(rows[0]?.error ?? '')]).toHaveLength(2000);
  });
});

describe('waiting texts', () => {
  async function idea(versions: number): Promise<string> {
    const id = eventId();
    await insertIdea(mysql, { id, workspaceId: 'w', authorId: 'ana' });
    await mysql.transaction(async (trx) => {
      for (let v = 1; v <= versions; v++) await insertPending(trx, 'idea', id, v, { text: `文 ${v}` });
      await trx
        .updateTable('idea')
        .set({ version: versions, body_version: versions })
        .where('id', '=', id)
        .execute();
    });
    return id;
  }
  const stateOf = async (id: string) => {
    const row = await mysql.db
      .selectFrom('idea')
      .select(['stored_version', 'event_version'])
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    const waiting = await mysql.db
      .selectFrom('idea_pending')
      .select('version')
      .where('idea_id', '=', id)
      .orderBy('version')
      .execute();
    return [row.stored_version, row.event_version, waiting.map((w) => w.version)];
  };

  test('are confirmed once, in whatever order and however often that is said', async () => {
    const bodies = bodiesOf(mysql, eventId);
    const id = await idea(3);
    expect(await bodies.pending('idea', id, 2)).toEqual({
      id,
      version: 2,
      workspaceId: 'w',
      title: id,
      body: { text: '文 2' },
    });
    const results = await Promise.all([1, 1, 1].map(() => bodies.confirm('idea', id, 2)));
    expect(results.sort()).toEqual([false, false, true]);
    expect(await stateOf(id)).toEqual([2, 2, [3]]);
    expect(await bodies.pending('idea', id, 2)).toBeNull();
    // Late, repeated, and of a version that does not exist.
    expect(await bodies.confirm('idea', id, 1)).toBe(false);
    expect(await bodies.confirm('idea', id, 2)).toBe(false);
    expect(await stateOf(id)).toEqual([2, 2, [3]]);
    expect(await bodies.confirm('idea', id, 3)).toBe(true);
    expect(await stateOf(id)).toEqual([3, 3, []]);
    const events = await mysql.db
      .selectFrom('outbox')
      .select('type')
      .where('aggregate_id', '=', id)
      .execute();
    expect(events.map((e) => e.type)).toEqual(['idea.bodyStored', 'idea.bodyStored']);
  });

  test('of something removed are not given out and can be dropped', async () => {
    const bodies = bodiesOf(mysql, eventId);
    const id = await idea(1);
    await bodies.discard('idea', id);
    expect(await bodies.pending('idea', id, 1)).not.toBeNull();
    await mysql.db
      .updateTable('idea')
      .set({ removed_at: '2026-01-01 00:00:00.000000' })
      .where('id', '=', id)
      .execute();
    expect(await bodies.pending('idea', id, 1)).toBeNull();
    expect(await bodies.confirm('idea', id, 1)).toBe(false);
    await bodies.discard('idea', id);
    expect((await stateOf(id))[2]).toEqual([]);
  });

  test('that wait long are found, oldest first', async () => {
    await mysql.db.deleteFrom('idea_pending').execute();
    const bodies = bodiesOf(mysql, eventId);
    const [young, old] = [await idea(1), await idea(2)];
    await mysql.db
      .updateTable('idea_pending')
      .set({ created_at: '2026-01-01 00:00:00.000000' })
      .where('idea_id', '=', old)
      .execute();
    expect(await bodies.stale(60_000, 10)).toEqual([
      { kind: 'idea', id: old, version: 1 },
      { kind: 'idea', id: old, version: 2 },
    ]);
    expect((await bodies.stale(0, 10)).map((s) => s.id)).toContain(young);
  });
});

test('a registration is announced once, also from several sides', async () => {
  await insertUser(mysql, 'new');
  const users = usersOf(mysql, eventId);
  const results = await Promise.all([users.announce('new'), users.announce('new'), users.announce('new')]);
  expect(results.sort()).toEqual([false, false, true]);
  expect(await users.announce('nobody')).toBe(false);
  await mysql.db.updateTable('user').set({ created_at: '2026-01-01 00:00:00.000000' }).execute();
  await users.announceMissing(100);
  expect(await users.announceMissing(100)).toBe(0);
});
