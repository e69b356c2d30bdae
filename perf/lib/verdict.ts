import { setTimeout as pause } from 'node:timers/promises';
import { openCloudant, readCloudantSettings } from '@sparkroom/cloudant';
import { connectEvents, type Events, type Log, readEventsSettings } from '@sparkroom/events';
import { type Mysql, openMysql, readMysqlSettings } from '@sparkroom/mysql';
import { sql } from 'kysely';
import { Caller } from './caller.ts';
import type { Commands } from './commands.ts';

const quiet: Log = { debug() {}, info() {}, warn() {}, error() {} };

export interface Verdict {
  commands: number;
  acknowledged: number;
  /** How many commands were answered by each status; `0`: not answered. */
  statuses: Record<string, number>;
  events: number;
  /** Acknowledged commands without an event; events that are not in the stream, or had no effect. */
  lost: number;
  /** Commands with two events; events twice in the stream, or with two effects. */
  doubled: number;
  /** Events of the stream, and effects, that come after a later one of their aggregate. */
  reordered: number;
  /** Ideas whose text, version or sums differ between the stores, or whose list differs from the database. */
  drift: number;
  /** Seconds until everything had arrived after the last command. */
  settledSeconds: number;
  /** What was wrong, a line each; the first ones of each kind. */
  trace: string[];
}

export interface Stored {
  seq: number;
  id: string;
  aggregate: string;
  version: number;
}

/** Everything that is stored in a stream from a sequence on, in order. @throws Error when it cannot be read */
export async function storedFrom(events: Events, from: number): Promise<Stored[]> {
  const stored: Stored[] = [];
  const name = `verdict-${process.pid}-${Date.now()}`;
  type Config = Parameters<typeof events.manager.consumers.add>[1];
  await events.manager.consumers.add(events.stream, {
    name,
    ack_policy: 'none',
    deliver_policy: 'by_start_sequence',
    opt_start_seq: from,
    replay_policy: 'instant',
    headers_only: true,
    inactive_threshold: 60_000_000_000,
  } as Config);
  const consumer = await events.jetstream.consumers.get(events.stream, name);
  let pending = (await consumer.info()).num_pending;
  while (pending > 0) {
    const before = pending;
    const messages = await consumer.fetch({ max_messages: Math.min(500, pending), expires: 10_000 });
    for await (const message of messages) {
      pending = message.info.pending;
      stored.push({
        seq: message.seq,
        id: (message.headers?.get('Nats-Msg-Id') ?? '').replace(/:r\d+$/, ''),
        aggregate: `${message.headers?.get('Agg-Type')} ${message.headers?.get('Agg-Id')}`,
        version: Number(message.headers?.get('Agg-Version')),
      });
    }
    if (pending === before) throw new Error('The stream could not be read.');
  }
  await events.manager.consumers.delete(events.stream, name);
  return stored;
}

/** Compares what was acknowledged with every store, from a moment on. */
export class Judge {
  readonly #env: NodeJS.ProcessEnv;
  readonly #urls: readonly string[];
  readonly #mysql: Mysql;
  readonly #events: Events;
  #fromOutbox = '0';
  #fromEffect = '0';

  private constructor(env: NodeJS.ProcessEnv, urls: readonly string[], mysql: Mysql, events: Events) {
    this.#env = env;
    this.#urls = urls;
    this.#mysql = mysql;
    this.#events = events;
  }

  static async open(env: NodeJS.ProcessEnv, urls: readonly string[]): Promise<Judge> {
    const mysql = await openMysql({ ...readMysqlSettings(env), connections: 3, statementMs: 20_000 });
    try {
      return new Judge(env, urls, mysql, await connectEvents(readEventsSettings(env, 'judge'), quiet));
    } catch (error) {
      await mysql.close();
      throw error;
    }
  }

  get mysql(): Mysql {
    return this.#mysql;
  }

  get events(): Events {
    return this.#events;
  }

  /** What is there already is not judged. */
  async begin(): Promise<void> {
    const { rows } = await sql<{ o: string; e: string }>`select
      (select coalesce(max(id), 0) from outbox) as o, (select coalesce(max(id), 0) from effect) as e`.execute(
      this.#mysql.db,
    );
    this.#fromOutbox = String(rows[0]?.o ?? 0);
    this.#fromEffect = String(rows[0]?.e ?? 0);
  }

