import { setTimeout as pause } from 'node:timers/promises';
import { inputs, Reason } from '@sparkroom/contract';
import { type Core, DomainError } from '@sparkroom/core';
import { StoreUnavailableError } from '@sparkroom/pools';
import { callTRPCProcedure, TRPCError } from '@trpc/server';
import { getHTTPStatusCodeFromError } from '@trpc/server/http';
import { describe, expect, test } from 'vitest';
import { type ApiContext, appRouter } from './index.ts';

const names = Object.keys(appRouter._def.procedures);
const reported: unknown[] = [];

const context = (core: Partial<Record<keyof Core, object>>, signedIn = true): ApiContext => ({
  core: core as unknown as Core,
  authenticate: async () => (signedIn ? { userId: 'me', platformRole: 'user', requestId: 'r' } : null),
  stillSignedIn: async () => signedIn,
  requestId: 'request',
  report: (error) => reported.push(error),
});

async function call(path: string, input: unknown, ctx: ApiContext): Promise<unknown> {
  const procedure = (appRouter._def.procedures as unknown as Record<string, { _def: { type: 'query' } }>)[
    path
  ];
  return await callTRPCProcedure({
    router: appRouter,
    path,
    getRawInput: async () => input,
    ctx,
    type: procedure?._def.type ?? 'query',
    signal: undefined,
    batchIndex: 0,
  });
}

const errorOf = async (promise: Promise<unknown>): Promise<TRPCError> => {
  const error = await promise.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof TRPCError)) throw new Error(`no error: ${String(error)}`);
  return error;
};

/** What a caller gets to see of an error. */
const shown = (error: TRPCError) =>
  appRouter._def._config.errorFormatter({
    error,
    type: 'query',
    path: 'me.get',
    input: undefined,
    ctx: undefined,
    shape: {
      message: error.message,
      code: -32603,
      data: { code: error.code, httpStatus: getHTTPStatusCodeFromError(error), path: 'me.get' },
    },
  });

describe('procedures', () => {
  test('are those of the contract, by the same names', () => {
    const withInput = Object.entries(inputs).flatMap(([group, procedures]) =>
      Object.keys(procedures).map((name) => `${group}.${name}`),
    );
    expect(names.filter((name) => name !== 'me.get').sort()).toEqual(withInput.sort());
  });

  test.each(names)('%s needs a session before it looks at its input', async (name) => {
    const error = await errorOf(call(name, { nonsense: true }, context({}, false)));
    expect([error.code, (error.cause as DomainError).reason]).toEqual(['UNAUTHORIZED', 'UNAUTHENTICATED']);
  });
});

describe('errors', () => {
  const failing = (error: unknown) =>
    context({
      me: {
        get: async () => {
          throw error;
        },
      },
    });

  test.each(Reason.options)('%s has a status that fits, and its own message', async (reason) => {
    const error = await errorOf(
      call('me.get', undefined, failing(new DomainError(reason, 'What to do.', { currentVersion: 3 }))),
    );
    const status = getHTTPStatusCodeFromError(error);
    const expected: Partial<Record<Reason, number>> = {
      UNAUTHENTICATED: 401,
      ROLE_REQUIRED: 403,
      FORBIDDEN_ORIGIN: 403,
      INVITATION_OTHER_PERSON: 403,
      NOT_FOUND: 404,
      USER_NOT_REGISTERED: 404,
      INVITATION_INVALID: 404,
      BODY_TOO_LARGE: 413,
      RATE_LIMITED: 429,
      INTERNAL: 500,
      STORE_UNAVAILABLE: 503,
    };
    const bad = /^INVALID_(?!ATION)|^BATCH/.test(reason) ? 400 : 409;
    expect([reason, status]).toEqual([reason, expected[reason] ?? bad]);
    expect(shown(error)).toMatchObject({ message: 'What to do.', data: { reason, currentVersion: 3 } });
  });

  test.each([
    ['mysql', 'The database (MySQL)'],
    ['cloudant', 'The document store (Cloudant)'],
    ['redis', 'The cache (Redis)'],
    ['nats', 'The event stream (NATS)'],
  ] as const)('without %s say so and nothing of the cause', async (store, name) => {
    const cause = new Error('connect to secret-host:1 as root');
    const away = new StoreUnavailableError(store, { cause, detail: 'detail' });
    const error = await errorOf(call('me.get', undefined, failing(away)));
    expect(getHTTPStatusCodeFromError(error)).toBe(503);
    const shape = shown(error);
    expect(shape).toMatchObject({
      message: `${name} does not answer. Nothing was lost; try again in a moment.`,
      data: { reason: 'STORE_UNAVAILABLE', store },
    });
    expect(JSON.stringify(shape)).not.toMatch(/secret|root|detail|stack/);
    expect(reported.at(-1)).toBe(away);
  });

  test.each([
    ['unknown', 'Your change may or may not have been stored: look before you repeat it.'],
    ['stored', 'Your change was stored, only the answer is missing: do not repeat it.'],
  ] as const)('a change whose outcome is %s is not to be repeated blindly', async (outcome, advice) => {
    const error = await errorOf(
      call('me.get', undefined, failing(new StoreUnavailableError('mysql', { outcome }))),
    );
    expect(getHTTPStatusCodeFromError(error)).toBe(503);
    expect(shown(error)).toMatchObject({
      message: `The database (MySQL) does not answer. ${advice}`,
      data: { reason: 'STORE_UNAVAILABLE', store: 'mysql', outcome },
    });
  });

  test('unforeseen ones are reported and say nothing', async () => {
    const mistake = new Error('select password from user');
    const error = await errorOf(call('me.get', undefined, failing(mistake)));
    const shape = shown(error);
    expect(shape).toMatchObject({ data: { reason: 'INTERNAL' } });
    expect(JSON.stringify(shape)).not.toMatch(/select|stack/);
    expect(reported.at(-1)).toBe(mistake);
  });
});

