import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Answer, type Host, openHost, type Somebody } from './host.ts';

let host: Host;
let ana: Somebody;
let workspaceId: string;
let webFolder: string;

beforeAll(async () => {
  webFolder = `${await mkdtemp(join(tmpdir(), 'sparkroom-web-'))}/`;
  await writeFile(`${webFolder}index.html`, '<!doctype html><style nonce="__CSP_NONCE__"></style><p>app</p>');
  await writeFile(`${webFolder}favicon.svg`, '<svg xmlns="http://www.w3.org/2000/svg"/>');
  host = await openHost('http', { webFolder, documents: true });
  ana = await host.somebody('Ana');
  workspaceId = await host.workspace(ana);
});
afterAll(async () => {
  await host?.close();
  await rm(webFolder, { recursive: true, force: true });
});

/** Status, code, reason and message of an error. */
function errorOf(answer: Answer) {
  const { data, message } = answer.json.error;
  expect(data.httpStatus).toBe(answer.status);
  expect(data.requestId).toBe(answer.headers.get('x-request-id'));
  return [answer.status, data.code, data.reason, message];
}

const post = (path: string, body: string | Buffer<ArrayBuffer>, headers: Record<string, string> = {}) =>
  host.request(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...ana.bearer, ...headers },
    body,
  });