  /** Waits until all has arrived, `deadlineMs` at most, and compares. */
  async judge(commands: Commands, deadlineMs: number): Promise<Verdict> {
    const began = performance.now();
    let waiting = await this.#waiting();
    while (waiting !== '' && performance.now() - began < deadlineMs) {
      await pause(250);
      waiting = await this.#waiting().catch((error: unknown) => `a store does not answer: ${error}`);
    }
    const found: Record<'lost' | 'doubled' | 'reordered' | 'drift', string[]> = {
      lost: [],
      doubled: [],
      reordered: [],
      drift: waiting === '' ? [] : [`not settled: ${waiting}`],
    };

    const { rows: outbox } = await sql<{
      event_id: string;
      request_id: string | null;
      type: string;
      aggregate_type: string;
      aggregate_id: string;
      payload: string | { bodyVersion?: number };
    }>`select event_id, request_id, type, aggregate_type, aggregate_id, payload
      from outbox where id > ${this.#fromOutbox} order by id`.execute(this.#mysql.db);

    // Commands and their events.
    const byRequest = Map.groupBy(outbox, ({ request_id, type }) => `${request_id} ${type}`);
    for (const sent of commands.sent.values()) {
      const count = byRequest.get(`${sent.requestId} ${sent.event}`)?.length ?? 0;
      if (sent.acknowledged && sent.surelyNew && count === 0)
        found.lost.push(`${sent.requestId} was acknowledged; there is no ${sent.event}`);
      if (count > 1) found.doubled.push(`${sent.requestId} has ${count} events ${sent.event}`);
    }

    // Events and the stream. Sequences start anew with a stream that was purged or rolled back: read it whole.
    const ours = new Set(outbox.map(({ event_id }) => event_id));
    const read = async (): Promise<Stored[]> =>
      (await storedFrom(this.#events, 1)).filter(({ id }) => ours.has(id));
    let stored = await read();
    // What the server has lost is found by the auditor, which looks once a minute.
    while (new Set(stored.map(({ id }) => id)).size < ours.size && performance.now() - began < deadlineMs) {
      await pause(1_000);
      stored = await read();
    }
    const settledSeconds = (performance.now() - began) / 1000;
    compare('the stream', ours, stored, found);

    // Events and effects.
    const { rows: effects } = await sql<{ event_id: string; aggregate: string; version: string }>`
      select event_id, aggregate, version from effect where id > ${this.#fromEffect} order by id`.execute(
      this.#mysql.db,
    );
    const ideaEvents = outbox.filter((row) => row.aggregate_type === 'idea');
    compare(
      'the effects',
      new Set(ideaEvents.map(({ event_id }) => event_id)),
      effects.map((row) => ({
        id: row.event_id,
        aggregate: row.aggregate,
        version: Number(row.version),
      })),
      found,
    );

    // Both stores.
    const texts = new Map<string, string>();
    for (const { request_id, aggregate_id, payload } of ideaEvents) {
      const { bodyVersion } = typeof payload === 'string' ? JSON.parse(payload) : payload;
      const text = request_id === null ? null : commands.sent.get(request_id)?.text;
      if (bodyVersion !== undefined && text) texts.set(`${aggregate_id} ${bodyVersion}`, text);
    }
    await this.#compareStores(commands, texts, found.drift);

    const all = [...commands.sent.values()];
    return {
      commands: all.length,
      acknowledged: all.filter((sent) => sent.acknowledged).length,
      statuses: Object.fromEntries(
        [...Map.groupBy(all, ({ status }) => status)].map(([status, some]) => [status, some.length]),
      ),
      events: outbox.length,
      lost: found.lost.length,
      doubled: found.doubled.length,
      reordered: found.reordered.length,
      drift: found.drift.length,
      settledSeconds: Math.round(settledSeconds * 10) / 10,
      trace: Object.entries(found).flatMap(([kind, lines]) =>
        lines.slice(0, 10).map((line) => `${kind}: ${line}`),
      ),
    };
  }

  /** What has not arrived yet, in words; empty when all has. */
  async #waiting(): Promise<string> {
    const { rows } = await sql<Record<'unpublished' | 'texts' | 'effects' | 'dead', string>>`select
      (select count(*) from outbox where published_at is null) as unpublished,
      (select count(*) from idea_pending) as texts,
      (select count(*) from outbox o where o.id > ${this.#fromOutbox} and o.aggregate_type = 'idea'
        and not exists (select 1 from effect e where e.aggregate = o.aggregate_id and e.version = o.aggregate_version))
        as effects,
      (select count(*) from dead_letter where state = 'dead') as dead`.execute(this.#mysql.db);
    const { unpublished, texts, effects, dead } = rows[0] ?? {};
    return [
      [unpublished, 'events unpublished'],
      [texts, 'texts waiting for Cloudant'],
      [effects, 'events without effect'],
      [dead, 'dead letters'],
    ]
      .filter(([count]) => Number(count) !== 0)
      .map(([count, what]) => `${count} ${what}`)
      .join(', ');
  }

  async #compareStores(
    commands: Commands,
    texts: ReadonlyMap<string, string>,
    drift: string[],
  ): Promise<void> {
    const { rows: ideas } = await sql<{
      id: string;
      workspace_id: string;
      version: number;
      title: string;
      body_version: number;
      stored_version: number;
      sums: string;
      truth: string;
    }>`select i.id, i.workspace_id, i.version, i.title, i.body_version, i.stored_version,
        concat_ws(' ', i.rating_count, i.rating_sum, i.rating_sumsq) as sums,
        (select concat_ws(' ', count(*), coalesce(sum(stars), 0), coalesce(sum(stars * stars), 0))
          from rating r where r.idea_id = i.id and r.counted) as truth
      from idea i where i.workspace_id in (${sql.join(commands.rooms)}) and i.removed_at is null`.execute(
      this.#mysql.db,
    );
    const cloudant = openCloudant({ ...readCloudantSettings(this.#env), deadlineMs: 20_000 });
    try {
      for (let at = 0; at < ideas.length; at += 50) {
        const page = ideas.slice(at, at + 50);
        const bodies = await cloudant.bodies.getMany(page.map(({ id }) => id));
        for (const idea of page) {
          const doc = bodies.get(idea.id);
          const expected = texts.get(`${idea.id} ${idea.body_version}`);
          if (idea.sums !== idea.truth)
            drift.push(`${idea.id}: sums ${idea.sums}, by its ratings ${idea.truth}`);
          if (doc?.appliedVersion !== idea.body_version || idea.stored_version !== idea.body_version)
            drift.push(
              `${idea.id}: text ${idea.body_version} in MySQL, ${idea.stored_version} confirmed, ${doc?.appliedVersion} in Cloudant`,
            );
          else if (doc.body.text !== expected)
            drift.push(`${idea.id}: the text is "${doc.body.text}", not "${expected}"`);
        }
      }
    } finally {
      await cloudant.close();
    }
    const truth = new Map(ideas.map((idea) => [idea.id, `${idea.version} ${idea.title}`]));
    for (const url of this.#urls) {
      const caller = new Caller(url);
      caller.token = commands.authorToken;
      for (const workspaceId of commands.rooms) {
        const { items } = await caller.query<{ items: { id: string; version: number; title: string }[] }>(
          'ideas.list',
          { workspaceId, limit: 20 },
        );
        const here = ideas.filter((idea) => idea.workspace_id === workspaceId).length;
        if (items.length !== Math.min(20, here))
          drift.push(`${url} lists ${items.length} ideas of ${here} in ${workspaceId}`);
        for (const { id, version, title } of items)
          if (truth.get(id) !== `${version} ${title}`)
            drift.push(`${url} lists ${id} as ${version} "${title}", it is ${truth.get(id)}`);
      }
      caller.close();
    }
  }

  async close(): Promise<void> {
    await Promise.allSettled([this.#events.close(), this.#mysql.close()]);
  }
}

/** Every wanted event once, and in order within its aggregate. */
export function compare(
  where: string,
  wanted: ReadonlySet<string>,
  had: ReadonlyArray<Omit<Stored, 'seq'>>,
  found: Record<'lost' | 'doubled' | 'reordered', string[]>,
): void {
  const seen = new Set<string>();
  const last = new Map<string, number>();
  for (const { id, aggregate, version } of had) {
    if (seen.has(id)) {
      found.doubled.push(`${id} is twice in ${where}`);
      continue;
    }
    seen.add(id);
    const before = last.get(aggregate) ?? 0;
    if (version <= before)
      found.reordered.push(`${aggregate}: version ${version} after ${before} in ${where}`);
    last.set(aggregate, Math.max(before, version));
  }
  for (const id of wanted) if (!seen.has(id)) found.lost.push(`${id} is not in ${where}`);
}
