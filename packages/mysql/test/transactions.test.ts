import { StoreUnavailableError } from '@sparkroom/pools';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { insertEvent, isTransient, type Mysql, openMysql, type Trx } from '../src/index.ts';
import { door, eventId, insertUser, openDatabase, settingsOf } from './support.ts';

let mysql: Mysql;
beforeAll(async () => {
  mysql = await openDatabase('transactions', { connections: 10 });
});
afterAll(() => mysql?.close());

const pair = async (): Promise<[string, string]> => {
  const [a, b] = [eventId(), eventId()];
  await insertUser(mysql, a, 'old');
  await insertUser(mysql, b, 'old');
  return [a, b];
};

const rename = (trx: Trx, id: string, name: string) =>
  trx
    .updateTable('user')
    .set((eb) => ({ name, event_version: eb('event_version', '+', 1) }))
    .where('id', '=', id)
    .execute();

async function announce(trx: Trx, id: string, by: string): Promise<void> {
  const { event_version } = await trx
    .selectFrom('user')
    .select('event_version')
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  await insertEvent(trx, {
    id: eventId(),
    type: 'user.registered',
    aggregateId: id,
    aggregateVersion: event_version,
    workspaceId: null,
    actorId: by,
    requestId: null,
    payload: { name: by },
  });
}

const namesOf = async (ids: string[]) =>
  (
    await mysql.db.selectFrom('user').select(['id', 'name']).where('id', 'in', ids).orderBy('id').execute()
  ).map((row) => row.name);
const eventsOf = (ids: string[]) =>
  mysql.db
    .selectFrom('outbox')
    .select(['aggregate_id', 'actor_id'])
    .where('aggregate_id', 'in', ids)
    .execute();

describe('a transaction', () => {
  test('that is rolled back leaves neither its effect nor its event', async () => {
    const [a] = await pair();
    await expect(
      mysql.transaction(async (trx) => {
        await rename(trx, a, 'new');
        await announce(trx, a, 'x');
        throw new Error('changed my mind');
      }),
    ).rejects.toThrow('changed my mind');
    expect(await namesOf([a])).toEqual(['old']);
    expect(await eventsOf([a])).toEqual([]);
  });

  test('that meets a deadlock is repeated as a whole: each effect once, each event once', async () => {
    const ids = await pair();
    const [a, b] = ids;
    const met = [door(), door()];
    const tries = [0, 0];
    const errors: unknown[] = [];
    const swap = (me: 0 | 1) =>
      mysql.transaction(async (trx) => {
        const first = tries[me] === 0;
        tries[me] = (tries[me] ?? 0) + 1;
        const [one, other] = me === 0 ? [a, b] : [b, a];
        try {
          await rename(trx, one, `by ${me}`);
          await announce(trx, one, `user ${me}`);
          if (first) {
            met[me]?.open();
            await met[1 - me]?.opened;
          }
          await rename(trx, other, `by ${me}`);
          await announce(trx, other, `user ${me}`);
        } catch (error) {
          errors.push(error);
          throw error;
        }
      });
    await Promise.all([swap(0), swap(1)]);
    expect(errors.map((e) => (e as { errno?: number }).errno)).toEqual([1213]);
    expect(tries.sort()).toEqual([1, 2]);
    const names = await namesOf(ids);
    expect(names[0]).toBe(names[1]);
    const events = await eventsOf(ids);
    expect(events.map((e) => `${e.actor_id} ${e.aggregate_id}`).sort()).toEqual(
      [`user 0 ${a}`, `user 0 ${b}`, `user 1 ${a}`, `user 1 ${b}`].sort(),
    );
  });

  test('that waits too long for a lock is repeated as a whole', async () => {
    const [a, b] = await pair();
    const [held, release] = [door(), door()];
    const holder = mysql.transaction(async (trx) => {
      await rename(trx, b, 'holder');
      held.open();
      await release.opened;
    });
    await held.opened;
    let tries = 0;
    const waiter = mysql.transaction(async (trx) => {
      tries++;
      await sql`set session innodb_lock_wait_timeout = 1`.execute(trx);
      await rename(trx, a, 'waiter');
      await announce(trx, a, 'waiter');
      try {
        await rename(trx, b, 'waiter');
      } catch (error) {
        release.open();
        throw error;
      }
    });
    await Promise.all([holder, waiter]);
    expect(tries).toBe(2);
    expect(await namesOf([a, b])).toEqual(['waiter', 'waiter']);
    expect(await eventsOf([a])).toHaveLength(1);
  });

  test('gives up after three tries and says what it met', async () => {
    const [a, b] = await pair();
    const [held, release] = [door(), door()];
    const holder = mysql.transaction(async (trx) => {
      await rename(trx, b, 'holder');
      held.open();
      await release.opened;
    });
    await held.opened;
    let tries = 0;
    const error = await mysql
      .transaction(async (trx) => {
        tries++;
        await sql`set session innodb_lock_wait_timeout = 1`.execute(trx);
        await rename(trx, a, 'waiter');
        await announce(trx, a, 'waiter');
        await rename(trx, b, 'waiter');
      })
      .catch((thrown: unknown) => thrown);
    release.open();
    await holder;
    expect([tries, isTransient(error)]).toEqual([3, true]);
    expect(await namesOf([a, b])).toEqual(['old', 'holder']);
    expect(await eventsOf([a, b])).toEqual([]);
  });

  test('whose connection is killed has no effect, and the next one works', async () => {
    const [a] = await pair();
    let tries = 0;
    const error = await mysql
      .transaction(async (trx) => {
        tries++;
        await rename(trx, a, 'new');
        const { rows } = await sql<{ id: string }>`select connection_id() as id`.execute(trx);
        await sql`kill ${sql.raw(String(rows[0]?.id))}`.execute(mysql.db);
        await announce(trx, a, 'x');
      })
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(StoreUnavailableError);
    expect(error).toMatchObject({ store: 'mysql' });
    expect(tries).toBe(1);
    expect(await namesOf([a])).toEqual(['old']);
    await mysql.transaction((trx) => rename(trx, a, 'newer'));
    expect(await namesOf([a])).toEqual(['newer']);
    expect(mysql.gate.stats().busy).toBe(0);
  });

  test('whose first connection died while it was idle is begun on another', async () => {
    const own = await openMysql(settingsOf('transactions', { connections: 1 }));
    const [a] = await pair();
    const { rows } = await sql<{ id: string }>`select connection_id() as id`.execute(own.db);
    await sql`kill ${sql.raw(String(rows[0]?.id))}`.execute(mysql.db);
    await own.transaction((trx) => rename(trx, a, 'new'));
    expect(await namesOf([a])).toEqual(['new']);
    await own.close();
  });

  test('does not repeat a mistake of its own', async () => {
    let tries = 0;
    await expect(
      mysql.transaction(async (trx) => {
        tries++;
        await sql`select nothing from nowhere`.execute(trx);
      }),
    ).rejects.toThrow();
    expect(tries).toBe(1);
  });
});

