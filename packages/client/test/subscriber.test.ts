import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once as happens } from 'node:events';
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect as connectTcp, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { connectEvents, type Events, type Log, subscriberUser, sureSubscriber } from '@sparkroom/events';
import { connect, headers, type NatsConnection } from 'nats';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { connectSubscriber, fileStore, memoryStore, once, type Subscriber } from '../src/subscriber.ts';

const quiet: Log = { debug() {}, info() {}, warn() {}, error() {} };
const production = new URL('../../../infra/nats/nats.conf', import.meta.url);

let folder: string;
let port: number;
let server: ChildProcess;
let events: Events;
const closing: (() => Promise<unknown>)[] = [];

const users = [
  { user: 'sparkroom', password: 'ours' },
  subscriberUser('sparkroom', { name: 'acme', password: 'pw-a', workspaceId: 'w.1' }),
  subscriberUser('sparkroom', { name: 'bolt', password: 'pw-b', workspaceId: 'w2' }),
];

/** The configuration for production, on a port of this test. */
function startServer(): ChildProcess {
  return spawn('nats-server', ['-c', join(folder, 'nats.conf'), '-a', '127.0.0.1', '-p', String(port)], {
    env: { ...process.env, SPARKROOM_NATS_DATA: join(folder, 'data') },
    stdio: 'ignore',
  });
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sparkroom-outside-'));
  port = await freePort();
  await copyFile(production, join(folder, 'nats.conf'));
  await writeFile(join(folder, 'users.conf'), `users = ${JSON.stringify(users)}\n`);
  server = startServer();
  await until(() => answers(port));
  events = await connectEvents({ url: url('sparkroom', 'ours'), prefix: 'sparkroom', name: 'test' }, quiet);
  await events.ensureStream();
  await sureSubscriber(events, { name: 'acme', workspaceId: 'w.1' });
  await sureSubscriber(events, { name: 'bolt', workspaceId: 'w2' });
});
afterAll(async () => {
  await events?.close();
  server?.kill('SIGKILL');
  await rm(folder, { recursive: true, force: true });
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const url = (user: string, password: string): string => `nats://${user}:${password}@127.0.0.1:${port}`;

let ids = 0;
async function publish(workspace: string, idea: string, type: string, payload: object): Promise<string> {
  const id = `E${String(++ids).padStart(25, '0')}`;
  const h = headers();
  for (const [name, value] of Object.entries({
    'Ev-Type': type,
    'Ev-Schema': '1',
    'Agg-Type': 'idea',
    'Agg-Id': idea,
    'Agg-Version': '1',
    'Workspace-Id': workspace,
  }))
    h.set(name, value);
  const subject = `sparkroom.${workspace.replace('.', '=2E')}.idea.${idea}`;
  await events.jetstream.publish(subject, JSON.stringify(payload), { headers: h, msgID: id });
  return id;
}
const rated = (workspace: string, idea: string, raters: number): Promise<string> =>
  publish(workspace, idea, 'idea.rated', { userId: 'u', raters, first: true });

async function acme(): Promise<Subscriber> {
  const subscriber = await connectSubscriber({
    url: `nats://127.0.0.1:${port}`,
    credentials: { user: 'acme', password: 'pw-a' },
    name: 'test',
  });
  closing.push(() => subscriber.close());
  return subscriber;
}

describe('a subscriber', () => {
  it('gets the types it asked for, of its workspace, and goes on where it was', async () => {
    const heard: string[] = [];
    const first = await acme();
    first.subscribe(['idea.rated'], async ({ aggregate, payload }) => {
      heard.push(`${aggregate.id} ${payload.raters}`);
    });
    await rated('w2', 'elsewhere', 1);
    await publish('w.1', 'a', 'idea.bodyStored', { bodyVersion: 1 });
    await publish('w.1', 'a', 'idea.frobnicated', { newer: 'than this package' });
    await rated('w.1', 'a', 2);
    await until(() => heard.length === 1);
    await first.close();
    await rated('w.1', 'a', 3);
    await rated('w.1', 'b', 4);
    const second = await acme();
    const subscription = second.subscribe(['idea.rated'], async ({ aggregate, payload }) => {
      heard.push(`${aggregate.id} ${payload.raters}`);
    });
    await until(() => heard.length === 3);
    expect(heard.sort()).toEqual(['a 2', 'a 3', 'b 4']);
    await until(async () => (await subscription.figures()).ackFloorGap === 0);
  });

  it('gets an event again whose handler failed, and has one effect of it', async () => {
    const effects: string[] = [];
    let calls = 0;
    const store = memoryStore();
    const subscriber = await acme();
    const handle = once(store)(async (event: { id: string }) => {
      effects.push(event.id);
    });
    subscriber.subscribe(
      ['idea.rated'],
      async (event) => {
        calls++;
        await handle(event);
        if (calls === 1) throw new Error('after the effect, before the acknowledgement');
      },
      { backoff: [20] },
    );
    const id = await rated('w.1', 'c', 5);
    await until(() => calls === 2);
    expect(effects).toEqual([id]);
  });
});

describe('the file of handled events', () => {
  it('is remembered by the next process, also when its last line was cut short, and stays small', async () => {
    const file = join(folder, 'seen');
    let effects = 0;
    const effect = async (): Promise<void> => void effects++;
    const first = await fileStore(file, 3);
    for (const id of ['a', 'b', 'c', 'd', 'e', 'f', 'g']) expect(await first.once(id, effect)).toBe(true);
    expect(await first.once('g', effect)).toBe(false);
    expect((await readFile(file, 'utf8')).split('\n').length).toBeLessThan(7);
    await writeFile(file, 'e\nf\ng\nhal');
    const second = await fileStore(file, 3);
    expect(await second.once('g', effect)).toBe(false);
    expect(await second.once('hal', effect)).toBe(true);
    expect(effects).toBe(8);
    expect(await readFile(file, 'utf8')).toBe('e\nf\ng\nhal\n');
  });

  it('does not remember an event whose effect failed', async () => {
    const store = await fileStore(join(folder, 'failed'));
    await expect(store.once('a', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await store.once('a', async () => {})).toBe(true);
  });
});

describe('npm run subscriber', () => {
  it('adds a subscriber that hears its workspace once the server has read its configuration again', async () => {
    const script = new URL('../../events/scripts/add-subscriber.ts', import.meta.url).pathname;
    const run = promisify(execFile);
    const args = [script, '--name', 'corvid', '--workspace', 'w3', '--users', join(folder, 'users.conf')];
    const env = {
      ...process.env,
      SPARKROOM_NATS_URL: url('sparkroom', 'ours'),
      SPARKROOM_NATS_PREFIX: 'sparkroom',
    };
    const { stdout } = await run(process.execPath, args, { env });
    server.kill('SIGHUP');
    const credentials = JSON.parse(stdout) as { user: string; password: string };
    let subscriber: Subscriber | undefined;
    await until(async () => {
      subscriber = await connectSubscriber({
        url: `nats://127.0.0.1:${port}`,
        credentials,
        name: 'test',
      }).catch(() => undefined);
      return subscriber !== undefined;
    });
    closing.push(async () => subscriber?.close());
    const heard: string[] = [];
    subscriber?.subscribe(['idea.rated'], async (event) => void heard.push(event.id));
    const id = await rated('w3', 'x', 1);
    await until(() => heard.length === 1);
    expect(heard).toEqual([id]);
    await expect(
      run(process.execPath, [script, '--name', 'a.b', '--workspace', 'w'], { env }),
    ).rejects.toThrow();
  });
});

describe('the example', () => {
  it('runs', async () => {
    await rated('w.1', 'before', 6);
    const lines: string[] = [];
    const child = spawn(process.execPath, [new URL('../examples/subscriber.ts', import.meta.url).pathname], {
      env: {
        ...process.env,
        ACME_USER: 'acme',
        ACME_PASSWORD: 'pw-a',
        ACME_URL: `nats://127.0.0.1:${port}`,
        ACME_SEEN: join(folder, 'example-seen'),
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    child.stdout.on('data', (data: Buffer) => lines.push(...data.toString().trim().split('\n')));
    const exited = happens(child, 'exit');
    await until(() => lines.some((line) => line.endsWith('idea.rated before: 6 raters')));
    child.kill('SIGTERM');
    expect((await exited)[0]).toBe(0);
  });
});

describe('the configuration for production', () => {
  /** What the server answers to a connection, or to what it does. */
  async function refusal(action: (connection: NatsConnection) => Promise<unknown>): Promise<string> {
    const connection = await connect({
      servers: `127.0.0.1:${port}`,
      user: 'acme',
      pass: 'pw-a',
      inboxPrefix: '_INBOX_acme',
    });
    try {
      await action(connection);
      return 'allowed';
    } catch (error) {
      return (error as { code?: string }).code ?? String(error);
    } finally {
      await connection.close();
    }
  }
  const refused = 'PERMISSIONS_VIOLATION';

  it('refuses who has no name, or a wrong password', async () => {
    const options = { servers: `127.0.0.1:${port}`, reconnect: false };
    await expect(connect(options)).rejects.toMatchObject({ code: 'AUTHORIZATION_VIOLATION' });
    await expect(connect({ ...options, user: 'sparkroom', pass: 'wrong' })).rejects.toMatchObject({
      code: 'AUTHORIZATION_VIOLATION',
    });
    await expect(
      connectSubscriber({
        url: `nats://127.0.0.1:${port}`,
        credentials: { user: 'acme', password: 'wrong' },
        name: 'test',
      }),
    ).rejects.toThrow('does not accept the credentials of acme');
  });

  it('does not start without its list of users', async () => {
    const bare = await mkdtemp(join(tmpdir(), 'sparkroom-outside-'));
    await copyFile(production, join(bare, 'nats.conf'));
    const child = spawn('nats-server', ['-c', join(bare, 'nats.conf'), '-a', '127.0.0.1', '-p', '-1'], {
      env: { ...process.env, SPARKROOM_NATS_DATA: bare },
      stdio: 'ignore',
    });
    const [code] = await happens(child, 'exit');
    expect(code).not.toBe(0);
    await rm(bare, { recursive: true, force: true });
  });

  it('lets a subscriber do what it is there for', async () => {
    const answer = await refusal((connection) =>
      connection.request('$JS.API.CONSUMER.INFO.SPARKROOM.acme', undefined, { timeout: 2_000 }),
    );
    expect(answer).toBe('allowed');
  });

  it.each([
    ['publish an event', 'sparkroom.w=2E1.idea.a'],
    ['wake the relays', 'sparkroom-wake.outbox'],
    ['make a consumer', '$JS.API.CONSUMER.CREATE.SPARKROOM.acme.sparkroom.>'],
    ['make one by the old way', '$JS.API.CONSUMER.DURABLE.CREATE.SPARKROOM.acme'],
    ['delete its consumer', '$JS.API.CONSUMER.DELETE.SPARKROOM.acme'],
    ['pull from another’s', '$JS.API.CONSUMER.MSG.NEXT.SPARKROOM.bolt'],
    ['acknowledge for another', '$JS.ACK.SPARKROOM.bolt.1.1.1.1.1'],
    ['read a message by its number', '$JS.API.STREAM.MSG.GET.SPARKROOM'],
    ['delete the stream', '$JS.API.STREAM.DELETE.SPARKROOM'],
  ])('does not let it %s', async (_, subject) => {
    const answer = await refusal((connection) => connection.request(subject, '{}', { timeout: 2_000 }));
    expect(answer).toBe(refused);
  });

  it.each([
    ['another workspace', 'sparkroom.w2.>'],
    ['everything', '>'],
    ['the answers of others', '_INBOX.>'],
    ['the answers of another subscriber', '_INBOX_bolt.>'],
  ])('does not let it listen to %s', async (_, subject) => {
    const answer = await refusal(
      (connection) =>
        new Promise((resolve, reject) => {
          connection.subscribe(subject, { callback: (error) => (error ? reject(error) : undefined) });
          connection.flush().then(() => setTimeout(resolve, 500), reject);
        }),
    );
    expect(answer).toBe(refused);
  });
});

async function freePort(): Promise<number> {
  const free = createServer().listen(0, '127.0.0.1');
  await happens(free, 'listening');
  const { port: found } = free.address() as { port: number };
  free.close();
  return found;
}

const answers = (to: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connectTcp({ port: to, host: '127.0.0.1' });
    const done = (ok: boolean): void => {
      socket.destroy();
      resolve(ok);
    };
    socket.once('data', () => done(true));
    socket.once('error', () => done(false));
  });

async function until(condition: () => boolean | Promise<boolean>, ms = 10_000): Promise<void> {
  const end = Date.now() + ms;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`did not come true: ${condition}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
