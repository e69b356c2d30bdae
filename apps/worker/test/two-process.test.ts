import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Bench, openBench, Program, spawnWorker, streamOf, until } from './bench.ts';
import { type FaultyProxy, startFaultyProxy } from './faulty-proxy.ts';

let bench: Bench;
const running: Program[] = [];
const proxies: FaultyProxy[] = [];

beforeAll(async () => {
  bench = await openBench();
});
afterAll(() => bench?.close());
afterEach(async () => {
  await Promise.all(running.splice(0).map((program) => program.end('SIGKILL')));
  await Promise.all(proxies.splice(0).map((proxy) => proxy.close()));
});

async function worker(env = bench.env, args: string[] = []): Promise<{ program: Program; url: string }> {
  const started = await spawnWorker(env, args);
  running.push(started.program);
  return started;
}

async function proxied(): Promise<{ proxy: FaultyProxy; env: NodeJS.ProcessEnv }> {
  const proxy = await startFaultyProxy(bench.env.SPARKROOM_CLOUDANT_URL ?? '');
  proxies.push(proxy);
  return { proxy, env: { ...bench.env, SPARKROOM_CLOUDANT_URL: proxy.url } };
}

/** Kills a process that writes `count` ideas between the last commit and its wake-up. @returns ids of the ideas */
async function writeAndDie(title: string, count = 1): Promise<string[]> {
  const args = [bench.actor.userId, bench.workspaceId, title, String(count)];
  const program = new Program('./commit-and-die.ts', args, bench.env);
  running.push(program);
  expect(await program.exit(), program.lines.join('\n')).toBe('SIGKILL');
  const rows = await bench.mysql.db.selectFrom('idea').select('id').where('title', '=', title).execute();
  expect(rows).toHaveLength(count);
  return rows.map((row) => row.id);
}

const storedVersion = async (id: string): Promise<number> =>
  (
    await bench.mysql.db
      .selectFrom('idea')
      .select('stored_version')
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
  ).stored_version;

const count = async (table: 'idea_pending' | 'dead_letter'): Promise<number> =>
  Number(
    (
      await bench.mysql.db
        .selectFrom(table)
        .select((eb) => eb.fn.countAll().as('n'))
        .executeTakeFirstOrThrow()
    ).n,
  );

const unpublished = async (): Promise<number> =>
  Number(
    (
      await bench.mysql.db
        .selectFrom('outbox')
        .select((eb) => eb.fn.countAll().as('n'))
        .where('published_at', 'is', null)
        .executeTakeFirstOrThrow()
    ).n,
  );

/** Every outbox row is in the stream exactly once, at the marked sequence, and every aggregate is in order. */
async function expectStreamEqualsOutbox(): Promise<void> {
  await until(async () => (await unpublished()) === 0);
  const rows = await bench.mysql.db
    .selectFrom('outbox')
    .select(['event_id', 'stream_seq'])
    .orderBy('id')
    .execute();
  const stream = await streamOf(bench);
  expect(new Map(stream.map((event) => [event.id, String(event.seq)]))).toEqual(
    new Map(rows.map((row) => [row.event_id, String(row.stream_seq)])),
  );
  expect(stream).toHaveLength(rows.length);
  for (const events of Map.groupBy(
    stream,
    (event) => `${event.type.split('.')[0]} ${event.aggregateId}`,
  ).values()) {
    const versions = events.map((event) => event.version);
    expect(versions).toEqual(versions.map((_, index) => index + 1));
  }
}

