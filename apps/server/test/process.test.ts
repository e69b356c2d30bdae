import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { freePort, type Host, openHost, type Somebody, until } from './host.ts';

/** A second host on the same stores, to make people and look into the database with. */
let host: Host;
let ana: Somebody;
let workspaceId: string;
const children: ChildProcess[] = [];

beforeAll(async () => {
  host = await openHost('process');
  ana = await host.somebody('Ana');
  workspaceId = await host.workspace(ana);
});
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});
afterAll(() => host?.close());

/** The server as a process of its own. */
async function start(more: NodeJS.ProcessEnv = {}) {
  const port = await freePort();
  const env = { ...host.env, SPARKROOM_PORT: String(port), SPARKROOM_LOG_LEVEL: 'info', ...more };
  const child = spawn(process.execPath, [fileURLToPath(new URL('../src/main.ts', import.meta.url))], { env });
  children.push(child);
  const lines: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => lines.push(line));
  }
  const exited = once(child, 'exit').then(([code, signal]) => code ?? signal);
  return { url: `http://127.0.0.1:${port}`, child, lines, exited };
}

const answers = (url: string) => () =>
  fetch(`${url}/readyz`)
    .then((r) => r.status === 200)
    .catch(() => false);

test('on SIGTERM feeds end, what is open is finished, and the process goes with 0', async () => {
  const server = await start();
  await until(answers(server.url));
  const input = encodeURIComponent(JSON.stringify({ workspaceId }));
  const feed = await fetch(`${server.url}/trpc/activity.live?input=${input}`, { headers: ana.bearer });
  const reader = (feed.body as ReadableStream<Uint8Array>).getReader();
  let heard = '';
  let feedEnded = false;
  const reading = (async () => {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      heard += new TextDecoder().decode(value);
    }
    feedEnded = true;
  })();
  await until(() => heard.includes('"ready"'));

  // A rating that has to wait for a lock is still open when the signal comes.
  const idea = await host.mutate(
    'ideas.create',
    { workspaceId, title: 't', body: { text: 'x' } },
    ana.bearer,
  );
  expect(idea.status, idea.text).toBe(200);
  const ideaId = idea.json.result.data.id;
  let release = (): void => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const { mysql } = host.stores;
  let locked = false;
  const holder = mysql.transaction(async (trx) => {
    await trx.selectFrom('idea').select('id').where('id', '=', ideaId).forUpdate().execute();
    locked = true;
    await held;
  });
  await until(() => locked);
  const rating = fetch(`${server.url}/trpc/ratings.set`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...ana.bearer },
    body: JSON.stringify({ ideaId, stars: 4 }),
  });
  // It has arrived when its session has been looked up; the log tells only of its end, so look at who waits.
  await until(async () => {
    const metrics = await (await fetch(`${server.url}/metrics`)).text();
    return /^sparkroom_pool_busy\{pool="mysql"\} 1$/m.test(metrics);
  });
  server.child.kill('SIGTERM');
  await until(() => feedEnded);
  await reading;
  expect(server.child.exitCode).toBeNull();
  // Nobody new is let in.
  await until(() =>
    fetch(`${server.url}/healthz`, { headers: { connection: 'close' } })
      .then(() => false)
      .catch(() => true),
  );
  release();
  await holder;
  const answer = await rating;
  expect([
    answer.status,
    ((await answer.json()) as { result: { data: { myRating: number } } }).result.data.myRating,
  ]).toEqual([200, 4]);
  expect(await server.exited).toBe(0);
  const said = server.lines.map((line) => JSON.parse(line).msg);
  expect(said).toContain('draining');
  expect(said.at(-1)).toBe('stopped');
});

test('a second signal, or SIGINT, does the same once', async () => {
  const server = await start();
  await until(answers(server.url));
  server.child.kill('SIGINT');
  server.child.kill('SIGTERM');
  expect(await server.exited).toBe(0);
  expect(server.lines.filter((line) => line.includes('draining'))).toHaveLength(1);
});

test('without a secret it does not start, in production or elsewhere, and says what to set', async () => {
  for (const NODE_ENV of ['production', 'development']) {
    const server = await start({ SPARKROOM_AUTH_SECRET: '', NODE_ENV });
    expect(await server.exited).not.toBe(0);
    expect(server.lines.join('\n')).toContain('SPARKROOM_AUTH_SECRET must have at least 32 characters.');
  }
});

test('it waits for a store that is not there yet', async () => {
  const url = new URL(host.env.SPARKROOM_MYSQL_URL ?? '');
  const { password } = url;
  url.port = String(await freePort());
  const server = await start({ SPARKROOM_MYSQL_URL: url.href });
  await until(() => server.lines.some((line) => line.includes('waiting for a store')));
  expect(server.lines.join('\n')).not.toContain(password);
  server.child.kill('SIGTERM');
  expect(await server.exited).not.toBeNull();
});
