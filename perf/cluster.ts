/** `npm run test:cluster [-- --short]`: three NATS and six Redis servers; one of each is killed under load. */
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { defineFamily, openCache } from '@sparkroom/cache';
import {
  connectEvents,
  type Events,
  type Log,
  startAuditor,
  startConsumer,
  startRelay,
} from '@sparkroom/events';
import { LauncherError, startStack } from '@sparkroom/local';
import {
  ensureDatabase,
  inboxOf,
  insertEvent,
  type Mysql,
  migrate,
  openMysql,
  outboxAuditOf,
  outboxOf,
  readMysqlSettings,
} from '@sparkroom/mysql';
import { sql } from 'kysely';
import { atEnd } from './lib/at-end.ts';
import { type Cluster, startNatsCluster, startRedisCluster } from './lib/clusters.ts';
import { machineFacts } from './lib/machine.ts';
import { repository } from './lib/programs.ts';
import { figure, publish, table } from './lib/report.ts';
import { round } from './lib/samples.ts';

const quiet: Log = { debug() {}, info() {}, warn() {}, error() {} };
const { values } = parseArgs({ options: { short: { type: 'boolean', default: false } } });

/** Seconds a server stays away, and how often one of each is killed. */
const plan = values.short ? { awaySeconds: 4, kills: 1 } : { awaySeconds: 10, kills: 3 };
const writesPerSecond = 100;
const aggregates = 50;
/** Longest that nothing may be stored while the servers elect, and that one cached read may take. */
const bars = { storeGapMs: 15_000, readMs: 2_000 };

const TEXTS = defineFamily<{ id: string; version: number }>({
  name: 'text',
  version: 'collection room',
  ttlSeconds: 600,
  maxBytes: 1_024,
  memory: false,
  redis: true,
});

const cluster3 = (url: string, name: string): Promise<Events> =>
  connectEvents({ url, prefix: 'sparkroom', name, replicas: 3, deadlineMs: 5_000, connectMs: 20_000 }, quiet);

/** Makes the stream as soon as the servers have elected somebody who may. */
async function ready(events: Events): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      await events.ensureStream();
      return;
    } catch (error) {
      if (tries === 10) throw error;
      await pause(1_000);
    }
  }
}

/** Writers: transactions with an event each, until told to stop. Every id that was committed. */
function write(mysql: Mysql, events: Events, stop: AbortSignal): Promise<Map<string, string>> {
  const committed = new Map<string, string>();
  const versions = new Map<string, number>();
  let number = 0;
  const one = async (aggregateId: string): Promise<void> => {
    const id = `01CLUSTER${String(++number).padStart(17, '0')}`;
    const version = (versions.get(aggregateId) ?? 0) + 1;
    versions.set(aggregateId, version);
    await mysql.transaction((trx) =>
      insertEvent(trx, {
        id,
        type: 'idea.rated',
        aggregateId,
        aggregateVersion: version,
        workspaceId: 'w',
        actorId: 'u',
        requestId: null,
        payload: { userId: 'u', raters: version, first: true },
      }),
    );
    committed.set(id, aggregateId);
    events.wakeOutbox();
  };
  // One writer for each aggregate, as its row's lock would have it.
  return Promise.all(
    Array.from({ length: aggregates }, async (_, i) => {
      while (!stop.aborted) {
        await one(`i${i}`);
        await pause((1_000 * aggregates) / writesPerSecond);
      }
    }),
  ).then(() => committed);
}

interface Reads {
  count: number;
  old: number;
  failed: number;
  slowestMs: number;
}