describe('bad input', () => {
  test('a body of two megabytes', async () => {
    const text = 'x'.repeat(2 * 1024 * 1024);
    const answer = await host.mutate('ideas.create', { workspaceId, title: 't', body: { text } }, ana.bearer);
    expect(errorOf(answer)).toEqual([
      413,
      'PAYLOAD_TOO_LARGE',
      'BODY_TOO_LARGE',
      'The request is too large: at most 1048576 bytes are taken. Nothing was changed.',
    ]);
  });

  test('a text longer than an idea may be', async () => {
    const body = { text: '想'.repeat(20_001) };
    const answer = await host.mutate('ideas.create', { workspaceId, title: 't', body }, ana.bearer);
    expect(errorOf(answer)).toEqual([
      400,
      'BAD_REQUEST',
      'INVALID_INPUT',
      'body.text: Write at most 20000 characters.',
    ]);
    expect(answer.json.error.data.fields).toEqual({ 'body.text': 'Write at most 20000 characters.' });
  });

  test('invalid UTF-8', async () => {
    const answer = await post('/trpc/clients.create', Buffer.from('{"name":"\xff\xfe"}', 'latin1'));
    expect(errorOf(answer)).toEqual([
      400,
      'BAD_REQUEST',
      'INVALID_UTF8',
      'The request is not valid UTF-8. Send text encoded as UTF-8.',
    ]);
    const signIn = await post('/api/auth/sign-in/email', Buffer.from('{"email":"\xff"}', 'latin1'));
    expect(errorOf(signIn).slice(0, 3)).toEqual([400, 'BAD_REQUEST', 'INVALID_UTF8']);
  });

  test('half of a character', async () => {
    const answer = await post('/trpc/clients.create', '{"name":"\\ud83d"}');
    expect(errorOf(answer)).toEqual([
      400,
      'BAD_REQUEST',
      'INVALID_INPUT',
      'name: The text contains half of a character (a lone surrogate). Retype it.',
    ]);
  });

  test('broken JSON, in a body and in an address', async () => {
    for (const answer of [
      await post('/trpc/clients.create', '{"name":'),
      await host.request('/trpc/clients.list?input=%7B', { headers: ana.bearer }),
    ]) {
      expect(errorOf(answer)).toEqual([400, 'BAD_REQUEST', 'INVALID_JSON', 'The request is not valid JSON.']);
    }
  });

  test('a percent sign that encodes nothing', async () => {
    for (const path of ['/trpc/%', '/trpc/clients.list?input=%', '/%ff', '/api/auth/%zz']) {
      const answer = await host.request(path, { headers: ana.bearer });
      expect([path, answer.status >= 400 && answer.status < 500]).toEqual([path, true]);
      expect(answer.json.error.data.reason).toMatch(/^(INVALID_INPUT|INVALID_JSON|NOT_FOUND)$/);
    }
  });

  test('a procedure that does not exist', async () => {
    for (const name of ['nothing.here', 'toString', '__proto__', 'constructor', 'me']) {
      const answer = await host.query(name, undefined, ana.bearer);
      expect(errorOf(answer)).toEqual([404, 'NOT_FOUND', 'NOT_FOUND', 'There is no such procedure.']);
    }
  });

  test('GET on a mutation, POST on a query', async () => {
    const wrong = [
      405,
      'METHOD_NOT_SUPPORTED',
      'INVALID_INPUT',
      'Queries are asked with GET, mutations with POST.',
    ];
    expect(errorOf(await host.query('clients.create', { name: 'x' }, ana.bearer))).toEqual(wrong);
    expect(errorOf(await host.mutate('clients.list', {}, ana.bearer))).toEqual(wrong);
  });

  test('a body that is not JSON', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data']) {
      for (const path of ['/trpc/clients.create', '/api/auth/sign-in/email']) {
        const answer = await post(path, 'name=x', { 'content-type': type });
        expect(errorOf(answer)).toEqual([
          415,
          'UNSUPPORTED_MEDIA_TYPE',
          'INVALID_INPUT',
          'Send JSON (content-type: application/json).',
        ]);
      }
    }
  });

  test('a batch over the limit', async () => {
    const batch = (n: number) =>
      host.request(`/trpc/${Array(n).fill('me.get').join(',')}?batch=1&input=%7B%7D`, {
        headers: ana.bearer,
      });
    const allowed = await batch(20);
    expect(allowed.status).toBe(200);
    expect(allowed.json).toHaveLength(20);
    const refused = await batch(21);
    expect(errorOf(refused)).toEqual([
      400,
      'BAD_REQUEST',
      'BATCH_TOO_LARGE',
      'Too many calls in one request. Split the batch.',
    ]);
  });

  test('a batch that cannot be read is not called too large', async () => {
    const two = '/trpc/me.setLocale,me.setLocale?batch=1';
    const live = '/trpc/activity.live,activity.live?batch=1&input=%7B%7D';
    const mixed = '/trpc/me.get,me.setLocale?batch=1&input=%7B%7D';
    for (const answer of [
      await post(two, '[]'),
      await post(two, 'null'),
      await host.request('/trpc/clients.list,clients.list?batch=1&input=null', { headers: ana.bearer }),
      await host.request(live, { headers: ana.bearer }),
      await host.request(mixed, { headers: ana.bearer }),
    ]) {
      const errors = [answer.json].flat().map(({ error }) => error);
      expect(errors.length).toBeGreaterThan(0);
      for (const { message, data } of errors) {
        expect([message, data.reason, data.httpStatus]).toEqual([
          'The request cannot be read.',
          'INVALID_INPUT',
          400,
        ]);
        expect(data.requestId).toBe(answer.headers.get('x-request-id'));
      }
    }
  });

  test('a batch answers each call by itself', async () => {
    const input = encodeURIComponent(JSON.stringify({ 1: { id: 'nothing' } }));
    const answer = await host.request(`/trpc/me.get,workspaces.get?batch=1&input=${input}`, {
      headers: ana.bearer,
    });
    expect(answer.status).toBe(207);
    expect(answer.json[0].result.data.id).toBe(ana.id);
    expect(answer.json[1].error.data).toMatchObject({ httpStatus: 404, reason: 'NOT_FOUND' });
  });

  test.each([0, 6, 3.5, '5', null, -1, 1e9])('rating %s', async (stars) => {
    const answer = await host.mutate('ratings.set', { ideaId: 'x', stars }, ana.bearer);
    expect(errorOf(answer)).toEqual([
      400,
      'BAD_REQUEST',
      'INVALID_INPUT',
      'stars: Rate with a whole number from 1 to 5.',
    ]);
  });

  test('ids that cannot be', async () => {
    for (const id of ['', 'a b', "' or 1=1 --", '../x', '想', 'x'.repeat(65), 5, null, { $ne: 1 }]) {
      const answer = await host.query('workspaces.get', { id }, ana.bearer);
      expect(errorOf(answer).slice(0, 3)).toEqual([400, 'BAD_REQUEST', 'INVALID_INPUT']);
      expect(answer.json.error.data.fields.id).toBeTruthy();
    }
  });

  test('a cursor that somebody made up', async () => {
    const made = (values: unknown[]) => Buffer.from(JSON.stringify(values)).toString('base64url');
    const list = (cursor: string, sort = 'newest') =>
      host.query('ideas.list', { workspaceId, cursor, sort }, ana.bearer);
    for (const cursor of [
      'nonsense',
      made(['clients.list', 'a', 'b']),
      made(['ideas.list.oldest', '2026-01-01 00:00:00.000000', 'x']),
      made(['ideas.list.newest', 'not a time', 'x']),
      made(['ideas.list.newest', '2026-01-01 00:00:00.000000', '想']),
      made(['ideas.list.newest', 5, 'x']),
    ]) {
      expect(errorOf(await list(cursor))).toEqual([
        400,
        'BAD_REQUEST',
        'INVALID_CURSOR',
        'This cursor belongs to another list. Start from the first page.',
      ]);
    }
    expect((await list(made(['ideas.list.title', "'; drop table idea; --", 'x']), 'title')).status).toBe(200);
  });
});

