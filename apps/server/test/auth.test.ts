import { request as rawRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Host, openHost } from './host.ts';

let host: Host;
beforeAll(async () => {
  host = await openHost('auth');
});
afterAll(() => host?.close());

const unauthenticated = (path: string) => ({
  error: {
    message: 'You are not signed in, or your session has ended. Sign in again.',
    code: -32001,
    data: {
      code: 'UNAUTHORIZED',
      httpStatus: 401,
      path,
      requestId: expect.any(String),
      reason: 'UNAUTHENTICATED',
    },
  },
});

describe('accounts', () => {
  test('sign-up answers a session by header and by cookie, and both work', async () => {
    const ana = await host.somebody('安娜 🎈');
    expect(ana.cookie).toMatch(/^sparkroom\.session_token=/);
    const byBearer = await host.query('me.get', undefined, ana.bearer);
    expect(byBearer.status).toBe(200);
    expect(byBearer.json.result.data).toEqual({
      id: ana.id,
      name: '安娜 🎈',
      email: ana.email,
      role: 'user',
      locale: null,
    });
    const byCookie = await host.query('me.get', undefined, { cookie: ana.cookie });
    expect(byCookie.json).toEqual(byBearer.json);
    const outbox = await host.stores.mysql.db
      .selectFrom('outbox')
      .select('type')
      .where('aggregate_id', '=', ana.id)
      .execute();
    expect(outbox).toEqual([{ type: 'user.registered' }]);
  });

  test('the cookie is for this site only and out of reach of scripts', async () => {
    const answer = await host.auth('sign-up/email', {
      name: 'Cookie',
      email: 'cookie@sparkroom.example',
      password: 'a password of length',
    });
    expect(answer.headers.getSetCookie()[0]).toMatch(/; HttpOnly; SameSite=Lax$/i);
    expect(answer.headers.get('cache-control')).toBe('no-store');
  });

  test('sign-in and sign-out', async () => {
    const bo = await host.somebody('Bo');
    const signedIn = await host.auth('sign-in/email', {
      email: bo.email.toUpperCase(),
      password: bo.password,
    });
    expect(signedIn.status).toBe(200);
    const bearer = { authorization: `Bearer ${signedIn.headers.get('set-auth-token')}` };
    expect((await host.query('me.get', undefined, bearer)).json.result.data.id).toBe(bo.id);
    expect((await host.auth('sign-out', {}, bearer)).status).toBe(200);
    const after = await host.query('me.get', undefined, bearer);
    expect([after.status, after.json]).toEqual([401, unauthenticated('me.get')]);
    // The other session goes on.
    expect((await host.query('me.get', undefined, bo.bearer)).status).toBe(200);
  });

  test('an address has one account, whatever its case', async () => {
    const cy = await host.somebody('Cy');
    const again = await host.auth('sign-up/email', {
      name: 'Other',
      email: cy.email.toUpperCase(),
      password: 'another password',
    });
    expect(again.status).toBe(422);
    expect(again.json.code).toMatch(/USER_ALREADY_EXISTS/);
  });

  test.each([
    [
      'a short password',
      { name: 'X', email: 'x@sparkroom.example', password: 'short' },
      'PASSWORD_TOO_SHORT',
    ],
    ['no address', { name: 'X', email: 'not an address', password: 'long enough 123' }, 'VALIDATION_ERROR'],
  ])('%s is refused', async (_what, body, code) => {
    const answer = await host.auth('sign-up/email', body);
    expect([answer.status, answer.json.code]).toEqual([400, code]);
  });

  test('nobody makes themselves an admin', async () => {
    const body = { name: 'Eve', email: 'eve@sparkroom.example', password: 'long enough 123', role: 'admin' };
    const answer = await host.auth('sign-up/email', body);
    expect([answer.status, answer.json.user.role]).toEqual([200, 'user']);
    const bearer = { authorization: `Bearer ${answer.headers.get('set-auth-token')}` };
    await host.auth('update-user', { role: 'admin' }, bearer);
    expect((await host.query('me.get', undefined, bearer)).json.result.data.role).toBe('user');
  });
});

