/**
 * `npm run perf:staleness [-- --short] [--rate 1000]`: how old what is read can be, through the public procedures of two
 * server processes, while hot keys are written; with and without faults.
 */
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { openCache, readCacheSettings } from '@sparkroom/cache';
import { openCloudant, readCloudantSettings } from '@sparkroom/cloudant';
import { createCore } from '@sparkroom/core';
import { LauncherError, startStack } from '@sparkroom/local';
import { type Mysql, openMysql, readMysqlSettings } from '@sparkroom/mysql';
import { Caller } from './lib/caller.ts';
import { machineFacts } from './lib/machine.ts';
import { freePort, type Program, repository, runToEnd, startProgram } from './lib/programs.ts';
import { figure, publish, table } from './lib/report.ts';
import { type Kind, Observer, type PhaseFigures } from './lib/staleness.ts';

const KEYS = 10;
/** People who rate each hot idea over and over: they make its lists old, too, but a rating has no version to judge by. */
const RATERS = 2;
/** Readers of each server, each asking again 10 ms after its last answer. */
const READERS = 2;
const READER_PAUSE_MS = 10;

/** Milliseconds a change may take to be seen: 99 of 100 without faults; at most after a restart or pause; ever. */
const bars = { p99Ms: 50, restartMs: 5_000, everMs: 60_000 };

interface Site {
  /** Two server processes. */
  urls: readonly [string, string];
  env: NodeJS.ProcessEnv;
  stack: Awaited<ReturnType<typeof startStack>>;
  worker: Program;
  stop(): Promise<void>;
}