describe('errors of use cases', () => {
  test('carry status, code, reason, message and details', async () => {
    const idea = await host.mutate(
      'ideas.create',
      { workspaceId, title: '标题 🚀', body: { text: '正文 🧪' } },
      ana.bearer,
    );
    const { id } = idea.json.result.data;
    const edit = () => host.mutate('ideas.update', { id, version: 1, title: 'New' }, ana.bearer);
    expect((await edit()).status).toBe(200);
    const stale = await edit();
    expect(errorOf(stale)).toEqual([
      409,
      'CONFLICT',
      'VERSION_CONFLICT',
      'Somebody changed this in the meantime (version 2 is stored now). Nothing was overwritten: read it again and repeat your change.',
    ]);
    expect(stale.json.error.data.currentVersion).toBe(2);
    const declined = await host.mutate('ideas.setStatus', { id, version: 2, status: 'declined' }, ana.bearer);
    expect(errorOf(declined)).toEqual([
      400,
      'BAD_REQUEST',
      'INVALID_INPUT',
      'Say in one sentence why the idea is declined.',
    ]);
    await host.mutate('ideas.setStatus', { id, version: 2, status: 'archived' }, ana.bearer);
    const unreachable = await host.mutate(
      'ideas.setStatus',
      { id, version: 3, status: 'accepted' },
      ana.bearer,
    );
    expect(errorOf(unreachable)).toEqual([
      409,
      'CONFLICT',
      'STATUS_NOT_REACHABLE',
      'An idea that is archived cannot become accepted now. Possible: open.',
    ]);
    expect(unreachable.json.error.data.reachable).toEqual(['open']);
    const rated = await host.mutate('ratings.set', { ideaId: id, stars: 3 }, ana.bearer);
    expect(errorOf(rated).slice(0, 3)).toEqual([409, 'CONFLICT', 'NOT_RATEABLE']);
  });

  test('ids that differ only in case are other ids', async () => {
    const made = await host.mutate(
      'ideas.create',
      { workspaceId, title: 't', body: { text: 'b' } },
      ana.bearer,
    );
    const { id } = made.json.result.data;
    for (const [path, input, what] of [
      ['ideas.get', { id: id.toLowerCase() }, 'idea'],
      ['workspaces.get', { id: workspaceId.toLowerCase() }, 'workspace'],
    ] as const) {
      expect(errorOf(await host.query(path, input, ana.bearer))).toEqual([
        404,
        'NOT_FOUND',
        'NOT_FOUND',
        what === 'idea'
          ? 'This idea does not exist, or you are not a member of its workspace.'
          : 'This workspace does not exist, or you are not a member of it.',
      ]);
    }
  });

  test('a foreign client is a missing one', async () => {
    const client = (await host.mutate('clients.create', { name: 'Hers' }, ana.bearer)).json.result.data;
    const bo = await host.somebody('Bo');
    for (const id of [client.id, 'missing', client.id.toLowerCase()]) {
      expect(errorOf(await host.query('clients.get', { id }, bo.bearer))).toEqual([
        404,
        'NOT_FOUND',
        'NOT_FOUND',
        'This client does not exist, or you share no workspace of it.',
      ]);
    }
  });

  test('emoji and Chinese come back from every field', async () => {
    const words = '创意 🚀 Ünïcödé 𝒳';
    const client = (await host.mutate('clients.create', { name: words }, ana.bearer)).json.result.data;
    const room = await host.mutate(
      'workspaces.create',
      { clientId: client.id, name: words, description: `${words}\n${words}` },
      ana.bearer,
    );
    expect(room.json.result.data).toMatchObject({ name: words, description: `${words}\n${words}` });
    const inRoom = { workspaceId: room.json.result.data.id };
    const idea = await host.mutate(
      'ideas.create',
      { ...inRoom, title: words, body: { text: words }, tags: [words] },
      ana.bearer,
    );
    const { id } = idea.json.result.data;
    await host.mutate('ideas.setStatus', { id, version: 1, status: 'declined', reason: words }, ana.bearer);
    expect((await host.query('ideas.get', { id }, ana.bearer)).json.result.data).toMatchObject({
      title: words,
      excerpt: words,
      body: { text: words },
      tags: [words],
      statusReason: words,
    });
    const guidance = await host.mutate(
      'guidance.create',
      { ...inRoom, title: words, body: { text: words } },
      ana.bearer,
    );
    expect(guidance.json.result.data).toMatchObject({ title: words, body: { text: words } });
  });

  test('a second invitation for an address', async () => {
    const invite = () =>
      host.mutate('invitations.create', { workspaceId, email: 'twice@example.com' }, ana.bearer);
    expect((await invite()).status).toBe(200);
    expect(errorOf(await invite())).toEqual([
      409,
      'CONFLICT',
      'INVITATION_EXISTS',
      'This address has an open invitation already. Withdraw it to send a new one.',
    ]);
  });

  test('role and membership', async () => {
    const bo = await host.somebody('Bo');
    const foreign = await host.query('workspaces.get', { id: workspaceId }, bo.bearer);
    expect(errorOf(foreign)).toEqual([
      404,
      'NOT_FOUND',
      'NOT_FOUND',
      'This workspace does not exist, or you are not a member of it.',
    ]);
    const missing = await host.query('workspaces.get', { id: 'missing' }, bo.bearer);
    const bare = (a: Answer) => a.text.replaceAll(a.headers.get('x-request-id') ?? '', '');
    expect(bare(missing)).toBe(bare(foreign));
    await host.mutate('members.add', { workspaceId, email: bo.email, role: 'viewer' }, ana.bearer);
    const refused = await host.mutate(
      'ideas.create',
      { workspaceId, title: 't', body: { text: 'x' } },
      bo.bearer,
    );
    expect(errorOf(refused)).toEqual([
      403,
      'FORBIDDEN',
      'ROLE_REQUIRED',
      'Only owners, editors and members of this workspace can do this. Ask one of them.',
    ]);
  });

  test('an unforeseen one says nothing of itself, and the log has it', async () => {
    const { db } = host.stores.mysql;
    const { core } = host.stores;
    const original = core.me.get;
    core.me.get = async () => {
      await db
        .selectFrom('no_such_table' as 'user')
        .selectAll()
        .execute();
      throw new Error('unreachable');
    };
    const answer = await host.query('me.get', undefined, ana.bearer);
    core.me.get = original;
    expect(errorOf(answer)).toEqual([
      500,
      'INTERNAL_SERVER_ERROR',
      'INTERNAL',
      'Something went wrong on our side. Nothing was changed by this request that is not shown.',
    ]);
    const line = host.lines.find((l) => l.includes('no_such_table'));
    expect(line).toContain(answer.headers.get('x-request-id'));
  });
});

