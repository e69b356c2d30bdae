import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { connectEvents, type Log, readEventsSettings, startRelay } from '@sparkroom/events';
import {
  ensureDatabase,
  migrate,
  openMysql,
  outboxOf,
  PARTITIONS,
  readMysqlSettings,
} from '@sparkroom/mysql';
import { expect } from 'vitest';
import {
  type App,
  createApp,
  createLog,
  openStores,
  readServerSettings,
  type ServerSettings,
  type Stores,
} from '../src/index.ts';

export const quiet: Log = { debug() {}, info() {}, warn() {}, error() {} };

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  /** The body as JSON; null when it is not. */
  // biome-ignore lint/suspicious/noExplicitAny: whatever the server answered, for assertions to look into
  json: any;
}

export interface Somebody {
  id: string;
  email: string;
  password: string;
  /** Header that carries the session. */
  bearer: { authorization: string };
  cookie: string;
}

export interface Host {
  url: string;
  env: NodeJS.ProcessEnv;
  settings: ServerSettings;
  stores: Stores;
  app: App;
  /** Everything that was logged, a JSON line each. */
  lines: string[];
  /** What the log must not hold: passwords, tokens, cookies of this file's people. */
  secrets: string[];
  request(path: string, init?: RequestInit): Promise<Answer>;
  /** A query, `GET /trpc/<path>?input=`. */
  query(path: string, input: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** A mutation, `POST /trpc/<path>`. */
  mutate(path: string, input: unknown, headers?: Record<string, string>): Promise<Answer>;
  auth(path: string, body: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** Signs somebody new up. */
  somebody(name?: string): Promise<Somebody>;
  /** A client and a workspace; answers the workspace's id. */
  workspace(of: Somebody): Promise<string>;
  close(): Promise<void>;
}

/** Names of a test file's own in the stores of `env`. */
export function namesOf(name: string, given: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  const url = new URL(given.SPARKROOM_MYSQL_URL ?? '');
  url.pathname = `/sparkroom_${name}_${process.pid}`;
  const own = `${name}-${process.pid}`;
  return {
    ...given,
    SPARKROOM_MYSQL_URL: url.href,
    SPARKROOM_CLOUDANT_PREFIX: own,
    SPARKROOM_NATS_PREFIX: own,
    SPARKROOM_REDIS_PREFIX: own,
    SPARKROOM_AUTH_SECRET: given.SPARKROOM_AUTH_SECRET || randomBytes(32).toString('base64url'),
  };
}

/** What `npm start` does before it starts the server. */
export async function prepare(env: NodeJS.ProcessEnv): Promise<void> {
  const settings = readMysqlSettings(env);
  await ensureDatabase(settings.url);
  const mysql = await openMysql({ ...settings, connections: 2 });
  await migrate(mysql.db);
  await mysql.close();
  const events = await connectEvents(readEventsSettings(env, 'prepare'), quiet);
  await events.ensureStream();
  await events.close();
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

/** The server of the repository on a free port, over stores of the test file's own. */
export async function openHost(
  name: string,
  options: {
    env?: NodeJS.ProcessEnv;
    settings?: Partial<ServerSettings>;
    webFolder?: string;
    documents?: boolean;
  } = {},
): Promise<Host> {
  const env = namesOf(name, options.env);
  env.SPARKROOM_PORT = String(await freePort());
  await prepare(env);
  const settings = { ...readServerSettings(env), logLevel: 'debug', ...options.settings };
  const lines: string[] = [];
  const log = createLog('server', settings.logLevel, { write: (line) => void lines.push(line) });
  const stores = await openStores(env, log);
  if (options.documents) await stores.cloudant.ensureDatabases();
  const app = await createApp(settings, stores, log, options.webFolder);
  await app.fastify.listen({ port: settings.port, host: '127.0.0.1' });
  const url = `http://127.0.0.1:${settings.port}`;
  const secrets: string[] = [settings.authSecret, ...passwordsOf(env)];
  let people = 0;

  const host: Host = {
    url,
    env,
    settings,
    stores,
    app,
    lines,
    secrets,
    async request(path, init) {
      const response = await fetch(url + path, { signal: AbortSignal.timeout(30_000), ...init });
      const text = await response.text();
      if (response.status >= 400) expectHarmless(text, secrets);
      let json: unknown = null;
      try {
        json = JSON.parse(text);
      } catch {
        // Not JSON.
      }
      return { status: response.status, headers: response.headers, text, json };
    },
    query: (path, input, headers = {}) =>
      host.request(
        `/trpc/${path}${input === undefined ? '' : `?input=${encodeURIComponent(JSON.stringify(input))}`}`,
        { headers },
      ),
    mutate: (path, input, headers = {}) =>
      host.request(`/trpc/${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(input),
      }),
    auth: (path, body, headers = {}) =>
      host.request(`/api/auth/${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      }),
    async somebody(called = 'Ana 安娜') {
      const email = `p${++people}@sparkroom.example`;
      const password = `correct horse ${randomBytes(6).toString('hex')}`;
      const answer = await host.auth('sign-up/email', { name: called, email, password });
      expect(answer.status, answer.text).toBe(200);
      const token = answer.headers.get('set-auth-token') ?? '';
      const cookie = answer.headers
        .getSetCookie()
        .map((c) => c.split(';')[0])
        .join('; ');
      secrets.push(password, token, token.split('.')[0] ?? token, cookie.split('=')[1] ?? cookie);
      return {
        id: answer.json.user.id,
        email,
        password,
        bearer: { authorization: `Bearer ${token}` },
        cookie,
      };
    },
    async workspace(of) {
      const client = await host.mutate('clients.create', { name: 'Nordhaven' }, of.bearer);
      const workspace = await host.mutate(
        'workspaces.create',
        { clientId: client.json.result.data.id, name: 'Spring' },
        of.bearer,
      );
      return workspace.json.result.data.id;
    },
    async close() {
      await app.close();
      await stores.events.manager.streams.delete(stores.events.stream).catch(() => {});
      if (options.documents) await dropDocuments(stores);
      await stores.close();
    },
  };
  return host;
}

async function dropDocuments({ cloudant }: Stores): Promise<void> {
  for (const name of ['bodies', 'legacy'] as const) {
    await cloudant
      .request('write', (server) => server.db.destroy(cloudant.database(name).name), { idempotent: true })
      .catch(() => {});
  }
}

function passwordsOf(env: NodeJS.ProcessEnv): string[] {
  return [env.SPARKROOM_MYSQL_URL, env.SPARKROOM_CLOUDANT_URL]
    .map((url) => new URL(url ?? '').password)
    .filter((password) => password !== '');
}

/** No stack, no SQL, no paths and no secret in what is shown to a caller. */
export function expectHarmless(text: string, secrets: readonly string[]): void {
  expect(text).not.toMatch(/node_modules|\.ts:\d|\.js:\d|"stack"|\bat (?:async )?\w+ \(/);
  expect(text).not.toMatch(
    /\b(?:select|insert into|update|delete from)\b[\s\S]*\b(?:from|values|set|where)\b/i,
  );
  expect(text).not.toMatch(/errno|sqlState|\bER_[A-Z_]+|ECONN\w+|127\.0\.0\.1:\d/);
  for (const secret of secrets) expect(text).not.toContain(secret);
}

/** Carries the outbox into the stream, as the worker does. */
export function relayOf(host: Host): { stop(): Promise<void> } {
  return startRelay({
    outbox: outboxOf(host.stores.mysql),
    events: host.stores.events,
    partitions: PARTITIONS,
    log: quiet,
    idleMs: 100,
  });
}

/** Polls until the condition holds. @throws Error when it does not within `ms` */
export async function until(condition: () => boolean | Promise<boolean>, ms = 20_000): Promise<void> {
  const end = Date.now() + ms;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`did not come true: ${condition}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}