describe('without a valid session', () => {
  test('every procedure refuses', async () => {
    for (const path of ['me.get', 'workspaces.list', 'clients.list', 'me.clients']) {
      const answer = await host.query(path, undefined);
      expect([answer.status, answer.json]).toEqual([401, unauthenticated(path)]);
    }
    const rated = await host.mutate('ratings.set', { ideaId: 'x', stars: 9 });
    expect([rated.status, rated.json]).toEqual([401, unauthenticated('ratings.set')]);
  });

  test('an invalid token is none', async () => {
    for (const token of ['', 'nonsense', 'a.b', `${'x'.repeat(32)}.${'y'.repeat(43)}=`]) {
      const answer = await host.query('me.get', undefined, { authorization: `Bearer ${token}` });
      expect([answer.status, answer.json]).toEqual([401, unauthenticated('me.get')]);
    }
  });

  test('a token with another signature is none', async () => {
    const dan = await host.somebody('Dan');
    const [value] = dan.bearer.authorization.split('.');
    const answer = await host.query('me.get', undefined, { authorization: `${value}.AAAA` });
    expect([answer.status, answer.json]).toEqual([401, unauthenticated('me.get')]);
  });

  test('an expired session is none', async () => {
    const fay = await host.somebody('Fay');
    await host.stores.mysql.db
      .updateTable('session')
      .set({ expiresAt: '2020-01-01 00:00:00.000' })
      .where('userId', '=', fay.id)
      .execute();
    for (const headers of [fay.bearer, { cookie: fay.cookie }]) {
      const answer = await host.query('me.get', undefined, headers);
      expect([answer.status, answer.json]).toEqual([401, unauthenticated('me.get')]);
    }
  });
});

describe('a wrong password', () => {
  const limited = {
    error: {
      message: 'Too many failed sign-ins for this account. Try again in 10 minutes.',
      code: -32029,
      data: {
        code: 'TOO_MANY_REQUESTS',
        httpStatus: 429,
        reason: 'RATE_LIMITED',
        requestId: expect.any(String),
      },
    },
  };

  test('ten times closes the account to this address, but to no other account', async () => {
    const gil = await host.somebody('Gil');
    for (let i = 0; i < 10; i++) {
      const email = i % 2 === 0 ? gil.email : gil.email.toUpperCase();
      const answer = await host.auth('sign-in/email', { email, password: `wrong ${i} password` });
      expect([answer.status, answer.json.code]).toEqual([401, 'INVALID_EMAIL_OR_PASSWORD']);
    }
    const refused = await host.auth('sign-in/email', { email: gil.email, password: gil.password });
    expect([refused.status, refused.json]).toEqual([429, limited]);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(500);
    const hal = await host.somebody('Hal');
    expect((await host.auth('sign-in/email', { email: hal.email, password: hal.password })).status).toBe(200);
    // The way round by another spelling of the path.
    for (const path of [
      '/api/auth/./sign-in/email',
      '/api/auth/x/../sign-in/email',
      '/api/auth//sign-in/email',
      '/api/auth/sign-in/email/',
      '/api/auth/sign%2din/email',
      '/api/auth/sign-in%2femail',
      '/api/auth/SIGN-IN/email',
    ]) {
      const status = await new Promise<number>((resolve, reject) => {
        const raw = rawRequest(
          `${host.url}/`,
          { path, method: 'POST', headers: { 'content-type': 'application/json' } },
          (response) => {
            response.resume();
            resolve(response.statusCode ?? 0);
          },
        );
        raw.on('error', reject);
        raw.end(JSON.stringify({ email: gil.email, password: gil.password }));
      });
      expect([path, status]).not.toEqual([path, 200]);
    }
  });
});

