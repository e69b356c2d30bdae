/** `npm run perf:relay [-- --short]`: our relay and a naive one, in turn, on the same stores. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { connectEvents, type Events, type Log, readEventsSettings } from '@sparkroom/events';
import { LauncherError, startStack } from '@sparkroom/local';
import {
  ensureDatabase,
  insertEvent,
  type Mysql,
  migrate,
  openMysql,
  partitionOf,
  readMysqlSettings,
} from '@sparkroom/mysql';
import { sql } from 'kysely';
import { atEnd } from './lib/at-end.ts';
import { cpuMicroseconds, machineFacts } from './lib/machine.ts';
import { repository } from './lib/programs.ts';
import { figure, publish, table } from './lib/report.ts';
import { round, Samples, type TimeFigures } from './lib/samples.ts';
import { storedTimes } from './lib/stored-times.ts';

const bars = { perSecond: 5_000, timesNaive: 2, p99Ms: 50 };
/** Events a second while the delay is measured, and aggregates among which events are spread. */
const rate = 500;
const aggregates = 2_000;
/** Seconds of writing before the delays that count: pools open, engines compile. */
const warmSeconds = 2;

type Kind = 'ours' | 'naive';

interface Backlog {
  kind: Kind;
  events: number;
  /** From the first event stored to the last. */
  perSecond: number;
  /** Processor time of the relay's process for one event, microseconds. */
  cpuUs: number;
}

interface Delay {
  kind: Kind;
  events: number;
  perSecond: number;
  /** From commit, as the writer saw it, to the server's time stamp. */
  ms: TimeFigures;
  /** Committed events that were not in the stream five seconds after the last commit. */
  missing: number;
}

interface Place {
  mysql: Mysql;
  events: Events;
  relay: ChildProcess;
}

const quiet: Log = { debug() {}, info() {}, warn() {}, error() {} };
const { values } = parseArgs({ options: { short: { type: 'boolean', default: false } } });
const size = values.short
  ? { rounds: 1, ours: 8_000, naive: 3_000, seconds: 6 }
  : { rounds: 3, ours: 50_000, naive: 10_000, seconds: 30 };

let counted = 0;
/** 26 characters, each call greater than the one before. */
const nextId = (): string => `01PERF${String(++counted).padStart(20, '0')}`;

/** An empty outbox, an empty stream, and a relay that waits for the word. */
async function open(kind: Kind, env: NodeJS.ProcessEnv, number: number): Promise<Place> {
  const own = { ...env, SPARKROOM_NATS_PREFIX: `relay-${process.pid}-${number}` };
  const mysql = await openMysql(readMysqlSettings(own));
  await sql`truncate table outbox`.execute(mysql.db);
  await sql`drop table if exists naive_cursor`.execute(mysql.db);
  await sql`create table naive_cursor (id int primary key, place bigint unsigned not null)`.execute(mysql.db);
  const events = await connectEvents(readEventsSettings(own, 'perf'), quiet);
  const relay = fork(fileURLToPath(new URL('./lib/relay-process.ts', import.meta.url)), [kind], { env: own });
  await once(relay, 'message');
  return { mysql, events, relay };
}

async function close({ mysql, events, relay }: Place): Promise<void> {
  if (relay.exitCode === null) {
    const ended = once(relay, 'exit');
    relay.disconnect();
    await ended;
  }
  await events.manager.streams.delete(events.stream).catch(() => undefined);
  await events.close();
  await mysql.close();
}

/** Waits until the stream has so many events, or no more come for five seconds. @returns how many it has */
async function arrived(events: Events, wanted: number): Promise<number> {
  let had = 0;
  let since = performance.now();
  for (;;) {
    const { state } = await events.streamInfo();
    if (state.messages >= wanted) return state.messages;
    if (state.messages > had) {
      had = state.messages;
      since = performance.now();
    } else if (performance.now() - since > 5_000) return had;
    await pause(50);
  }
}