async function startSite(signal: AbortSignal): Promise<Site> {
  const dir = join(process.env.SPARKROOM_DIR || join(repository, '.sparkroom'), 'perf-staleness');
  const clean = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^SPARKROOM_(?!DIR$|PATH_ONLY$)/.test(name)),
  );
  const stack = await startStack({
    dir,
    ports: { mysql: 43_306, cloudant: 45_984, redis: 46_379, nats: 44_222 },
    nextFreePort: true,
    reset: true,
    signal,
    env: clean,
    log: (line) => console.log(`  ${line}`),
  });
  const started: Program[] = [];
  const stop = async (): Promise<void> => {
    // A paused worker cannot hear that it is to end.
    for (const { pid } of started) resume(pid);
    await Promise.all(started.map((program) => program.stop()));
    await stack.stop();
  };
  try {
    const env: NodeJS.ProcessEnv = {
      ...clean,
      ...stack.env,
      SPARKROOM_HOST: '127.0.0.1',
      SPARKROOM_REQUESTS_PER_MINUTE: '10000000',
      SPARKROOM_LOG_LEVEL: 'error',
    };
    await runToEnd('apps/server/src/migrate.ts', [], env);
    const start = async (file: string, name: string, port: number, more: NodeJS.ProcessEnv) => {
      signal.throwIfAborted();
      const health = `http://127.0.0.1:${port}/healthz`;
      const program = await startProgram(file, { ...env, ...more }, health, join(dir, 'logs', `${name}.log`));
      started.push(program);
      return program;
    };
    const ports = [await freePort(), await freePort(), await freePort()] as const;
    // Both sign the same sessions and are known by one address, as behind a balancer.
    const url = `http://127.0.0.1:${ports[0]}`;
    for (const [i, port] of ports.slice(0, 2).entries()) {
      const more = { SPARKROOM_PORT: String(port), SPARKROOM_URL: url };
      await start('apps/server/src/main.ts', `server${i + 1}`, port, more);
    }
    const worker = await start('apps/worker/src/main.ts', 'worker', ports[2], {
      SPARKROOM_WORKER_PORT: String(ports[2]),
    });
    return { urls: [url, `http://127.0.0.1:${ports[1]}`], env, stack, worker, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function resume(pid: number): void {
  try {
    process.kill(pid, 'SIGCONT');
  } catch {
    // Gone already.
  }
}

const raterEmail = (i: number): string => `rater${i}@perf.sparkroom.example`;

interface Room {
  id: string;
  ideaId: string;
}

interface Item {
  id: string;
  version: number;
  ideaCount: number;
}

/** Ten workspaces with a hot idea each, written by one writer each, rated by others, and read through both servers. */
class Load {
  readonly observer = new Observer();
  readonly #rooms: Room[] = [];
  readonly #callers: readonly [Caller, Caller];
  readonly #raters: Caller[] = [];
  readonly #rate: number;
  #writing = true;
  #reading = true;
  #running: Promise<unknown> = Promise.resolve();
  userId = '';
  writes = 0;
  failedWrites = 0;
  failedReads = 0;

  constructor(urls: readonly [string, string], rate: number) {
    this.#callers = [new Caller(urls[0]), new Caller(urls[1])];
    this.#rate = rate;
  }

  async prepare(): Promise<void> {
    const [first, second] = this.#callers;
    const { token, userId } = await first.signUp('stale@perf.sparkroom.example', 'sparkroom-demo');
    this.userId = userId;
    for (const caller of this.#callers) caller.token = token;
    for (let i = 0; i < RATERS; i++) {
      const rater = new Caller(i % 2 === 0 ? second.url : first.url);
      // Both servers are known by the first one's address, and sign up only who comes from there.
      rater.token = (await first.signUp(raterEmail(i), 'sparkroom-demo')).token;
      this.#raters.push(rater);
    }
    const client = await first.mutate<{ id: string }>('clients.create', { name: 'Hot' });
    for (let k = 0; k < KEYS; k++) {
      const { id } = await first.mutate<{ id: string }>('workspaces.create', {
        clientId: client.id,
        name: `room ${k}`,
      });
      const idea = await second.mutate<{ id: string }>('ideas.create', {
        workspaceId: id,
        title: 'hot',
        body: { text: 'hot' },
      });
      await first.mutate('ratings.set', { ideaId: idea.id, stars: 5 });
      for (let i = 0; i < RATERS; i++)
        await first.mutate('members.add', { workspaceId: id, email: raterEmail(i) });
      this.#rooms.push({ id, ideaId: idea.id });
      await this.#learn(k);
    }
  }

  /** Notes what is surely committed now, from reads that no cache answers. */
  async #learn(k: number): Promise<{ idea: number; room: number; count: number }> {
    const { id, ideaId } = this.#rooms[k] as Room;
    const caller = this.#callers[k % 2] as Caller;
    const idea = (await caller.query<Item>('ideas.get', { id: ideaId })).version;
    const room = await caller.query<Item>('workspaces.get', { id });
    const at = performance.now();
    this.observer.acknowledged('ideas', k, idea, at);
    this.observer.acknowledged('workspaces', k, room.version, at);
    this.observer.acknowledged('counts', k, room.ideaCount, at);
    return { idea, room: room.version, count: room.ideaCount };
  }

  start(): void {
    const writers = this.#rooms.flatMap((room, k) => [
      this.#write(k),
      ...this.#raters.map((rater) => this.#rateOften(rater, room.ideaId)),
    ]);
    const readers = this.#callers.flatMap((caller, server) =>
      Array.from({ length: READERS }, (_, n) => this.#read(caller, server, n)),
    );
    this.#running = Promise.all([...writers, ...readers]);
    this.#running.catch(() => {});
  }

  async #write(k: number): Promise<void> {
    const { id, ideaId } = this.#rooms[k] as Room;
    let known = await this.#learn(k);
    const pace = this.#pace();
    for (let i = k; this.#writing; i++) {
      const caller = this.#callers[(k + i) % 2] as Caller;
      try {
        if (i % 10 === 5) {
          const name = `room ${k} ${i}`;
          await caller.mutate('workspaces.update', { id, version: known.room, name });
          this.observer.acknowledged('workspaces', k, ++known.room, performance.now());
        } else if (i % 10 === 9) {
          await caller.mutate('ideas.create', { workspaceId: id, title: 'more', body: { text: 'more' } });
          this.observer.acknowledged('counts', k, ++known.count, performance.now());
        } else {
          await caller.mutate('ideas.update', { id: ideaId, version: known.idea, title: `hot ${i}` });
          this.observer.acknowledged('ideas', k, ++known.idea, performance.now());
        }
        this.writes++;
      } catch {
        // The outcome is unknown: ask until somebody answers, then go on from there.
        this.failedWrites++;
        for (let known2: typeof known | undefined; !known2 && this.#writing; ) {
          await pause(100);
          known2 = await this.#learn(k).catch(() => undefined);
          if (known2) known = known2;
        }
      }
      await pace();
    }
  }

  /** Waits so that all who write together do not write more often than the rate says. */
  #pace(): () => Promise<void> {
    const everyMs = (1000 * KEYS * (1 + RATERS)) / this.#rate;
    let next = performance.now();
    return async () => {
      next = Math.max(next + everyMs, performance.now() - everyMs);
      const wait = next - performance.now();
      if (wait > 1) await pause(wait);
    };
  }

  async #rateOften(rater: Caller, ideaId: string): Promise<void> {
    const pace = this.#pace();
    for (let i = 0; this.#writing; i++) {
      await rater.mutate('ratings.set', { ideaId, stars: 1 + (i % 5) }).then(
        () => this.writes++,
        async () => {
          this.failedWrites++;
          await pause(100);
        },
      );
      await pace();
    }
  }

  async #read(caller: Caller, server: number, n: number): Promise<void> {
    for (let i = n; this.#reading; i++) {
      await this.#readOnce(caller, server, i).catch(() => this.failedReads++);
      await pause(READER_PAUSE_MS);
    }
  }

  /** One read of the hot keys, judged by what was acknowledged before it began. */
  async #readOnce(caller: Caller, server: number, i: number): Promise<void> {
    const k = Math.floor(i / 3) % KEYS;
    const { id, ideaId } = this.#rooms[k] as Room;
    const kinds: Kind[] = i % 3 === 0 ? ['workspaces', 'counts'] : ['ideas'];
    const expected = this.observer.expect(kinds);
    if (i % 3 === 0) {
      const { items } = await caller.query<{ items: Item[] }>('workspaces.list', { limit: 20 });
      for (const [key, room] of this.#rooms.entries()) {
        const item = items.find((one) => one.id === room.id);
        this.observer.seen(expected, 'workspaces', key, server, item?.version ?? 0);
        this.observer.seen(expected, 'counts', key, server, item?.ideaCount ?? 0);
      }
      return;
    }
    const { items } =
      i % 3 === 1
        ? await caller.query<{ items: Item[] }>('ideas.list', { workspaceId: id, sort: 'oldest', limit: 5 })
        : await caller.query<{ items: Item[] }>('ideas.ranking', { workspaceId: id, limit: 5 });
    const hot = items.find((one) => one.id === ideaId);
    // Ratings may move it off the first places; from the oldest ideas it cannot be missing.
    if (hot || i % 3 === 1) this.observer.seen(expected, 'ideas', k, server, hot?.version ?? 0);
  }

  async stopWriting(): Promise<void> {
    this.#writing = false;
    await pause(1_000);
  }

  async stop(): Promise<void> {
    this.#writing = false;
    this.#reading = false;
    await this.#running.catch(() => {});
  }

  /** Every key through every read of both servers. @returns observations older than what was acknowledged */
  async staleNow(): Promise<number> {
    for (let k = 0; k < KEYS; k++) await this.#learn(k);
    const before = this.observer.stale;
    for (const [server, caller] of this.#callers.entries())
      for (let i = 0; i < KEYS * 3; i++) await this.#readOnce(caller, server, i);
    return this.observer.stale - before;
  }

  close(): void {
    for (const caller of [...this.#callers, ...this.#raters]) caller.close();
  }
}

interface Fault {
  name: string;
  /** What is stated for people. */
  barMs: number;
  /** Does something and undoes it; the load goes on. */
  run(site: Site, load: Load, ms: number, signal: AbortSignal): Promise<void>;
}

/** Use cases of a process like a server's, over the same stores; `bend` changes how its cache loads. */
async function besideServers(
  site: Site,
  over: (mysql: Mysql) => Promise<{ mysql: Mysql; done(): Promise<unknown> }>,
  delayMs: number,
  work: (core: ReturnType<typeof createCore>) => Promise<void>,
): Promise<void> {
  const mysql = await openMysql({ ...readMysqlSettings(site.env), connections: 20, statementMs: 60_000 });
  const cloudant = openCloudant(readCloudantSettings(site.env));
  const cache = openCache({ ...readCacheSettings(site.env), memoryBytes: 1 });
  const { mysql: bent, done } = await over(mysql);
  try {
    await work(
      createCore({
        mysql: bent,
        bodies: cloudant.bodies,
        cache: {
          ...cache,
          // Reads, then is held up, then fills: everything that happened in between is newer.
          read: (family, wanted, load) =>
            cache.read(family, wanted, async () => {
              const value = await load();
              await pause(delayMs);
              return value;
            }),
        },
        live: { async *subscribe() {} },
        wakeRelay() {},
      }),
    );
  } finally {
    await done();
    await Promise.allSettled([cache.close(), cloudant.close(), mysql.close()]);
  }
}

/** Reads the hot lists over and over. */
async function readOften(
  core: ReturnType<typeof createCore>,
  load: Load,
  ms: number,
  signal: AbortSignal,
): Promise<void> {
  const actor = { userId: load.userId, platformRole: 'user' as const, requestId: 'perf' };
  const end = performance.now() + ms;
  const running = new Set<Promise<unknown>>();
  const { items } = await core.workspaces.list(actor, { limit: 20, archived: false });
  for (let i = 0; performance.now() < end && !signal.aborted; i++) {
    const workspaceId = items[i % items.length]?.id ?? '';
    const reads = [
      core.workspaces.list(actor, { limit: 20, archived: false }),
      core.ideas.list(actor, { workspaceId, limit: 5, sort: 'oldest', filter: 'all', withBody: false }),
      core.ideas.ranking(actor, { workspaceId, limit: 5 }),
    ];
    const all: Promise<unknown> = Promise.allSettled(reads).then(() => running.delete(all));
    running.add(all);
    await pause(100);
  }
  await Promise.all(running);
}

const still = { done: async () => {} };

const faults: Fault[] = [
  {
    name: 'none',
    barMs: bars.p99Ms,
    run: async (_site, _load, ms, signal) => void (await pause(ms, undefined, { signal })),
  },
  {
    name: 'fills delayed 2 s',
    barMs: bars.restartMs,
    run: (site, load, ms, signal) =>
      besideServers(
        site,
        async (mysql) => ({ mysql, ...still }),
        2_000,
        (core) => readOften(core, load, ms, signal),
      ),
  },
  {
    name: 'snapshot held open',
    barMs: bars.restartMs,
    run: (site, load, ms, signal) =>
      besideServers(
        site,
        async (mysql) => {
          // Every read of this process is of the moment of its first one.
          const trx = await mysql.db.startTransaction().setIsolationLevel('repeatable read').execute();
          return { mysql: { ...mysql, db: trx }, done: () => trx.rollback().execute() };
        },
        0,
        (core) => readOften(core, load, ms, signal),
      ),
  },
  {
    name: 'relay and consumers paused 10 s',
    barMs: bars.restartMs + 1_000,
    async run({ worker }, _load, _ms, signal) {
      process.kill(worker.pid, 'SIGSTOP');
      try {
        await pause(10_000, undefined, { signal });
      } finally {
        resume(worker.pid);
      }
      await pause(3_000, undefined, { signal });
    },
  },
  ...(['redis', 'nats'] as const).map(
    (store): Fault => ({
      name: `${store === 'redis' ? 'Redis' : 'NATS'} killed and restarted`,
      barMs: bars.restartMs,
      async run({ stack }, _load, ms, signal) {
        await pause(1_000, undefined, { signal });
        await stack.kill(store);
        await pause(2_000, undefined, { signal });
        await stack.restart(store);
        await pause(ms, undefined, { signal });
      },
    }),
  ),
];

function readArguments() {
  const { values } = parseArgs({
    options: { short: { type: 'boolean', default: false }, rate: { type: 'string', default: '1000' } },
  });
  const rate = Number(values.rate);
  if (!Number.isInteger(rate) || rate < 1 || rate > 100_000)
    throw new LauncherError('bad-setting', '--rate takes a whole number of writes per second.');
  return { rate, short: values.short };
}

async function main(signal: AbortSignal): Promise<boolean> {
  const { rate, short } = readArguments();
  const phaseMs = short ? 5_000 : 20_000;
  const machine = machineFacts();
  const site = await startSite(signal);
  const load = new Load(site.urls, rate);
  try {
    await load.prepare();
    load.start();
    // Engines compile, pools fill.
    await pause(3_000, undefined, { signal });
    const rows: Array<
      { fault: string; seconds: number; writesPerSecond: number; barMs: number; pass: boolean } & PhaseFigures
    > = [];
    for (const fault of faults) {
      signal.throwIfAborted();
      load.observer.begin();
      const began = performance.now();
      const writes = load.writes;
      await fault.run(site, load, phaseMs, signal);
      const seconds = (performance.now() - began) / 1000;
      // What was written last is judged by the reads of the next moment.
      await pause(200);
      const figures = load.observer.end();
      const worst = fault.name === 'none' ? figures.coherentMs.p99 : figures.coherentMs.max;
      rows.push({
        fault: fault.name,
        seconds: Math.round(seconds * 10) / 10,
        writesPerSecond: Math.round((load.writes - writes) / seconds),
        barMs: fault.barMs,
        pass: worst <= fault.barMs,
        ...figures,
      });
      console.log(
        `  ${fault.name}: ${figure(figures.stale)} of ${figure(figures.reads)} stale, max ${figure(figures.coherentMs.max)} ms`,
      );
    }
    await load.stopWriting();
    await load.stop();
    const staleAfterwards = await load.staleNow();
    let staleAt60s: number | null = null;
    if (!short) {
      console.log('  a minute without writes');
      await pause(60_000, undefined, { signal });
      staleAt60s = await load.staleNow();
    }
    const everMs = Math.max(...rows.map((row) => row.coherentMs.max));
    const pass =
      rows.every((row) => row.pass) && staleAfterwards === 0 && !staleAt60s && everMs < bars.everMs;
    report(rows, machine, { staleAfterwards, staleAt60s });
    console.log(pass ? '\nEvery bar is met.\n' : '\nMissed: see the red rows.\n');
    await publish('staleness', {
      name: 'staleness',
      pass,
      bars,
      short,
      keys: KEYS,
      targetWritesPerSecond: rate,
      rows,
      writes: load.writes,
      failedWrites: load.failedWrites,
      failedReads: load.failedReads,
      staleAfterwards,
      staleAt60s,
      machine,
      at: new Date().toISOString(),
    });
    return pass;
  } finally {
    await load.stop();
    load.close();
    await site.stop();
  }
}

function report(
  rows: ReadonlyArray<
    { fault: string; writesPerSecond: number; barMs: number; pass: boolean } & PhaseFigures
  >,
  machine: { load: number; cores: number },
  end: { staleAfterwards: number; staleAt60s: number | null },
): void {
  console.log(
    `\n${KEYS} hot keys, two servers; times in ms; seen = from the acknowledged write to the last read that did not show it\n`,
  );
  console.log(
    table(
      ['fault', 'writes/s', 'reads', 'stale', 'stale p50', 'p99', 'max', 'seen p50', 'p99', 'max', 'bar'],
      rows.map((row) => [
        row.fault,
        figure(row.writesPerSecond),
        figure(row.reads),
        figure(row.stale),
        ...[row.staleMs.p50, row.staleMs.p99, row.staleMs.max].map((ms) => figure(ms, 1)),
        ...[row.coherentMs.p50, row.coherentMs.p99, row.coherentMs.max].map((ms) => figure(ms, 1)),
        figure(row.barMs),
      ]),
      new Set(rows.flatMap((row, i) => (row.pass ? [] : [i]))),
    ),
  );
  const kinds = ['ideas', 'workspaces', 'counts'] as const;
  console.log(
    `\nStale by what was read: ${kinds.map((kind) => `${kind} ${figure(rows.reduce((sum, row) => sum + row.byKind[kind].stale, 0))}`).join(', ')}.`,
  );
  console.log(
    `Stale when the writers had stopped: ${end.staleAfterwards}${end.staleAt60s === null ? '' : `; a minute later: ${end.staleAt60s}`}.`,
  );
  if (machine.load > machine.cores)
    console.log(`Others were working here when this began (load ${machine.load} on ${machine.cores} cores).`);
}

const interrupt = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const)
  process.once(name, () => {
    console.error('stopping; once more ends at once');
    interrupt.abort(new Error(`Ended by ${name}.`));
  });
try {
  process.exitCode = (await main(interrupt.signal)) ? 0 : 1;
} catch (error) {
  const expected = error instanceof LauncherError || interrupt.signal.aborted;
  console.error(expected && error instanceof Error ? error.message : error);
  process.exitCode = interrupt.signal.aborted ? 130 : 1;
}