describe('every answer', () => {
  test('says where its time went', async () => {
    const answer = await host.query('workspaces.list', {}, ana.bearer);
    const timing = Object.fromEntries(
      (answer.headers.get('server-timing') ?? '').split(', ').map((part) => {
        const [name, dur] = part.split(';dur=');
        return [name, Number(dur)];
      }),
    );
    expect(Object.keys(timing)).toEqual(['sql', 'cloudant;queue', 'cloudant;service', 'redis', 'cpu']);
    expect(timing.sql).toBeGreaterThan(0);
    expect(timing.cpu).toBeGreaterThan(0);
    for (const path of ['/healthz', '/nothing', '/trpc/nothing', '/']) {
      expect((await host.request(path)).headers.get('server-timing')).toMatch(/^sql;dur=\d/);
    }
  });

  test('counts the document store and the cache too', async () => {
    const { json } = await host.mutate(
      'ideas.create',
      { workspaceId, title: 't', body: { text: 'x' } },
      ana.bearer,
    );
    const { id } = json.result.data;
    await host.stores.cloudant.bodies.apply({
      id,
      type: 'idea',
      workspaceId,
      version: 1,
      body: { text: 'x' },
    });
    await host.stores.mysql.db.updateTable('idea').set({ stored_version: 1 }).where('id', '=', id).execute();
    await host.stores.mysql.db.deleteFrom('idea_pending').where('idea_id', '=', id).execute();
    const answer = await host.query('ideas.get', { id }, ana.bearer);
    expect(answer.json.result.data.body).toEqual({ text: 'x' });
    const timing = answer.headers.get('server-timing') ?? '';
    expect(timing).toMatch(/cloudant;service;dur=(?!0\.00)/);
    expect(timing).toMatch(/redis;dur=(?!0\.00)/);
  });

  test('has the headers that keep it out of trouble', async () => {
    for (const path of ['/healthz', '/trpc/me.get', '/nothing']) {
      const { headers } = await host.request(path);
      expect(headers.get('content-security-policy')).toBe("default-src 'none';frame-ancestors 'none'");
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('x-frame-options')).toBe('SAMEORIGIN');
      expect(headers.get('referrer-policy')).toBe('same-origin');
      expect(headers.get('permissions-policy')).toContain('camera=()');
      expect(headers.get('cross-origin-opener-policy')).toBe('same-origin');
      expect(headers.get('cross-origin-resource-policy')).toBe('same-origin');
      expect(headers.get('x-powered-by')).toBeNull();
    }
  });

  test('carries a request id, the caller’s own when it is harmless', async () => {
    const own = await host.request('/healthz', { headers: { 'x-request-id': 'trace-12345678' } });
    expect(own.headers.get('x-request-id')).toBe('trace-12345678');
    for (const bad of ['short', 'x'.repeat(65), 'with blank in it', '{"a":1}????']) {
      const answer = await host.request('/healthz', { headers: { 'x-request-id': bad } });
      expect(answer.headers.get('x-request-id')).toMatch(/^[0-9A-Z]{26}$/);
    }
  });

  test('the request id reaches event, audit and log', async () => {
    const requestId = 'trace-me-0001';
    await host.mutate('clients.create', { name: 'Traced' }, { ...ana.bearer, 'x-request-id': requestId });
    const { db } = host.stores.mysql;
    const events = await db
      .selectFrom('outbox')
      .select(['type', 'actor_id'])
      .where('request_id', '=', requestId)
      .execute();
    expect(events).toEqual([{ type: 'client.created', actor_id: ana.id }]);
    const audit = await db.selectFrom('audit').select('action').where('request_id', '=', requestId).execute();
    expect(audit).toEqual([{ action: 'client.created' }]);
    expect(host.lines.filter((l) => l.includes(requestId))).not.toEqual([]);
  });
});