test('forty guesses at the same moment are ten', async () => {
  const kim = await host.somebody('Kim');
  const guesses = await Promise.all(
    Array.from({ length: 40 }, (_, i) =>
      host.auth('sign-in/email', { email: kim.email, password: `wrong ${i} password` }),
    ),
  );
  const count = (status: number) => guesses.filter((g) => g.status === status).length;
  expect([count(401), count(429)]).toEqual([10, 30]);
  // Right ones at once are all let in: waiting is not refusing.
  const lea = await host.somebody('Lea');
  const right = await Promise.all(
    Array.from({ length: 12 }, () =>
      host.auth('sign-in/email', { email: lea.email, password: lea.password }),
    ),
  );
  expect(right.map((r) => r.status)).toEqual(Array(12).fill(200));
});

describe('another site', () => {
  test('may not use a cookie, may with a bearer token of its own', async () => {
    const ida = await host.somebody('Ida');
    const origin = 'https://evil.example';
    const forged = await host.mutate('clients.create', { name: 'X' }, { cookie: ida.cookie, origin });
    expect([forged.status, forged.json]).toEqual([
      403,
      {
        error: {
          message: 'This page may not use Sparkroom. Open it at its own address.',
          code: -32003,
          data: {
            code: 'FORBIDDEN',
            httpStatus: 403,
            reason: 'FORBIDDEN_ORIGIN',
            requestId: expect.any(String),
          },
        },
      },
    ]);
    expect((await host.query('clients.list', undefined, ida.bearer)).json.result.data.items).toEqual([]);
    expect((await host.query('me.get', undefined, { cookie: ida.cookie, origin: 'null' })).status).toBe(403);
    const own = await host.mutate('clients.create', { name: 'X' }, { cookie: ida.cookie, origin: host.url });
    expect(own.status).toBe(200);
    const signOut = await host.auth('sign-out', {}, { cookie: ida.cookie, origin });
    expect(signOut.status).toBe(403);
    expect((await host.query('me.get', undefined, { cookie: ida.cookie })).status).toBe(200);
  });

  test('gets no permission to read answers', async () => {
    const answer = await host.query('me.get', undefined, { origin: 'https://evil.example' });
    expect(answer.headers.get('access-control-allow-origin')).toBeNull();
  });

  test('a foreign bearer does not carry a cookie past the check', async () => {
    const jo = await host.somebody('Jo');
    for (const bearer of ['nonsense', 'a.b', '']) {
      const answer = await host.mutate(
        'clients.create',
        { name: 'Forged' },
        { cookie: jo.cookie, origin: 'https://evil.example', authorization: `Bearer ${bearer}` },
      );
      expect(answer.status).toBe(403);
    }
    expect((await host.query('clients.list', undefined, jo.bearer)).json.result.data.items).toEqual([]);
  });
});

test('the log holds no secret of anybody', () => {
  const log = host.lines.join('');
  expect(log.length).toBeGreaterThan(1000);
  expect(host.secrets.filter((secret) => log.includes(secret))).toEqual([]);
});