test('a refusal inside a live feed has its code, which tells clients not to come back', async () => {
  const live = (error: Error) => ({
    // biome-ignore lint/correctness/useYield: it fails before its first item
    live: async function* () {
      throw error;
    },
  });
  const read = async (error: Error) => {
    const feed = await call('activity.live', { workspaceId: 'w' }, context({ activity: live(error) }));
    for await (const item of feed as AsyncIterable<unknown>) throw new Error(`item: ${String(item)}`);
  };
  expect((await errorOf(read(new DomainError('NOT_FOUND', 'gone')))).code).toBe('NOT_FOUND');
  expect((await errorOf(read(new StoreUnavailableError('mysql')))).code).toBe('SERVICE_UNAVAILABLE');
});

describe('while a live feed is open', () => {
  /** A feed on which nothing happens, and what its listener gets. */
  async function listen(more: Partial<ApiContext>, mayListen: () => Promise<void> = async () => {}) {
    const items: unknown[] = [];
    const activity = {
      mayListen,
      live: async function* (_actor: unknown, _input: unknown, signal: AbortSignal) {
        yield { kind: 'ready', seq: '1' };
        while (!signal.aborted) await pause(1);
      },
    };
    const feed = await call(
      'activity.live',
      { workspaceId: 'w' },
      { ...context({ activity }), liveMs: 200, ...more },
    );
    const started = Date.now();
    const end: unknown = await (async () => {
      for await (const item of feed as AsyncIterable<unknown>) items.push(item);
    })().catch((error: unknown) => error);
    return { items, end, ms: Date.now() - started };
  }

  test('a session that ends takes it along', async () => {
    let looks = 0;
    const { items, end } = await listen({ stillSignedIn: async () => ++looks < 2 });
    expect(items).toHaveLength(1);
    expect(end).toMatchObject({ code: 'UNAUTHORIZED', cause: { reason: 'UNAUTHENTICATED' } });
    expect(looks).toBe(2);
  });

  test('a membership that ends takes it along', async () => {
    const { end } = await listen({}, async () => {
      throw new DomainError('NOT_FOUND', 'gone');
    });
    expect(end).toMatchObject({ code: 'NOT_FOUND' });
  });

  test('a store that is away does not end it, and nobody looks after its end', async () => {
    let looks = 0;
    const away = new StoreUnavailableError('mysql');
    const { end, ms } = await listen({
      stillSignedIn: async () => {
        looks++;
        throw away;
      },
    });
    expect(end).toMatchObject({ name: 'AbortError' });
    expect(ms).toBeGreaterThan(150);
    expect(looks).toBeGreaterThan(1);
    expect(reported.at(-1)).toBe(away);
    const then = looks;
    await pause(150);
    expect(looks).toBe(then);
  });
});