describe('pages', () => {
  test('have a policy without holes and a nonce used once', async () => {
    const nonces = new Set<string>();
    for (const path of ['/', '/index.html', '/w/some/page']) {
      const page = await host.request(path, { headers: { accept: 'text/html' } });
      expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
      const policy = page.headers.get('content-security-policy') ?? '';
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toMatch(/unsafe|\*|https?:/);
      const nonce = /'nonce-([\w-]+)'/.exec(policy)?.[1] ?? '';
      expect(nonce.length).toBeGreaterThanOrEqual(22);
      expect(page.text).toContain(`nonce="${nonce}"`);
      expect(page.headers.get('cache-control')).toBe('no-cache');
      nonces.add(nonce);
    }
    expect(nonces.size).toBe(3);
  });

  test('files are served, what is missing is missing, and nothing outside is', async () => {
    expect((await host.request('/favicon.svg')).headers.get('content-type')).toContain('image/svg+xml');
    for (const path of ['/assets/gone.js', '/trpc', '/api/nothing']) {
      const answer = await host.request(path, { headers: { accept: 'text/html' } });
      expect([path, answer.status >= 400 && answer.status < 500]).toEqual([path, true]);
    }
    // Whatever is not a file is a page of the app, which says itself that it does not know it.
    for (const path of ['/..%2f..%2f..%2fetc/passwd', '/%2e%2e/host.ts']) {
      const answer = await host.request(path, { headers: { accept: 'text/html' } });
      expect([path, answer.status, answer.text.includes('<p>app</p>')]).toEqual([path, 200, true]);
    }
    expect(errorOf(await host.request('/assets/gone.js'))).toEqual([
      404,
      'NOT_FOUND',
      'NOT_FOUND',
      'There is nothing at this address.',
    ]);
  });
});

