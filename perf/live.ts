/** `npm run perf:live [-- --short] [--clients 10000]`: many live pages on one server process, some of them stalled. */
import { type ChildProcess, fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { connectEvents, type Events, type Log, readEventsSettings } from '@sparkroom/events';
import { LauncherError, startStack } from '@sparkroom/local';
import { ensureDatabase, migrate, openMysql, readMysqlSettings } from '@sparkroom/mysql';
import { headers } from 'nats';
import { atEnd } from './lib/at-end.ts';
import type { LiveHeard, LiveOrder } from './lib/live-clients.ts';
import { cpuMicroseconds, machineFacts, peakMemoryMb } from './lib/machine.ts';
import { freePort, repository } from './lib/programs.ts';
import { figure, publish, table } from './lib/report.ts';
import { round, Samples } from './lib/samples.ts';

const quiet: Log = { debug() {}, info() {}, warn() {}, error() {} };
const { values } = parseArgs({
  options: { short: { type: 'boolean', default: false }, clients: { type: 'string' } },
});
const clients = Number(values.clients ?? (values.short ? 2_000 : 10_000));
const seconds = values.short ? 6 : 20;
const rooms = 20;
/** One reader in a hundred reads nothing after its first item. */
const stalledOneIn = 100;
/** Posts a second, each heard by a twentieth of the readers. */
const postsPerSecond = 4;
/** Client processes: one alone would measure itself. */
const processes = 3;
/** Events with which the stalled readers' room is flooded, and their size: more than the kernel keeps for a connection. */
const flood = { events: 1_500, bytes: 4_096, perSecond: 50 };

const bars = { fanOutP99Ms: 250, stalledKb: 64, clientKb: 128 };

type Memory = Record<'rss' | 'heapUsed' | 'external' | 'arrayBuffers', number>;

/** The next message of a process. @throws Error when it ends instead */
async function answerOf<T>(child: ChildProcess): Promise<T> {
  const ended = new AbortController();
  try {
    const [message] = await Promise.race([
      once(child, 'message', { signal: ended.signal }),
      once(child, 'exit', { signal: ended.signal }).then(([code]) => {
        throw new Error(`A process ended with code ${code}.`);
      }),
    ]);
    return message as T;
  } finally {
    ended.abort();
  }
}

async function memoryOf(server: ChildProcess): Promise<Memory> {
  server.send('memory');
  return (await answerOf<{ memory: Memory }>(server)).memory;
}

/** Waits until a process has (nearly) nothing to do, a minute at most. */
async function quiescence(pid: number): Promise<void> {
  for (let tries = 0; tries < 60; tries++) {
    const before = cpuMicroseconds(pid);
    await pause(1_000);
    if (!(cpuMicroseconds(pid) - before > 150_000)) return;
  }
}

/** What a process holds of its own: the heap in use and what lies outside it. */
const held = (memory: Memory): number => memory.heapUsed + memory.external;

async function startServer(env: NodeJS.ProcessEnv, url: string, logFile: string): Promise<ChildProcess> {
  const log = openSync(logFile, 'w');
  const server = fork(join(repository, 'apps/server/src/main.ts'), {
    env,
    execArgv: ['--expose-gc', '--import', new URL('./lib/memory-probe.mjs', import.meta.url).href],
    stdio: ['ignore', log, log, 'ipc'],
  });
  closeSync(log);
  for (let tries = 0; tries < 600 && server.exitCode === null; tries++) {
    if ((await fetch(`${url}/healthz`).catch(() => null))?.ok) return server;
    await pause(100);
  }
  server.kill('SIGKILL');
  throw new Error(`The server did not get ready:\n${readFileSync(logFile, 'utf8').slice(-2_000)}`);
}

/** Somebody with rooms, by way of the front door. */
async function furnish(url: string): Promise<{ token: string; roomIds: string[] }> {
  const post = async (
    path: string,
    body: object,
    token?: string,
  ): Promise<{ data: { id: string }; response: Response }> => {
    const response = await fetch(url + path, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        origin: url,
        ...(token ? { authorization: `Bearer ${token}` } : {}),
      },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${(await response.text()).slice(0, 200)}`);
    const answer = (await response.json()) as { result?: { data: { id: string } } };
    return { data: answer.result?.data ?? { id: '' }, response };
  };
  const email = `live-${randomBytes(6).toString('hex')}@sparkroom.example`;
  const password = randomBytes(12).toString('hex');
  const { response } = await post('/api/auth/sign-up/email', { name: 'Live', email, password });
  const token = response.headers.get('set-auth-token') ?? '';
  const client = await post('/trpc/clients.create', { name: 'Live' }, token);
  const roomIds: string[] = [];
  for (let i = 0; i <= rooms; i++)
    roomIds.push(
      (await post('/trpc/workspaces.create', { clientId: client.data.id, name: `Room ${i}` }, token)).data.id,
    );
  return { token, roomIds };
}

/** One event as the relay would publish it, with an aggregate id as long as wanted. */
async function publishEvent(events: Events, room: string, number: number, bytes: number): Promise<number> {
  const h = headers();
  const id = `01LIVE${String(number).padStart(20, '0')}`;
  for (const [name, value] of Object.entries({
    'Ev-Type': 'idea.rated',
    'Ev-Schema': '1',
    'Agg-Type': 'idea',
    'Agg-Id': 'x'.repeat(bytes),
    'Agg-Version': '1',
    'Workspace-Id': room,
    'Occurred-At': new Date().toISOString(),
  }))
    h.set(name, value);
  const body = JSON.stringify({ userId: 'u', raters: 1, first: true });
  const ack = await events.jetstream.publish(`${events.prefix}.${room}.idea.i${number}`, body, {
    headers: h,
    msgID: id,
  });
  return ack.seq;
}

/** The server's time stamp of each of these messages, milliseconds since 1970. */
async function storedAt(events: Events, seqs: readonly number[]): Promise<Map<number, number>> {
  const times = new Map<number, number>();
  for (const seq of seqs) {
    const { timestamp } = await events.manager.streams.getMessage(events.stream, { seq });
    // Nanoseconds in text: Date keeps three digits of them.
    const [whole = '', fraction = ''] = timestamp.replace('Z', '').split('.');
    times.set(seq, Date.parse(`${whole}Z`) + Number(`0.${fraction || 0}`) * 1_000);
  }
  return times;
}

async function main(): Promise<boolean> {
  const machine = machineFacts();
  const clean = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^SPARKROOM_(?!DIR$|PATH_ONLY$)/.test(name)),
  );
  const stores: Record<string, string> = {};
  const dir = join(process.env.SPARKROOM_DIR || join(repository, '.sparkroom'), 'perf-live');
  const stack = await startStack({
    dir,
    only: ['mysql', 'redis', 'nats'],
    ports: { mysql: 33_506, redis: 36_579, nats: 34_522 },
    nextFreePort: true,
    env: clean,
    log: (line) => {
      const [, store, label] = /^(\w+): (.+) ready on port/.exec(line) ?? [];
      if (store && label) stores[store] = label;
    },
  });
  const children: ChildProcess[] = [];
  atEnd(() => stack.stop());
  atEnd(() => {
    for (const child of children) child.kill('SIGKILL');
  });
  let events: Events | undefined;
  try {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const env: NodeJS.ProcessEnv = {
      ...clean,
      ...stack.env,
      // Texts are not what is measured; they wait in MySQL.
      SPARKROOM_CLOUDANT_URL: 'http://127.0.0.1:9',
      SPARKROOM_NATS_PREFIX: `live-${process.pid}`,
      SPARKROOM_PORT: String(port),
      SPARKROOM_URL: url,
      SPARKROOM_REQUESTS_PER_MINUTE: '10000000',
      SPARKROOM_LOG_LEVEL: 'warn',
    };
    await ensureDatabase(stack.mysqlUrl);
    const mysql = await openMysql(readMysqlSettings(env));
    await migrate(mysql.db);
    await mysql.close();
    const server = await startServer(env, url, join(dir, 'logs', 'server.log'));
    children.push(server);
    const pid = server.pid as number;
    events = await connectEvents(readEventsSettings(env, 'perf'), quiet);
    const { token, roomIds } = await furnish(url);
    const stalledRoom = roomIds[rooms] as string;
    await pause(1_000);

    const before = await memoryOf(server);
    console.log(`  opening ${figure(clients)} feeds`);
    const began = performance.now();
    // Fewer than a hundred could not be told from the noise of a heap.
    const stalledCount = Math.min(clients / 2, Math.max(100, Math.floor(clients / stalledOneIn)));
    const crowds = await Promise.all(
      Array.from({ length: processes }, async (_, p) => {
        const order: LiveOrder = { url, token, rooms: [], stalled: [] };
        for (let i = p; i < clients; i += processes) {
          const stalled = i < stalledCount;
          // The stalled have a room to themselves, which can be flooded.
          order.rooms.push(stalled ? stalledRoom : (roomIds[i % rooms] as string));
          order.stalled.push(stalled);
        }
        const child = fork(fileURLToPath(new URL('./lib/live-clients.ts', import.meta.url)));
        children.push(child);
        child.send({ open: order });
        const { broken } = await answerOf<{ broken: number }>(child);
        if (broken > 0) throw new Error(`${broken} of ${order.rooms.length} feeds could not be opened.`);
        return { child, order };
      }),
    );
    const openSeconds = (performance.now() - began) / 1_000;
    const idle = await memoryOf(server);
    const clientKb = (held(idle) - held(before)) / clients / 1_024;
    const clientRssKb = (idle.rss - before.rss) / clients / 1_024;
    console.log(
      `  open after ${figure(openSeconds, 1)} s, ${figure(clientKb, 1)} kB each (${figure(clientRssKb, 1)} kB of RSS)`,
    );

    console.log(
      `  ${postsPerSecond} events a second for ${seconds} s, each heard by ${figure(clients / rooms)}`,
    );
    const cpuBefore = cpuMicroseconds(pid);
    const published: { seq: number; room: string }[] = [];
    let number = 0;
    const speaking = performance.now();
    for (let i = 0; i < seconds * postsPerSecond; i++) {
      const ahead = speaking + (i / postsPerSecond) * 1_000 - performance.now();
      if (ahead > 1) await pause(ahead);
      const room = roomIds[i % rooms] as string;
      published.push({ seq: await publishEvent(events, room, ++number, 26), room });
    }
    await quiescence(pid);
    const cpuUs = cpuMicroseconds(pid) - cpuBefore;

    console.log(`  flooding the stalled ones with ${flood.events} events of ${flood.bytes} bytes`);
    const beforeFlood = await memoryOf(server);
    const flooding = performance.now();
    for (let i = 0; i < flood.events; i++) {
      const ahead = flooding + (i / flood.perSecond) * 1_000 - performance.now();
      if (ahead > 1) await pause(ahead);
      await publishEvent(events, stalledRoom, ++number, flood.bytes);
    }
    await quiescence(pid);
    const afterFlood = await memoryOf(server);
    // The process remembers its latest thousand events for readers that come back: bounded, and nobody's in particular.
    const ring = 1_000 * flood.bytes;
    const stalledKb = Math.max(0, held(afterFlood) - held(beforeFlood) - ring) / stalledCount / 1_024;
    const offeredKb = (flood.events * flood.bytes) / 1_024;
    console.log(
      `  ${figure(stalledKb, 1)} kB for each stalled one, which was offered ${figure(offeredKb)} kB`,
    );

    const heard = await Promise.all(
      crowds.map(async ({ child }) => {
        child.send('results');
        return await answerOf<LiveHeard>(child);
      }),
    );
    const times = await storedAt(
      events,
      published.map(({ seq }) => seq),
    );
    const samples = new Samples();
    let broken = 0;
    let disorder = 0;
    let resyncs = 0;
    let stalledResynced = 0;
    let wrongCounts = 0;
    heard.forEach((one, p) => {
      broken += one.broken;
      disorder += one.disorder;
      resyncs += one.resyncs;
      stalledResynced += one.stalledResynced;
      for (let i = 0; i < one.heard.length; i += 2) {
        const stored = times.get(one.heard[i] as number);
        if (stored !== undefined) samples.add(Math.max(0, (one.heard[i + 1] as number) - stored));
      }
      crowds[p]?.order.rooms.forEach((room, reader) => {
        if (crowds[p]?.order.stalled[reader]) return;
        if (one.counts[reader] !== published.filter((event) => event.room === room).length) wrongCounts++;
      });
    });
    const ms = samples.figures();
    const checks = {
      everyReaderHeardAll: wrongCounts === 0 && broken === 0 && disorder === 0 && resyncs === 0,
      fanOut: ms.p99 <= bars.fanOutP99Ms,
      stalled: stalledKb <= bars.stalledKb && stalledResynced >= stalledCount,
      client: clientKb <= bars.clientKb,
    };
    const pass = Object.values(checks).every(Boolean);
    console.log(
      `\n${table(
        [
          'clients',
          'stalled',
          'kB each',
          'deliveries',
          'p50 ms',
          'p99 ms',
          'max ms',
          'CPU us each',
          'kB a stalled one',
        ],
        [
          [
            figure(clients),
            figure(stalledCount),
            figure(clientKb, 1),
            figure(ms.count),
            figure(ms.p50, 1),
            figure(ms.p99, 1),
            figure(ms.max, 1),
            figure(cpuUs / Math.max(1, ms.count), 0),
            figure(stalledKb, 1),
          ],
        ],
        new Set(pass ? [] : [0]),
      )}`,
    );
    if (machine.load > machine.cores)
      console.log(
        `\nOthers were working here when this began (load ${machine.load} on ${machine.cores} cores).`,
      );
    console.log(pass ? '\nEvery bar is met.\n' : `\nMissed: ${JSON.stringify(checks)}\n`);
    await publish('live', {
      name: 'live',
      pass,
      bars,
      checks,
      clients,
      stalled: stalledCount,
      openSeconds: round(openSeconds, 1),
      clientKb: round(clientKb),
      clientRssKb: round(clientRssKb),
      deliveries: ms.count,
      fanOutMs: ms,
      cpuUsPerDelivery: round(cpuUs / Math.max(1, ms.count)),
      stalledKb: round(stalledKb),
      offeredKb,
      broken,
      disorder,
      resyncs,
      stalledResynced,
      wrongCounts,
      serverPeakMemoryMb: peakMemoryMb(pid),
      short: values.short,
      machine,
      stores,
      at: new Date().toISOString(),
    });
    return pass;
  } finally {
    for (const child of children.reverse()) child.kill('SIGKILL');
    await events?.manager.streams.delete(events.stream).catch(() => undefined);
    await events?.close();
    await stack.stop();
  }
}

try {
  process.exitCode = (await main()) ? 0 : 1;
} catch (error) {
  console.error(error instanceof LauncherError ? error.message : error);
  process.exitCode = 1;
}