/** Readers of a cache whose values change all the time: each knows the least version it wants. */
async function read(
  url: string,
  stop: AbortSignal,
): Promise<Reads & { hits(): number; close(): Promise<void> }> {
  const cache = openCache({ url, prefix: 'cluster', commandMs: 300, memoryBytes: 1 << 20 });
  const versions = new Map<string, number>();
  const reads: Reads = { count: 0, old: 0, failed: 0, slowestMs: 0 };
  void Promise.all(
    Array.from({ length: 8 }, async (_, n) => {
      for (let i = n; !stop.aborted; i += 8) {
        const id = `t${i % 200}`;
        if (i % 10 === 0) {
          const version = (versions.get(id) ?? 0) + 1;
          versions.set(id, version);
          // Not done while Redis is away: then its events would do it again.
          await cache.invalidate(TEXTS, id, version).catch(() => undefined);
        }
        const wanted = versions.get(id) ?? 0;
        const began = performance.now();
        try {
          const found = await cache.read(TEXTS, { id, version: wanted }, async () => ({
            id,
            version: versions.get(id) ?? 0,
          }));
          if (found.version < wanted) reads.old++;
        } catch {
          reads.failed++;
        }
        reads.count++;
        reads.slowestMs = Math.max(reads.slowestMs, performance.now() - began);
        await pause(5);
      }
    }),
  );
  return Object.assign(reads, {
    hits: () => cache.figures().families.get('text')?.hitRedis ?? 0,
    close: () => cache.close(),
  });
}

async function leaderOf(events: Events): Promise<number> {
  const { cluster } = await events.manager.streams.info(events.stream);
  return Number(cluster?.leader?.slice(1) ?? 1) - 1;
}

interface Stored {
  id: string;
  aggregate: string;
  version: number;
  at: number;
}

/** Everything in the stream, in order. */
async function everything(events: Events): Promise<Stored[]> {
  const stored: Stored[] = [];
  const name = `all-${process.pid}`;
  type Config = Parameters<typeof events.manager.consumers.add>[1];
  await events.manager.consumers.add(events.stream, {
    name,
    ack_policy: 'none',
    deliver_policy: 'all',
    replay_policy: 'instant',
    headers_only: true,
    inactive_threshold: 60_000_000_000,
  } as Config);
  const consumer = await events.jetstream.consumers.get(events.stream, name);
  let pending = (await consumer.info()).num_pending;
  while (pending > 0) {
    const before = pending;
    for await (const message of await consumer.fetch({
      max_messages: Math.min(500, pending),
      expires: 10_000,
    })) {
      pending = message.info.pending;
      stored.push({
        id: (message.headers?.get('Nats-Msg-Id') ?? '').replace(/:r\d+$/, ''),
        aggregate: message.headers?.get('Agg-Id') ?? '',
        version: Number(message.headers?.get('Agg-Version')),
        at: message.info.timestampNanos / 1e6,
      });
    }
    if (pending === before) throw new Error('The stream could not be read.');
  }
  return stored;
}