/** Rows that wait before the relay begins: how fast it is when it has to be. */
async function backlog(kind: Kind, env: NodeJS.ProcessEnv, number: number, count: number): Promise<Backlog> {
  const place = await open(kind, env, number);
  try {
    const versions = new Map<string, number>();
    for (let from = 0; from < count; from += 500) {
      const rows = Array.from({ length: Math.min(500, count - from) }, (_, i) => {
        const aggregateId = `i${(from + i) % aggregates}`;
        const version = (versions.get(aggregateId) ?? 0) + 1;
        versions.set(aggregateId, version);
        return {
          event_id: nextId(),
          aggregate_type: 'idea',
          aggregate_id: aggregateId,
          aggregate_version: version,
          workspace_id: 'w',
          actor_id: 'u',
          request_id: null,
          type: 'idea.rated',
          schema_version: 1,
          subject: `w.idea.${aggregateId}`,
          payload: JSON.stringify({ userId: 'u', raters: version, first: true }),
          traceparent: null,
          partition_no: partitionOf('idea', aggregateId),
          published_at: null,
          first_attempt_at: null,
          last_error: null,
        };
      });
      await place.mysql.db.insertInto('outbox').values(rows).execute();
    }
    const pid = place.relay.pid as number;
    const before = cpuMicroseconds(pid);
    place.relay.send('go');
    const have = await arrived(place.events, count);
    if (have < count) throw new Error(`The ${kind} relay stopped after ${have} of ${count} events.`);
    const cpu = cpuMicroseconds(pid) - before;
    const times = [...(await storedTimes(place.events)).values()].sort((a, b) => a - b);
    const ms = (times.at(-1) ?? 0) - (times[0] ?? 0);
    return {
      kind,
      events: count,
      perSecond: Math.round(count / (ms / 1_000)),
      cpuUs: Math.round(cpu / count),
    };
  } finally {
    await close(place);
  }
}

/** One transaction an event, {@link rate} a second, woken as the server wakes it: how soon an event is out. */
async function delay(kind: Kind, env: NodeJS.ProcessEnv, number: number, seconds: number): Promise<Delay> {
  const place = await open(kind, env, number);
  const { mysql, events, relay } = place;
  try {
    relay.send('go');
    const committed = new Map<string, number>();
    const versions = new Map<string, number>();
    const warm = rate * warmSeconds;
    const count = rate * seconds;
    const running = new Set<Promise<void>>();
    let began = performance.now();
    const write = async (i: number): Promise<void> => {
      const id = nextId();
      const aggregateId = `i${(i + warm) % aggregates}`;
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
      const at = performance.timeOrigin + performance.now();
      events.wakeOutbox();
      if (i >= 0) committed.set(id, at);
    };
    for (let i = -warm; i < count; i++) {
      if (i === 0) began = performance.now();
      const ahead = began + ((i < 0 ? i + warm : i) / rate) * 1_000 - performance.now();
      if (ahead > 1) await pause(ahead);
      // A database that cannot keep up gets fewer, which the rate that was reached shows.
      while (running.size >= 100) await Promise.race(running);
      const one = write(i).finally(() => running.delete(one));
      running.add(one);
    }
    await Promise.all(running);
    const took = performance.now() - began;
    await arrived(events, count + warm);
    const times = await storedTimes(events);
    const samples = new Samples();
    let missing = 0;
    for (const [id, at] of committed) {
      const stored = times.get(id);
      if (stored === undefined) missing++;
      // The relay may be faster than the answer to the writer.
      else samples.add(Math.max(0, stored - at));
    }
    return {
      kind,
      events: count,
      perSecond: Math.round(count / (took / 1_000)),
      ms: samples.figures(),
      missing,
    };
  } finally {
    await close(place);
  }
}

const median = (numbers: number[]): number =>
  numbers.sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;

