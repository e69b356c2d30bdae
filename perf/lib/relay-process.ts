/**
 * A relay in a process of its own: `node relay-process.ts ours|naive`. Settings come from the environment. Sends
 * `ready` when it is connected, begins when told `go`, and ends with its parent.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { connectEvents, type Events, type Log, readEventsSettings, startRelay } from '@sparkroom/events';
import { type Mysql, openMysql, outboxOf, PARTITIONS, readMysqlSettings } from '@sparkroom/mysql';
import { sql } from 'kysely';

const quiet: Log = { debug() {}, info() {}, warn() {}, error() {} };
const [kind] = process.argv.slice(2);
const mysql = await openMysql({ ...readMysqlSettings(process.env), connections: 8 });
const events = await connectEvents(readEventsSettings(process.env, `relay ${kind}`), quiet);
await events.ensureStream();
process.on('message', () => {
  if (kind === 'ours') startRelay({ outbox: outboxOf(mysql), events, log: quiet, partitions: PARTITIONS });
  else void naive(mysql, events);
});
process.on('disconnect', () => process.exit(0));
process.send?.('ready');

/**
 * What is written first and often kept: a cursor over the ids, a hundred rows at a time, one publish after the other.
 * It never sees a row whose transaction commits after one with a higher id; that is counted by the measurement.
 */
async function naive(mysql: Mysql, events: Events): Promise<void> {
  let cursor = '0';
  for (;;) {
    const { rows } = await sql<{ id: string; event_id: string; subject: string; payload: unknown }>`
      select id, event_id, subject, payload from outbox where id > ${cursor} order by id limit 100`.execute(
      mysql.db,
    );
    for (const row of rows) {
      const subject = `${events.prefix}.${row.subject}`;
      await events.jetstream.publish(subject, JSON.stringify(row.payload), { msgID: row.event_id });
      cursor = row.id;
    }
    if (rows.length > 0) {
      await sql`insert into naive_cursor (id, place) values (1, ${cursor})
        on duplicate key update place = ${cursor}`.execute(mysql.db);
    } else await pause(20);
  }
}
