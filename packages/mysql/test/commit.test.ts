import { once } from 'node:events';
import { connect, createServer, type Server } from 'node:net';
import { StoreUnavailableError } from '@sparkroom/pools';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Mysql, openMysql } from '../src/index.ts';
import { eventId, insertUser, openDatabase, settingsOf } from './support.ts';

/** What happens to the next COMMIT on its way: it arrives and its answer does not, or it does not arrive. */
type Cut = 'answer' | 'commit';

let direct: Mysql;
let far: Mysql;
let server: Server;
let cut: Cut | null = null;

beforeAll(async () => {
  direct = await openDatabase('commit');
  const url = new URL(settingsOf('commit').url);
  const [host, port] = [url.hostname, Number(url.port)];
  server = createServer((near) => {
    const there = connect(port, host);
    let doomed = false;
    const end = () => {
      near.destroy();
      there.destroy();
    };
    near.on('data', (bytes: Buffer) => {
      if (cut !== null && /commit/i.test(bytes.toString('latin1'))) {
        doomed = true;
        const arrives = cut === 'answer';
        cut = null;
        if (!arrives) return end();
      }
      there.write(bytes);
    });
    there.on('data', (bytes) => (doomed ? end() : near.write(bytes)));
    for (const socket of [near, there]) socket.on('error', () => {}).on('close', end);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as { port: number }).port);
  far = await openMysql({ ...settingsOf('commit'), url: url.href, connections: 2 });
});
afterAll(async () => {
  await far?.close();
  await direct?.close();
  server?.close();
});

const nameOf = async (id: string) =>
  (await direct.db.selectFrom('user').select('name').where('id', '=', id).executeTakeFirst())?.name;

test.each([
  ['answer', 'new'],
  ['commit', 'old'],
] as const)(
  'a connection lost during COMMIT (%s) leaves an unknown outcome, and is not repeated',
  async (what, name) => {
    const id = eventId();
    await insertUser(direct, id, 'old');
    let tries = 0;
    const error = await far
      .transaction(async (trx) => {
        tries++;
        await trx.updateTable('user').set({ name: 'new' }).where('id', '=', id).execute();
        cut = what;
      })
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(StoreUnavailableError);
    expect(error).toMatchObject({ store: 'mysql', outcome: 'unknown' });
    expect([tries, await nameOf(id)]).toEqual([1, name]);
    expect(far.gate.stats().busy).toBe(0);
    // The next one works.
    await far.transaction((trx) =>
      trx.updateTable('user').set({ name: 'newer' }).where('id', '=', id).execute(),
    );
    expect(await nameOf(id)).toBe('newer');
  },
);

test('one lost before COMMIT has changed nothing and says nothing else', async () => {
  const error = await far
    .transaction(async () => {
      throw new StoreUnavailableError('mysql');
    })
    .catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ store: 'mysql', outcome: undefined });
});
