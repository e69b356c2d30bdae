/**
 * The embedded stand-in for Cloudant: express-pouchdb over leveldb in a process of its own.
 *
 *     node embedded-cloudant.ts --port=15984 --data=<folder>      (password in SPARKROOM_EMBEDDED_PASSWORD)
 *
 * It stands in front of express-pouchdb because that one accepts anonymous writes, has no `/_up`, sends
 * nothing on continuous feeds to clients that accept gzip, and dies of some requests' unhandled rejections.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

// None of these packages has types; what is used of them is stated here.
interface PouchConstructor {
  plugin(plugin: unknown): PouchConstructor;
  defaults(options: { prefix: string }): PouchConstructor;
}
type Handler = (request: IncomingMessage, response: ServerResponse) => void;
const require = createRequire(import.meta.url);
const pouchdb: PouchConstructor = require('pouchdb-core');
const expressPouchdb: (database: PouchConstructor, options: object) => Handler = require('express-pouchdb');

const user = 'sparkroom';
const sessionMs = 10 * 60_000;

const { values } = parseArgs({ options: { port: { type: 'string' }, data: { type: 'string' } } });
const password = process.env.SPARKROOM_EMBEDDED_PASSWORD;
if (values.port === undefined || values.data === undefined || !password) {
  console.error('Usage: SPARKROOM_EMBEDDED_PASSWORD=... embedded-cloudant.ts --port=<port> --data=<folder>');
  process.exit(2);
}

const databases = pouchdb
  .plugin(require('pouchdb-adapter-leveldb'))
  .plugin(require('pouchdb-mapreduce'))
  .plugin(require('pouchdb-find'))
  .plugin(require('pouchdb-replication'))
  .defaults({ prefix: join(values.data, '/') });

const couch = expressPouchdb(databases, {
  // The full mode adds a second, weaker credential check and files in the working folder.
  mode: 'minimumForPouchDB',
  overrideMode: { include: ['routes/find', 'routes/security'] },
});

/** Open cookie sessions: token to the time (ms since 1970) it ends. They do not survive a restart. */
const sessions = new Map<string, number>();

const server = createServer((request, response) => {
  const path = request.url?.split('?', 1)[0] ?? '/';
  if (path === '/_up') return send(response, 200, { status: 'ok' });
  if (path === '/_session') return void session(request, response);
  if (!hasCredentials(request)) {
    return send(response, 401, {
      error: 'unauthorized',
      reason: 'You are not authorized to access this server.',
    });
  }
  // The compression in there holds continuous feeds back for ever.
  delete request.headers['accept-encoding'];
  couch(request, response);
});

/** `POST` signs in, `GET` tells who one is, `DELETE` signs out (docs.couchdb.org: api/server/authn). */
async function session(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method === 'POST') {
    const given = await credentialsIn(request);
    if (!isRight(given.name, given.password)) {
      return send(response, 401, { error: 'unauthorized', reason: 'Name or password is incorrect.' });
    }
    for (const [token, ends] of sessions) if (ends < Date.now()) sessions.delete(token);
    const token = randomBytes(24).toString('base64url');
    sessions.set(token, Date.now() + sessionMs);
    response.setHeader('set-cookie', `AuthSession=${token}; Path=/; Max-Age=${sessionMs / 1000}; HttpOnly`);
    return send(response, 200, { ok: true, name: user, roles: ['_admin'] });
  }
  if (request.method === 'DELETE') {
    sessions.delete(cookieOf(request));
    response.setHeader('set-cookie', 'AuthSession=; Path=/; Max-Age=0; HttpOnly');
    return send(response, 200, { ok: true });
  }
  const known = hasCredentials(request);
  send(response, 200, { ok: true, userCtx: { name: known ? user : null, roles: known ? ['_admin'] : [] } });
}

async function credentialsIn(request: IncomingMessage): Promise<{ name: string; password: string }> {
  let text = '';
  for await (const chunk of request) {
    text += chunk;
    if (text.length > 10_000) break;
  }
  try {
    const fields: unknown = request.headers['content-type']?.includes('json')
      ? JSON.parse(text)
      : Object.fromEntries(new URLSearchParams(text));
    const { name, password } = fields as { name?: unknown; password?: unknown };
    return { name: String(name), password: String(password) };
  } catch {
    return { name: '', password: '' };
  }
}

function hasCredentials(request: IncomingMessage): boolean {
  const [, basic] = /^Basic (.+)$/i.exec(request.headers.authorization ?? '') ?? [];
  if (basic !== undefined) {
    const [name, ...rest] = Buffer.from(basic, 'base64').toString().split(':');
    return isRight(name ?? '', rest.join(':'));
  }
  const token = cookieOf(request);
  if ((sessions.get(token) ?? 0) < Date.now()) return false;
  sessions.set(token, Date.now() + sessionMs);
  return true;
}

function cookieOf(request: IncomingMessage): string {
  return /(?:^|;\s*)AuthSession=([^;]+)/.exec(request.headers.cookie ?? '')?.[1] ?? '';
}

function isRight(name: string, given: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return name === user && timingSafeEqual(digest(given), digest(password ?? ''));
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

// Requests that end in a rejection nobody handles (for example `_changes?filter=_selector`) would otherwise
// take the whole process with them; only the request itself goes without an answer.
process.on('uncaughtException', (error) => {
  console.error('uncaught:', error);
  if ('code' in error && (error.code === 'EADDRINUSE' || error.code === 'ENOSPC')) process.exit(1);
});

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.on(signal, () => {
    server.close(() => process.exit(0));
    server.closeIdleConnections();
    // Long feeds never end by themselves.
    setTimeout(() => server.closeAllConnections(), 1_000).unref();
  });
}

// Longer than the sockets of any client's pool stay idle, so that it is the client who closes.
server.keepAliveTimeout = 65_000;
server.listen(Number(values.port), '127.0.0.1', () => console.log(`listening on 127.0.0.1:${values.port}`));