async function main(): Promise<boolean> {
  const machine = machineFacts();
  const stores: Record<string, string> = {};
  const clean = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^SPARKROOM_(?!DIR$|PATH_ONLY$)/.test(name)),
  );
  const stack = await startStack({
    dir: join(process.env.SPARKROOM_DIR || join(repository, '.sparkroom'), 'perf-relay'),
    only: ['mysql', 'nats'],
    ports: { mysql: 33_406, nats: 34_322 },
    nextFreePort: true,
    env: clean,
    log: (line) => {
      const [, store, label] = /^(\w+): (.+) ready on port/.exec(line) ?? [];
      if (store && label) stores[store] = label;
    },
  });
  atEnd(() => stack.stop());
  try {
    const url = new URL(stack.mysqlUrl);
    url.pathname = '/sparkroom_relay';
    const env = { ...clean, ...stack.env, SPARKROOM_MYSQL_URL: url.href };
    await ensureDatabase(url.href);
    const mysql = await openMysql(readMysqlSettings(env));
    await migrate(mysql.db);
    await mysql.close();

    let number = 0;
    const backlogs: Backlog[] = [];
    const delays: Delay[] = [];
    // In turn, so that whatever else the machine does meets both.
    for (let i = 0; i < size.rounds; i++)
      for (const kind of ['ours', 'naive'] as const) {
        const found = await backlog(kind, env, ++number, size[kind]);
        console.log(
          `  ${kind}: ${figure(found.perSecond)} events/s, ${found.cpuUs} us of its processor each`,
        );
        backlogs.push(found);
      }
    for (const kind of ['ours', 'naive'] as const) {
      const found = await delay(kind, env, ++number, size.seconds);
      console.log(
        `  ${kind} at ${found.perSecond}/s: p50 ${found.ms.p50} ms, p99 ${found.ms.p99} ms, ${found.missing} never stored`,
      );
      delays.push(found);
    }

    const speed = (kind: Kind): number =>
      median(backlogs.filter((one) => one.kind === kind).map((one) => one.perSecond));
    const ours = delays.find((one) => one.kind === 'ours');
    const checks = {
      perSecond: speed('ours') >= bars.perSecond,
      timesNaive: speed('ours') >= bars.timesNaive * speed('naive'),
      p99: (ours?.ms.p99 ?? Number.POSITIVE_INFINITY) <= bars.p99Ms,
      complete: ours?.missing === 0,
    };
    const pass = Object.values(checks).every(Boolean);
    console.log(
      `\n${table(
        ['relay', 'events/s', 'CPU us', `p50 ms at ${rate}/s`, 'p99 ms', 'max ms', 'never stored'],
        delays.map(({ kind, ms, missing }) => [
          kind,
          figure(speed(kind)),
          figure(median(backlogs.filter((one) => one.kind === kind).map((one) => one.cpuUs))),
          figure(ms.p50, 1),
          figure(ms.p99, 1),
          figure(ms.max, 1),
          figure(missing),
        ]),
        new Set(pass ? [] : [0]),
      )}`,
    );
    if (machine.load > machine.cores)
      console.log(
        `\nOthers were working here when this began (load ${machine.load} on ${machine.cores} cores): alone it does better.`,
      );
    console.log(pass ? '\nEvery bar is met.\n' : `\nMissed: ${JSON.stringify(checks)}\n`);
    await publish('relay', {
      name: 'relay',
      pass,
      bars,
      checks,
      perSecond: speed('ours'),
      naivePerSecond: speed('naive'),
      timesNaive: round(speed('ours') / Math.max(1, speed('naive'))),
      backlogs,
      delays,
      rate,
      short: values.short,
      machine,
      stores,
      at: new Date().toISOString(),
    });
    return pass;
  } finally {
    await stack.stop();
  }
}

try {
  process.exitCode = (await main()) ? 0 : 1;
} catch (error) {
  console.error(error instanceof LauncherError ? error.message : error);
  process.exitCode = 1;
}
