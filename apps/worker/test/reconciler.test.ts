import { newId } from '@sparkroom/core';
import { bodiesOf, usersOf } from '@sparkroom/mysql';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { reconcile } from '../src/index.ts';
import { type Bench, openBench } from './bench.ts';

let bench: Bench;
beforeAll(async () => {
  bench = await openBench();
});
afterAll(() => bench?.close());

const quiet = { debug() {}, info() {}, warn() {}, error() {} };

it('finishes texts whose events are gone, past one that cannot be stored, and drops those of removed ideas', async () => {
  const { mysql, cloudant, core, actor, workspaceId } = bench;
  const post = (title: string) =>
    core.ideas.create(actor, { workspaceId, title, body: { text: title }, tags: [], status: 'open' });
  const [bad, good, gone, young] = [
    await post('bad'),
    await post('good'),
    await post('gone'),
    await post('young'),
  ];
  await core.ideas.remove(actor, { id: gone.id, version: gone.version });
  // Nobody will ever hear of them.
  await sql`delete from outbox`.execute(mysql.db);
  // A name that only the document store itself may use.
  await sql`update idea_pending set body = ${JSON.stringify({ _evil: true })} where idea_id = ${bad.id}`.execute(
    mysql.db,
  );
  await sql`update idea_pending set created_at = created_at - interval 1 minute where idea_id <> ${young.id}`.execute(
    mysql.db,
  );
  const stores = { mysql, cloudant, bodies: bodiesOf(mysql, newId), users: usersOf(mysql, newId) };
  const { bodies } = await reconcile(stores, quiet, new AbortController().signal);
  expect(bodies).toBe(1);
  expect((await cloudant.bodies.get(good.id))?.body).toEqual({ text: 'good' });
  expect(await cloudant.bodies.get(gone.id)).toBeNull();
  const waiting = await mysql.db.selectFrom('idea_pending').select('idea_id').execute();
  expect(waiting.map((row) => row.idea_id).sort()).toEqual([bad.id, young.id].sort());
  // Once more changes nothing.
  expect((await reconcile(stores, quiet, new AbortController().signal)).bodies).toBe(0);
});