describe('what people call themselves', () => {
  const refused = async (path: string, body: object, headers?: Record<string, string>) => {
    const answer = await host.auth(path, body, headers);
    return [answer.status, answer.json?.code, answer.json?.data?.reason, answer.json?.message];
  };
  const bad: Array<[unknown, string]> = [
    ['x'.repeat(101), 'name: Write at most 100 characters.'],
    ['a\u0000b', 'name: The text contains control characters. Remove them.'],
    ['two\nlines', 'name: Write this on one line.'],
    ['half \ud83d', 'name: The text contains half of a character (a lone surrogate). Retype it.'],
    ['   ', 'name: Write at least 1 character.'],
  ];

  test.each(bad)('%j is refused at sign-up and in a change', async (name, message) => {
    const account = { name, email: `bad-${Math.random()}@example.com`, password: 'sparkroom-demo' };
    expect(await refused('sign-up/email', account)).toEqual([400, 'INVALID_INPUT', 'INVALID_INPUT', message]);
    const ana = await host.somebody('Ana');
    expect(await refused('update-user', { name }, ana.bearer)).toEqual([
      400,
      'INVALID_INPUT',
      'INVALID_INPUT',
      message,
    ]);
    expect((await host.query('me.get', undefined, ana.bearer)).json.result.data.name).toBe('Ana');
  });

  test('a good name is taken, a picture is not', async () => {
    const ana = await host.somebody('Ana');
    expect((await host.auth('update-user', { name: ' 安娜 🎈 ' }, ana.bearer)).status).toBe(200);
    expect((await host.query('me.get', undefined, ana.bearer)).json.result.data.name).toBe('安娜 🎈');
    expect((await refused('update-user', { image: `https://x/${'y'.repeat(5000)}` }, ana.bearer))[0]).toBe(
      400,
    );
  });

  test.each(['change-email', 'delete-user', 'request-password-reset', 'sign-in/social', 'error'])(
    'the library’s %s is not open',
    async (path) => {
      const ana = await host.somebody('Ana');
      const answer = await host.auth(path, { email: 'x@example.com', newEmail: 'x@example.com' }, ana.bearer);
      expect([answer.status, answer.json.error.data.reason]).toEqual([404, 'NOT_FOUND']);
    },
  );
});

describe('passwords are dear', () => {
  test('somebody who floods sign-in waits for themselves', async () => {
    const ana = await host.somebody('Ana');
    const flood = Array.from({ length: 30 }, (_, i) =>
      host.auth('sign-in/email', { email: `nobody${i}@flood.example`, password: `wrongwrong${i}` }),
    );
    // Their own address here, so this one waits among them; none is left without an answer.
    const own = host.auth('sign-in/email', { email: ana.email, password: ana.password });
    expect((await own).status).toBe(200);
    const statuses = new Set((await Promise.all(flood)).map((answer) => answer.status));
    expect([...statuses].every((status) => status === 401 || status === 429)).toBe(true);
  });

  test('guesses at the old password are counted, and a new password ends other sessions', async () => {
    const ana = await host.somebody('Ana');
    const other = await host.auth('sign-in/email', { email: ana.email, password: ana.password });
    const otherBearer = { authorization: `Bearer ${other.headers.get('set-auth-token')}` };
    const change = (currentPassword: string) =>
      host.auth('change-password', { currentPassword, newPassword: 'another-secret' }, ana.bearer);
    for (let i = 0; i < 9; i++) expect((await change(`guess-number-${i}`)).status).toBe(400);
    expect((await change(ana.password)).status).toBe(200);
    expect((await host.query('me.get', undefined, otherBearer)).status).toBe(401);

    const ben = await host.somebody('Ben');
    const guess = (i: number) =>
      host.auth(
        'change-password',
        { currentPassword: `guess-number-${i}`, newPassword: 'another-secret' },
        ben.bearer,
      );
    for (let i = 0; i < 10; i++) await guess(i);
    expect((await guess(10)).status).toBe(429);
  });
});

test('odd headers are no faults of ours', async () => {
  for (const token of ['%F0%9F%98%80', '%C3%A9', 'x'.repeat(300), '%00']) {
    expect((await host.query('me.get', undefined, { authorization: `Bearer ${token}` })).status).toBe(401);
  }
  const ana = await host.somebody('Ana');
  const answer = await host.auth(
    'sign-in/email',
    { email: ana.email, password: ana.password },
    { 'user-agent': 'u'.repeat(5000) },
  );
  expect(answer.status).toBe(200);
  for (const name of [null, { a: 1 }, 7]) {
    expect((await host.auth('update-user', { name }, ana.bearer)).status).toBe(400);
  }
  const long = { name: 'L', email: `${'l'.repeat(250)}@example.com`, password: 'sparkroom-demo' };
  expect((await host.auth('sign-up/email', long)).status).toBe(400);
});
