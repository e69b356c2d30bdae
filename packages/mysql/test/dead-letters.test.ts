import { afterAll, beforeAll, expect, test } from 'vitest';
import { inboxOf, type Mysql } from '../src/index.ts';
import { eventId, openDatabase } from './support.ts';

let mysql: Mysql;
beforeAll(async () => {
  mysql = await openDatabase('dead_letters');
});
afterAll(() => mysql?.close());

const row = (consumer: string) => ({
  consumer,
  eventId: eventId(),
  subject: '_.client.a',
  streamSeq: 5,
  payload: { text: '坏 💥' },
  headers: { 'Ev-Type': 'client.created' },
  error: 'broken',
  attempts: 1,
});
const stateOf = async (consumer: string) =>
  (
    await mysql.db
      .selectFrom('dead_letter')
      .select(['state', 'attempts'])
      .where('consumer', '=', consumer)
      .orderBy('event_id')
      .execute()
  ).map(({ state, attempts }) => `${state} ${attempts}`);

test('a beginning counts until it ends; a dead letter stays one', async () => {
  const inbox = inboxOf(mysql);
  const one = row('c1');
  expect([await inbox.began(one), await inbox.began(one)]).toEqual([1, 2]);
  expect(await stateOf('c1')).toEqual(['trying 2']);
  await inbox.ended('c1', one.eventId);
  expect(await stateOf('c1')).toEqual([]);
  await inbox.began(one);
  await inbox.deadLetter({ ...one, attempts: 6 });
  expect(await inbox.began(one)).toBe(0);
  await inbox.ended('c1', one.eventId);
  expect(await stateOf('c1')).toEqual(['dead 6']);
});

test('a dead letter to be tried again goes to one taker, whole, and is dead until it is settled', async () => {
  const inbox = inboxOf(mysql);
  const letters = [row('c2'), row('c2'), row('c2')];
  for (const letter of letters) await inbox.deadLetter(letter);
  expect(await inbox.claimRetries('c2', 10)).toEqual([]);
  expect(
    await inbox.retry(
      'c2',
      letters.slice(0, 2).map((letter) => letter.eventId),
    ),
  ).toBe(2);
  expect(await inbox.retry('c2', [])).toBe(0);
  const claims = (await Promise.all([1, 2, 3].map(() => inbox.claimRetries('c2', 10)))).flat();
  expect(claims.sort((a, b) => (a.eventId < b.eventId ? -1 : 1))).toEqual(
    letters.slice(0, 2).map((letter) => ({ ...letter, attempts: 2 })),
  );
  expect(await stateOf('c2')).toEqual(['dead 2', 'dead 2', 'dead 1']);
  await inbox.settled('c2', letters[0]?.eventId ?? '');
  expect(await stateOf('c2')).toEqual(['dead 2', 'dead 1']);
  expect(await inbox.retry('c2')).toBe(2);
});

test('the inbox forgets old events in chunks', async () => {
  const inbox = inboxOf(mysql);
  for (let i = 0; i < 5; i++) await inbox.once('c3', eventId(), async () => undefined);
  expect(await inbox.purge(31)).toBe(0);
  await mysql.db
    .updateTable('inbox')
    .set({ processed_at: '2026-01-01 00:00:00.000000' })
    .where('consumer', '=', 'c3')
    .execute();
  expect([await inbox.purge(31, 3), await inbox.purge(31, 3)]).toEqual([3, 2]);
});