describe('for operators', () => {
  test('health, readiness and metrics', async () => {
    const health = await host.request('/healthz');
    expect([health.status, health.json]).toEqual([200, { status: 'ok' }]);
    const ready = await host.request('/readyz');
    expect([ready.status, ready.json]).toEqual([200, { status: 'ready', failing: [] }]);
    await host.query('me.get', undefined, ana.bearer);
    await host.query('x'.repeat(50), undefined, ana.bearer);
    const metrics = await host.request('/metrics');
    expect(metrics.headers.get('content-type')).toContain('text/plain');
    for (const line of [
      /^sparkroom_http_request_seconds_count\{method="GET",route="\/trpc\/me\.get",status="200"\} \d+$/m,
      /^sparkroom_http_request_seconds_count\{method="GET",route="\/trpc\/unknown",status="404"\} \d+$/m,
      /^sparkroom_pool_size\{pool="mysql"\} 20$/m,
      /^sparkroom_pool_waiting\{pool="cloudant"\} 0$/m,
      /^sparkroom_live_readers 0$/m,
      /^process_cpu_seconds_total /m,
    ]) {
      expect(metrics.text).toMatch(line);
    }
    expect(metrics.text).not.toContain('xxxxx');
  });

  test('a schema that is not this program’s is not ready', async () => {
    const other = await openHost('httpold', { webFolder });
    try {
      const { db } = other.stores.mysql;
      await db
        .deleteFrom('kysely_migration' as never)
        .where('name' as never, 'like' as never, '0018%' as never)
        .execute();
      const ready = await other.request('/readyz');
      expect([ready.status, ready.json]).toEqual([503, { status: 'unavailable', failing: ['migrations'] }]);
    } finally {
      await other.close();
    }
  });

  test('too many requests of one address are refused', async () => {
    const other = await openHost('httpmany', { settings: { requestsPerMinute: 3 } });
    try {
      for (let i = 0; i < 3; i++) expect((await other.request('/trpc/me.get')).status).toBe(401);
      const refused = await other.request('/trpc/me.get');
      expect(errorOf(refused).slice(0, 3)).toEqual([429, 'TOO_MANY_REQUESTS', 'RATE_LIMITED']);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
      expect((await other.request('/healthz')).status).toBe(200);
    } finally {
      await other.close();
    }
  });
});

test('the log holds no secret of anybody', () => {
  const log = host.lines.join('');
  expect(host.secrets.filter((secret) => log.includes(secret))).toEqual([]);
});

test('addresses that lead nowhere lead nowhere quietly', async () => {
  for (const path of ['//evil.example', '/assets/', '/assets/%00', '/assets/../package.json', '/trpc']) {
    const answer = await host.request(path);
    expect([path, answer.status, answer.json?.error?.data?.reason]).toEqual([path, 404, 'NOT_FOUND']);
  }
  expect((await host.request('/trpc/me.get', { method: 'HEAD' })).status).toBe(404);
});