describe('two processes', () => {
  it('loses nothing when the server is killed between commit and wake-up', async () => {
    const [id = ''] = await writeAndDie('Killed right after its commit');
    // Nothing has been published, and no text has reached Cloudant: the worker has it all before it.
    expect(await unpublished()).toBeGreaterThan(0);
    expect(await bench.cloudant.bodies.get(id)).toBeNull();

    const { program, url } = await worker();
    await until(async () => (await storedVersion(id)) === 1);
    expect((await bench.cloudant.bodies.get(id))?.body).toEqual({
      text: 'Killed right after its commit: 正文',
    });
    expect(await count('idea_pending')).toBe(0);
    await expectStreamEqualsOutbox();
    const types = (await streamOf(bench))
      .filter((event) => event.aggregateId === id)
      .map((event) => event.type);
    expect(types).toEqual(['idea.created', 'idea.bodyStored']);

    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    const ready = await fetch(`${url}/readyz`);
    expect([ready.status, await ready.json()]).toEqual([200, { status: 'ready', failing: [] }]);
    await until(async () => {
      const text = await (await fetch(`${url}/metrics`)).text();
      return (
        /^sparkroom_outbox_pending 0$/m.test(text) &&
        /^sparkroom_relay_partitions_held 4$/m.test(text) &&
        /^sparkroom_events_published_total\{type="idea.created"\} 1$/m.test(text) &&
        /^sparkroom_consumer_lag\{consumer="projector-idea-v1"\} 0$/m.test(text) &&
        /^sparkroom_consumer_ack_floor_gap\{consumer="projector-idea-v1"\} 0$/m.test(text)
      );
    });
    const before = Date.now();
    expect(await program.end('SIGTERM'), program.lines.join('\n')).toBe(0);
    expect(Date.now() - before).toBeLessThan(10_000);
  });

  it('stores a text once when the worker is killed between Cloudant’s write and the confirmation', async () => {
    const { proxy, env } = await proxied();
    proxy.mode = 'swallow-writes';
    const first = await worker(env);
    const [id = ''] = await writeAndDie('Confirmed by another');
    await until(() => proxy.swallowed > 0);
    await first.program.end('SIGKILL');
    // Exactly in between: Cloudant has it, MySQL does not know.
    expect((await bench.cloudant.bodies.get(id))?.appliedVersion).toBe(1);
    expect(await storedVersion(id)).toBe(0);
    const { body } = await bench.core.ideas.get(bench.actor, { id });
    expect(body).toEqual({ text: 'Confirmed by another: 正文' });

    await worker();
    await until(async () => (await storedVersion(id)) === 1, 60_000);
    const doc = await bench.cloudant.database('bodies').get(id);
    expect(doc?._rev).toMatch(/^1-/);
    expect(await count('idea_pending')).toBe(0);
    await expectStreamEqualsOutbox();
    const stored = (await streamOf(bench)).filter(
      (event) => event.aggregateId === id && event.type === 'idea.bodyStored',
    );
    expect(stored).toHaveLength(1);
  }, 90_000);

  it('keeps texts waiting, not dead, while Cloudant is away, and serves them meanwhile', async () => {
    const { proxy, env } = await proxied();
    proxy.mode = 'refuse';
    const { url } = await worker(env);
    const [id = ''] = await writeAndDie('Waits for Cloudant');
    await until(async () => {
      const ready = await fetch(`${url}/readyz`);
      return (
        ready.status === 503 && ((await ready.json()) as { failing: string[] }).failing.includes('cloudant')
      );
    });
    const { body } = await bench.core.ideas.get(bench.actor, { id });
    expect(body).toEqual({ text: 'Waits for Cloudant: 正文' });
    // The event itself is out: only the text waits.
    await until(async () => (await streamOf(bench)).some((event) => event.aggregateId === id));
    proxy.mode = 'pass';
    await until(async () => (await storedVersion(id)) === 1, 60_000);
    expect(await count('dead_letter')).toBe(0);
  }, 90_000);

  it('carries every version of an idea, and lets none come back after it was removed', async () => {
    const { core, actor, workspaceId } = bench;
    const made = await core.ideas.create(actor, {
      workspaceId,
      title: 'Versions',
      body: { text: 'one' },
      tags: [],
      status: 'open',
    });
    const second = await core.ideas.update(actor, {
      id: made.id,
      version: made.version,
      body: { text: 'two' },
    });
    const gone = await core.ideas.create(actor, {
      workspaceId,
      title: 'Removed',
      body: { text: 'gone' },
      tags: [],
      status: 'open',
    });
    await core.ideas.remove(actor, { id: gone.id, version: gone.version });
    await worker();
    await until(async () => (await storedVersion(made.id)) === second.version);
    await until(async () => (await count('idea_pending')) === 0);
    expect((await bench.cloudant.bodies.get(made.id))?.body).toEqual({ text: 'two' });
    expect(await bench.cloudant.bodies.revisions(made.id, [1, second.version])).toEqual(
      new Map([
        [1, { text: 'one' }],
        [second.version, { text: 'two' }],
      ]),
    );
    await until(async () => (await bench.cloudant.bodies.versions([gone.id])).get(gone.id)?.removed === true);
    expect(await bench.cloudant.bodies.get(gone.id)).toBeNull();
  });

  it('announces an account whose registration was left unannounced', async () => {
    const id = `u-${Date.now()}`;
    await sql`insert into user (id, name, email, created_at)
      values (${id}, 'Left over', ${`${id}@x.example`}, current_timestamp(6) - interval 1 minute)`.execute(
      bench.mysql.db,
    );
    await worker();
    await until(
      async () =>
        (await streamOf(bench)).some((event) => event.type === 'user.registered' && event.aggregateId === id),
      45_000,
    );
  }, 60_000);

  it('loses and doubles nothing while workers are killed one after the other under load', async () => {
    const titles = ['Load A', 'Load B', 'Load C'];
    const writers = titles.map((title) => writeAndDie(title, 25));
    await worker();
    for (let kills = 0; kills < 3; kills++) {
      const victim = running.find((program) => program.lines.some((line) => line.includes('at work')));
      await worker();
      if (victim) {
        running.splice(running.indexOf(victim), 1);
        await victim.end('SIGKILL');
      }
    }
    const ids = (await Promise.all(writers)).flat();
    expect(ids).toHaveLength(75);
    await until(async () => (await count('idea_pending')) === 0, 60_000);
    await expectStreamEqualsOutbox();
    expect((await bench.cloudant.bodies.getMany(ids)).size).toBe(75);
    expect(await count('dead_letter')).toBe(0);
  }, 120_000);
});
