import { rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { type Stack, startStack } from '@sparkroom/local';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type Answer, type Host, openHost, relayOf, type Somebody, until } from './host.ts';

/** Stores of this file's own, since it stops them. */
let stack: Stack;
let folder: string;
let host: Host;
let ana: Somebody;
let workspaceId: string;
/** An idea whose text only the document store has. */
let stored: string;

beforeAll(async () => {
  const own = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^SPARKROOM_(MYSQL|CLOUDANT|REDIS|NATS)_URL$/.test(name)),
  );
  // Ports far from those of other stacks, which take the next free one: what is stopped here must find its own again.
  const port = 27_000 + (process.pid % 1000) * 4;
  const parent = fileURLToPath(new URL('../../../.sparkroom/test/', import.meta.url));
  folder = `${parent}run-outage-${process.pid}`;
  stack = await startStack({
    dir: folder,
    ports: { mysql: port, cloudant: port + 1, redis: port + 2, nats: port + 3 },
    durable: false,
    template: `${parent}template`,
    env: own,
  });
  host = await openHost('outage', {
    env: { ...own, ...stack.env, SPARKROOM_MYSQL_STATEMENT_MS: '2000', SPARKROOM_MYSQL_ACQUIRE_MS: '1000' },
    documents: true,
  });
  ana = await host.somebody('Ana');
  workspaceId = await host.workspace(ana);
  stored = await post('stored');
  const { cloudant, mysql } = host.stores;
  await cloudant.bodies.apply({ id: stored, type: 'idea', workspaceId, version: 1, body: { text: 'far' } });
  await mysql.db.updateTable('idea').set({ stored_version: 1 }).where('id', '=', stored).execute();
  await mysql.db.deleteFrom('idea_pending').where('idea_id', '=', stored).execute();
}, 120_000);
afterAll(async () => {
  await host?.close();
  await stack?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Whatever a test left down, so that the next one is not blamed for it. */
afterEach(async () => {
  for (const store of ['mysql', 'cloudant', 'redis', 'nats'] as const) {
    if (stack.pid(store) === undefined) await stack.restart(store);
  }
  await isReady();
});

async function post(title: string): Promise<string> {
  const answer = await host.mutate(
    'ideas.create',
    { workspaceId, title, body: { text: 'near' } },
    ana.bearer,
  );
  expect(answer.status, answer.text).toBe(200);
  return answer.json.result.data.id;
}

const names = {
  mysql: 'The database (MySQL)',
  cloudant: 'The document store (Cloudant)',
} as const;

function expectUnavailable(answer: Answer, store: keyof typeof names): void {
  const data = answer.json?.error?.data;
  expect([answer.status, data?.code, data?.reason], answer.text).toEqual([
    503,
    'SERVICE_UNAVAILABLE',
    'STORE_UNAVAILABLE',
  ]);
  expect(answer.json.error.data.store).toBe(store);
  expect(answer.json.error.message).toBe(
    `${names[store]} does not answer. Nothing was lost; try again in a moment.`,
  );
  expect(answer.headers.get('retry-after')).toBe('1');
}

const ready = async () => {
  const answer = await host.request('/readyz');
  return [answer.status, answer.json.failing] as const;
};
const isReady = () => until(async () => (await ready())[0] === 200, 30_000);

const me = () => host.query('me.get', undefined, ana.bearer);
const read = (id: string) => host.query('ideas.get', { id }, ana.bearer);
const list = (withBody = false) => host.query('ideas.list', { workspaceId, withBody }, ana.bearer);

describe('without MySQL', () => {
  test('calls say so, and work again when it is back', async () => {
    expect((await me()).status).toBe(200);
    await stack.kill('mysql');
    expect((await host.request('/healthz')).status).toBe(200);
    expect(await ready()).toEqual([503, ['mysql']]);
    for (const answer of [await me(), await list()]) expectUnavailable(answer, 'mysql');
    const write = await host.mutate('ratings.set', { ideaId: stored, stars: 3 }, ana.bearer);
    expectUnavailable(write, 'mysql');
    const signIn = await host.auth('sign-in/email', { email: ana.email, password: ana.password });
    expectUnavailable(signIn, 'mysql');
    const signUp = await host.auth('sign-up/email', {
      name: 'New',
      email: 'new@sparkroom.example',
      password: 'long enough 123',
    });
    expectUnavailable(signUp, 'mysql');
    const session = await host.request('/api/auth/get-session', { headers: { cookie: ana.cookie } });
    expectUnavailable(session, 'mysql');

    await stack.restart('mysql');
    await isReady();
    expect((await me()).json.result.data.id).toBe(ana.id);
    expect((await read(stored)).json.result.data.body).toEqual({ text: 'far' });
    expect((await host.auth('sign-in/email', { email: ana.email, password: ana.password })).status).toBe(200);
  }, 60_000);

  test('one that hangs is given up on in time', async () => {
    await stack.kill('mysql', 'SIGSTOP');
    try {
      // On a busy machine a thread may answer one more question before the signal reaches it.
      await until(async () => (await me()).status === 503);
      const started = Date.now();
      const answers = await Promise.all([me(), me(), list(), ready()]);
      expect(Date.now() - started).toBeLessThan(8000);
      for (const answer of answers.slice(0, 3)) expectUnavailable(answer as Answer, 'mysql');
      expect(answers[3]).toEqual([503, expect.arrayContaining(['mysql'])]);
      // Connections have been given up on now; the answer stays the same.
      expectUnavailable(await me(), 'mysql');
    } finally {
      await stack.kill('mysql', 'SIGCONT');
    }
    await isReady();
    expect((await me()).status).toBe(200);
    expect(host.stores.mysql.gate.stats().busy).toBe(0);
  }, 60_000);
});

test('without the document store, texts are missed, and nothing else', async () => {
  await stack.kill('cloudant');
  expect(await ready()).toEqual([503, ['cloudant']]);
  // The cache may have the text already; an idea that nobody has read is asked for.
  const { mysql } = host.stores;
  const unread = await post('unread');
  await mysql.db.updateTable('idea').set({ stored_version: 1 }).where('id', '=', unread).execute();
  expectUnavailable(await read(unread), 'cloudant');
  expectUnavailable(await list(true), 'cloudant');
  const renamed = await host.mutate('ideas.update', { id: unread, version: 1, title: 'renamed' }, ana.bearer);
  expect(renamed.json.error).toMatchObject({
    message:
      'The document store (Cloudant) does not answer. Your change was stored, only the answer is missing: do not repeat it.',
    data: { httpStatus: 503, reason: 'STORE_UNAVAILABLE', store: 'cloudant', outcome: 'stored' },
  });
  expect(renamed.headers.get('retry-after')).toBe(null);
  expect((await list()).status).toBe(200);
  const fresh = await post('written meanwhile');
  expect((await read(fresh)).json.result.data.body).toEqual({ text: 'near' });
  expect((await host.mutate('ratings.set', { ideaId: stored, stars: 4 }, ana.bearer)).status).toBe(200);

  await stack.restart('cloudant');
  await isReady();
  expect((await read(stored)).json.result.data.body).toEqual({ text: 'far' });
  expect((await read(fresh)).json.result.data.body).toEqual({ text: 'near' });
  // A row that promises too much (the text still waits) is no reason to show nothing.
  expect((await read(unread)).json.result.data).toMatchObject({ title: 'renamed', body: { text: 'near' } });
}, 60_000);

test('without Redis everything works, and limits are counted here', async () => {
  await stack.kill('redis');
  expect(await ready()).toEqual([503, ['redis']]);
  expect((await read(stored)).json.result.data.body).toEqual({ text: 'far' });
  expect((await list(true)).status).toBe(200);
  const fresh = await post('without redis');
  expect((await read(fresh)).json.result.data.body).toEqual({ text: 'near' });
  expect((await host.auth('sign-in/email', { email: ana.email, password: ana.password })).status).toBe(200);
  const bo = await host.somebody('Bo');
  for (let i = 0; i < 10; i++) {
    await host.auth('sign-in/email', { email: bo.email, password: `wrong ${i} password` });
  }
  const refused = await host.auth('sign-in/email', { email: bo.email, password: bo.password });
  expect([refused.status, refused.json.error.data.reason]).toEqual([429, 'RATE_LIMITED']);
  await stack.restart('redis');
  await isReady();
  expect((await read(stored)).status).toBe(200);
}, 60_000);

test('without NATS everything works, and events follow when it is back', async () => {
  await stack.kill('nats');
  await until(async () => (await ready())[0] === 503);
  expect(await ready()).toEqual([503, ['nats']]);
  const id = await post('without nats');
  expect((await host.mutate('ratings.set', { ideaId: id, stars: 5 }, ana.bearer)).status).toBe(200);
  expect((await read(id)).status).toBe(200);
  await stack.restart('nats');
  await isReady();
  const relay = relayOf(host);
  const waiting = async () =>
    await host.stores.mysql.db
      .selectFrom('outbox')
      .select('id')
      .where('aggregate_id', '=', id)
      .where('published_at', 'is', null)
      .execute();
  await until(async () => (await waiting()).length === 0);
  await relay.stop();
}, 60_000);

test('the log names stores and holds no secret', () => {
  const log = host.lines.join('');
  const silent = ['mysql', 'cloudant', 'redis', 'nats'].filter((s) => !log.includes(`"store":"${s}"`));
  expect(silent).toEqual([]);
  expect(host.secrets.filter((secret) => log.includes(secret))).toEqual([]);
});