describe('when all connections are busy', () => {
  test('a caller is told so by the deadline, and served when one is free', async () => {
    const small = await openMysql(settingsOf('transactions', { connections: 2, acquireMs: 300 }));
    const release = door();
    const held = [door(), door()];
    const holders = held.map((d) =>
      small.transaction(async (trx) => {
        await sql`select 1`.execute(trx);
        d.open();
        await release.opened;
      }),
    );
    await Promise.all(held.map((d) => d.opened));
    const started = performance.now();
    const error = await small.ping().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(StoreUnavailableError);
    expect((error as Error).message).toBe('mysql is not available: all connections are busy');
    expect(performance.now() - started).toBeGreaterThan(250);
    expect(performance.now() - started).toBeLessThan(3000);
    expect(small.gate.stats()).toMatchObject({ busy: 2, waiting: 0, rejected: 1 });
    const patient = small.ping();
    release.open();
    await Promise.all([...holders, patient]);
    expect(small.gate.stats().busy).toBe(0);
    await small.close();
  });

  test('a statement that takes too long is given up on, with its connection', async () => {
    const hasty = await openMysql(settingsOf('transactions', { connections: 1, statementMs: 500 }));
    const started = performance.now();
    const error = await sql`select sleep(20)`
      .execute(hasty.db)
      .then(() => null)
      .catch((thrown: unknown) => thrown);
    expect(performance.now() - started).toBeLessThan(5000);
    // MySQL ends SLEEP by an answer of 1 instead of an error.
    if (mysql.flavour === 'mariadb') expect(error).toBeInstanceOf(StoreUnavailableError);
    await hasty.ping();
    await hasty.close();
  });
});

test('a server that is not there is said to be away, without its address or password', async () => {
  const url = new URL(settingsOf('transactions').url);
  url.port = '1';
  const error = await openMysql({ ...settingsOf('transactions'), url: url.href }).catch((e: unknown) => e);
  expect(error).toBeInstanceOf(StoreUnavailableError);
  expect((error as Error).message).toBe('mysql is not available');
});