async function main(): Promise<boolean> {
  const machine = machineFacts();
  const clean = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^SPARKROOM_(?!DIR$|PATH_ONLY$)/.test(name)),
  );
  const dir = join(process.env.SPARKROOM_DIR || join(repository, '.sparkroom'), 'test-cluster');
  const closing: (() => Promise<unknown>)[] = [];
  try {
    const stack = await startStack({
      dir,
      only: ['mysql'],
      ports: { mysql: 33_606 },
      nextFreePort: true,
      env: clean,
      log: () => {},
    });
    closing.push(() => stack.stop());
    atEnd(() => stack.stop());
    const nats: Cluster = await startNatsCluster(join(dir, 'nats'));
    closing.push(() => nats.stop());
    atEnd(() => nats.stop());
    const redis: Cluster = await startRedisCluster(join(dir, 'redis'));
    closing.push(() => redis.stop());
    atEnd(() => redis.stop());
    console.log('  three NATS and six Redis servers are up');

    const url = new URL(stack.mysqlUrl);
    url.pathname = '/sparkroom_cluster';
    await ensureDatabase(url.href);
    const mysql = await openMysql({ ...readMysqlSettings({ ...clean, ...stack.env }), url: url.href });
    closing.push(() => mysql.close());
    await migrate(mysql.db);
    for (const name of ['outbox', 'inbox', 'dead_letter'])
      await sql`truncate table ${sql.table(name)}`.execute(mysql.db);
    await sql`drop table if exists effect`.execute(mysql.db);
    await sql`create table effect (id bigint auto_increment primary key, event_id char(26) not null)`.execute(
      mysql.db,
    );

    // Two of everything, as two machines would have.
    const connections = [await cluster3(nats.url, 'one'), await cluster3(nats.url, 'two')] as const;
    for (const events of connections) closing.push(() => events.close());
    await ready(connections[0]);
    for (const events of connections) {
      const relay = startRelay({ outbox: outboxOf(mysql), events, log: quiet, idleMs: 500 });
      const auditor = startAuditor({ outbox: outboxAuditOf(mysql), events, log: quiet, everyMs: 10_000 });
      const consumer = startConsumer({
        events,
        name: 'effects-v1',
        filter: '*.idea.*',
        inbox: inboxOf(mysql),
        ackWaitMs: 5_000,
        log: quiet,
        async handler(event, { once }) {
          await once(async (trx) => {
            await sql`insert into effect (event_id) values (${event.id})`.execute(trx);
          });
        },
      });
      closing.push(async () => {
        await Promise.all([relay.stop(), auditor.stop()]);
        await consumer.stop();
      });
    }
    const stop = new AbortController();
    const writing = write(mysql, connections[0], stop.signal);
    const reads = await read(redis.url, stop.signal);
    closing.push(() => reads.close());
    await pause(3_000);

    for (let kill = 0; kill < plan.kills; kill++) {
      // First the leader of the stream, which hurts most; then whoever comes.
      const victim = kill === 0 ? await leaderOf(connections[0]) : kill % 3;
      console.log(`  NATS server ${victim + 1} and Redis server ${kill + 1} are killed`);
      await Promise.all([nats.kill(victim), redis.kill(kill)]);
      await pause(plan.awaySeconds * 1_000);
      await Promise.all([nats.start(victim), redis.start(kill)]);
      await pause(6_000);
    }
    const hitsBefore = reads.hits();
    await pause(2_000);
    const hitsAfter = reads.hits() - hitsBefore;
    stop.abort();
    const committed = await writing;
    console.log(`  ${figure(committed.size)} events were committed; waiting for the last effect`);

    const effects = async (): Promise<{ all: number; different: number }> => {
      const { rows } = await sql<{ n: string; d: string }>`
        select count(*) as n, count(distinct event_id) as d from effect`.execute(mysql.db);
      return { all: Number(rows[0]?.n), different: Number(rows[0]?.d) };
    };
    for (let tries = 0; tries < 120 && (await effects()).different < committed.size; tries++)
      await pause(500);
    const had = await effects();
    const stored = await everything(connections[1]);
    const ids = new Set(stored.map(({ id }) => id));
    let reordered = 0;
    for (const events of Map.groupBy(stored, ({ aggregate }) => aggregate).values())
      events.forEach(({ version }, i) => {
        if (i > 0 && version <= (events[i - 1]?.version ?? 0)) reordered++;
      });
    let storeGapMs = 0;
    stored.forEach(({ at }, i) => {
      if (i > 0) storeGapMs = Math.max(storeGapMs, at - (stored[i - 1]?.at ?? at));
    });
    const found = {
      committed: committed.size,
      lost: [...committed.keys()].filter((id) => !ids.has(id)).length,
      doubled: stored.length - ids.size,
      reordered,
      effectsMissing: committed.size - had.different,
      effectsDoubled: had.all - had.different,
      storeGapMs: Math.round(storeGapMs),
      reads: reads.count,
      readsFailed: reads.failed,
      readsOld: reads.old,
      slowestReadMs: round(reads.slowestMs, 0),
      redisHitsAtTheEnd: hitsAfter,
    };
    const pass =
      found.lost + found.doubled + found.reordered + found.effectsMissing + found.effectsDoubled === 0 &&
      found.readsFailed + found.readsOld === 0 &&
      found.storeGapMs <= bars.storeGapMs &&
      found.slowestReadMs <= bars.readMs &&
      found.redisHitsAtTheEnd > 0;
    console.log(
      `\n${table(
        ['what', 'count'],
        Object.entries(found).map(([name, value]) => [name, figure(value)]),
      )}`,
    );
    console.log(pass ? '\nNothing was lost, and service went on.\n' : '\nNot as it must be; see above.\n');
    await publish('cluster', {
      name: 'cluster',
      pass,
      bars,
      kills: plan.kills,
      ...found,
      short: values.short,
      machine,
      at: new Date().toISOString(),
    });
    return pass;
  } finally {
    for (const close of closing.reverse())
      await close().catch((error: unknown) => console.error(error instanceof Error ? error.message : error));
  }
}

try {
  process.exitCode = (await main()) ? 0 : 1;
} catch (error) {
  console.error(error instanceof LauncherError ? error.message : error);
  process.exitCode = 1;
}
