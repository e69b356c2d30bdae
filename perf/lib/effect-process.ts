/**
 * A consumer in a process of its own, whose effect is one row for each event about ideas, in the transaction of its inbox row.
 * It takes every idea's events in turn. The table `effect` has no unique key: what happens twice is there twice.
 */
import { createServer } from 'node:http';
import { connectEvents, inTurn, type Log, readEventsSettings, startConsumer } from '@sparkroom/events';
import { inboxOf, openMysql, readMysqlSettings } from '@sparkroom/mysql';
import { sql } from 'kysely';

const say = (fields: unknown, text?: unknown): void => console.log(JSON.stringify(fields), text ?? '');
const log: Log = { debug() {}, info() {}, warn: say, error: say };

const mysql = await openMysql(readMysqlSettings(process.env));
await sql`create table if not exists effect (
  id bigint auto_increment primary key,
  event_id char(26) character set ascii collate ascii_bin not null,
  aggregate varchar(160) character set ascii collate ascii_bin not null,
  version bigint not null,
  key effect_aggregate (aggregate, version)
)`.execute(mysql.db);
const events = await connectEvents(readEventsSettings(process.env, 'effects'), log);
await events.ensureStream();
const consumer = startConsumer({
  events,
  name: 'effects-v1',
  filter: '*.idea.*',
  inbox: inboxOf(mysql),
  ackWaitMs: 5_000,
  log,
  async handler({ id, aggregate }, { once }) {
    await once(async (trx) => {
      const { rows } = await sql<{ v: string | null }>`
        select max(version) as v from effect where aggregate = ${aggregate.id}`.execute(trx);
      // An event behind its turn without an inbox row has no effect, and shows as a missing one.
      if (inTurn(aggregate.version, Number(rows[0]?.v ?? 0)))
        await sql`insert into effect (event_id, aggregate, version)
          values (${id}, ${aggregate.id}, ${aggregate.version})`.execute(trx);
    });
  },
});
const health = createServer((_, response) => response.end('ok')).listen(
  Number(process.env.SPARKROOM_WORKER_PORT),
  '127.0.0.1',
);
process.once('SIGTERM', async () => {
  health.close();
  await consumer.stop();
  await Promise.allSettled([events.close(), mysql.close()]);
  process.exit(0);
});
