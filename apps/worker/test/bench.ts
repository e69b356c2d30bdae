import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { openCache, readCacheSettings } from '@sparkroom/cache';
import { type Cloudant, openCloudant, readCloudantSettings } from '@sparkroom/cloudant';
import { type Actor, type Core, createCore, newId } from '@sparkroom/core';
import { connectEvents, type Events, type Log, readEventsSettings } from '@sparkroom/events';
import { type Mysql, migrate, openMysql, readMysqlSettings } from '@sparkroom/mysql';
import { sql } from 'kysely';
import { AckPolicy, DeliverPolicy } from 'nats';

const quiet: Log = { debug() {}, info() {}, warn() {}, error() {} };

/** Stores of the run's stack under names of the test's own, and a workspace to write in. */
export interface Bench {
  env: NodeJS.ProcessEnv;
  mysql: Mysql;
  cloudant: Cloudant;
  events: Events;
  core: Core;
  actor: Actor;
  workspaceId: string;
  close(): Promise<void>;
}

/** Core over the stores of `env`; `afterCommit` runs where a server would wake the relay. */
export async function openCore(
  env: NodeJS.ProcessEnv,
  afterCommit: () => void,
): Promise<{ core: Core; mysql: Mysql; cloudant: Cloudant; close(): Promise<void> }> {
  const mysql = await openMysql(readMysqlSettings(env));
  const cloudant = openCloudant(readCloudantSettings(env));
  const cache = openCache(readCacheSettings(env));
  const core = createCore({
    mysql,
    bodies: cloudant.bodies,
    cache,
    live: {
      async *subscribe() {
        // Nobody listens here.
      },
    },
    wakeRelay: afterCommit,
  });
  return {
    core,
    mysql,
    cloudant,
    async close() {
      await Promise.allSettled([mysql.close(), cloudant.close(), cache.close()]);
    },
  };
}

export async function openBench(): Promise<Bench> {
  const name = `t${process.pid}${Date.now().toString(36)}`;
  const url = new URL(process.env.SPARKROOM_MYSQL_URL ?? '');
  const admin = await openMysql(readMysqlSettings(process.env));
  const database = `sparkroom_${name}`;
  await sql.raw(`create database ${database}`).execute(admin.db);
  url.pathname = `/${database}`;
  const env = {
    ...process.env,
    SPARKROOM_MYSQL_URL: url.href,
    SPARKROOM_CLOUDANT_PREFIX: name,
    SPARKROOM_NATS_PREFIX: name,
    SPARKROOM_REDIS_PREFIX: name,
    SPARKROOM_WORKER_PORT: '0',
  };
  const { core, mysql, cloudant, close } = await openCore(env, () => {});
  await migrate(mysql.db);
  await cloudant.ensureDatabases();
  const events = await connectEvents(readEventsSettings(env, 'test'), quiet);
  await events.ensureStream();
  const actor: Actor = { userId: newId(), platformRole: 'user', requestId: 'test' };
  await sql`insert into user (id, name, email) values (${actor.userId}, '李雷', ${`${actor.userId.toLowerCase()}@x.example`})`.execute(
    mysql.db,
  );
  const client = await core.clients.create(actor, { name: 'Judian Optics' });
  const workspace = await core.workspaces.create(actor, {
    clientId: client.id,
    name: 'Spring',
    description: '',
  });
  return {
    env,
    mysql,
    cloudant,
    events,
    core,
    actor,
    workspaceId: workspace.id,
    async close() {
      await events.manager.streams.delete(events.stream).catch(() => undefined);
      await events.close();
      await close();
      await sql.raw(`drop database ${database}`).execute(admin.db);
      await admin.close();
    },
  };
}

/** A program of the repository as a process of its own. */
export class Program {
  readonly #child: ChildProcess;
  readonly #exited: Promise<void>;
  readonly lines: string[] = [];

  constructor(file: string, args: readonly string[], env: NodeJS.ProcessEnv) {
    const path = fileURLToPath(new URL(file, import.meta.url));
    this.#child = spawn(process.execPath, [path, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [this.#child.stdout, this.#child.stderr])
      if (stream) createInterface({ input: stream }).on('line', (line) => this.lines.push(line));
    this.#exited = once(this.#child, 'exit').then(() => undefined);
  }

  /** Waits for a line that contains `text`. */
  async says(text: string): Promise<string> {
    let found: string | undefined;
    await until(
      () => {
        found = this.lines.find((line) => line.includes(text));
        if (found === undefined && this.#child.exitCode !== null)
          throw new Error(`ended without saying "${text}":\n${this.lines.join('\n')}`);
        return found !== undefined;
      },
      20_000,
      () => `did not say "${text}":\n${this.lines.join('\n')}`,
    );
    return found ?? '';
  }

  /** Sends a signal and waits for the end. @returns exit code, or the signal that ended it */
  async end(signal: NodeJS.Signals): Promise<number | NodeJS.Signals | null> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) this.#child.kill(signal);
    return await this.exit();
  }

  async exit(): Promise<number | NodeJS.Signals | null> {
    await this.#exited;
    return this.#child.signalCode ?? this.#child.exitCode;
  }
}

/** A real worker process, at work. */
export async function spawnWorker(
  env: NodeJS.ProcessEnv,
  args: readonly string[] = [],
): Promise<{ program: Program; url: string }> {
  const program = new Program('../src/main.ts', args, env);
  const started = JSON.parse(await program.says('worker started')) as { port: number };
  await program.says('at work');
  return { program, url: `http://127.0.0.1:${started.port}` };
}

export interface StreamEvent {
  seq: number;
  id: string;
  type: string;
  aggregateId: string;
  version: number;
}

/** Everything in the stream, in order. */
export async function streamOf({ events }: Pick<Bench, 'events'>): Promise<StreamEvent[]> {
  const { manager, jetstream, stream } = events;
  const { name, num_pending } = await manager.consumers.add(stream, {
    ack_policy: AckPolicy.None,
    deliver_policy: DeliverPolicy.All,
    inactive_threshold: 10_000_000_000,
  });
  const found: StreamEvent[] = [];
  if (num_pending > 0) {
    const consumer = await jetstream.consumers.get(stream, name);
    const messages = await consumer.fetch({ max_messages: num_pending, expires: 5_000 });
    for await (const message of messages) {
      const header = (key: string): string => message.headers?.get(key) ?? '';
      found.push({
        seq: message.seq,
        id: header('Nats-Msg-Id'),
        type: header('Ev-Type'),
        aggregateId: header('Agg-Id'),
        version: Number(header('Agg-Version')),
      });
      if (found.length === num_pending) break;
    }
  }
  await manager.consumers.delete(stream, name);
  return found;
}

/** Waits until `condition` holds. @throws Error with `message` when it does not within `ms` */
export async function until(
  condition: () => boolean | Promise<boolean>,
  ms = 20_000,
  message: () => string = () => 'the condition did not come true',
): Promise<void> {
  const end = Date.now() + ms;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(message());
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}
