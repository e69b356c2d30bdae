import { describe, expect, it } from 'vitest';
import { createSparkroomClient, errorDataOf, reasonOf } from './index.ts';

interface Seen {
  url: string;
  authorization: string | null;
  calls: number;
}

/** Answers every call of a batch with `answer` and notes what was asked. */
function fakeServer(answer: unknown, status = 200) {
  const seen: Seen[] = [];
  const send: typeof fetch = async (input, init) => {
    const url = String(input);
    const calls = new URL(url).pathname.split(',').length;
    seen.push({ url, authorization: new Headers(init?.headers).get('authorization'), calls });
    return new Response(JSON.stringify(Array.from({ length: calls }, () => answer)), {
      status,
      headers: { 'content-type': 'application/json' },
    });
  };
  return { seen, send };
}

describe('createSparkroomClient', () => {
  it('asks under /trpc of the given origin with the token', async () => {
    const { seen, send } = fakeServer({ result: { data: { id: 'u1' } } });
    const client = createSparkroomClient({ url: 'http://room.example/', token: 'secret', fetch: send });
    expect(await client.me.get.query()).toEqual({ id: 'u1' });
    expect(seen[0]?.url).toMatch(/^http:\/\/room\.example\/trpc\/me\.get\?batch=1/);
    expect(seen[0]?.authorization).toBe('Bearer secret');
  });

  it('sends calls of one tick together, ten at most', async () => {
    const { seen, send } = fakeServer({ result: { data: { id: 'c1' } } });
    const client = createSparkroomClient({ url: 'http://room.example', fetch: send });
    await Promise.all(Array.from({ length: 23 }, (_, i) => client.clients.get.query({ id: `c${i}` })));
    expect(seen.map((s) => s.calls).sort((a, b) => b - a)).toEqual([10, 10, 3]);
  });

  it('narrows a refusal to its reason and data', async () => {
    const data = { code: 'CONFLICT', httpStatus: 409, reason: 'VERSION_CONFLICT', currentVersion: 7 };
    const { send } = fakeServer({ error: { message: 'stale', code: -32009, data } }, 409);
    const client = createSparkroomClient({ url: 'http://room.example', fetch: send });
    const error: unknown = await client.ideas.remove
      .mutate({ id: 'i1', version: 6 })
      .catch((e: unknown) => e);
    expect(reasonOf(error)).toBe('VERSION_CONFLICT');
    expect(errorDataOf(error)?.currentVersion).toBe(7);
  });

  it('has no reason when the server cannot be reached', async () => {
    const client = createSparkroomClient({
      url: 'http://room.example',
      fetch: () => Promise.reject(new TypeError('fetch failed')),
    });
    const error: unknown = await client.me.get.query().catch((e: unknown) => e);
    expect(error).toBeInstanceOf(Error);
    expect(reasonOf(error)).toBeNull();
  });

  it('gives up after its deadline', async () => {
    const client = createSparkroomClient({
      url: 'http://room.example',
      timeoutMs: 20,
      fetch: (_input, init) =>
        new Promise((_, reject) => {
          init?.signal?.addEventListener('abort', () => reject(init.signal?.reason));
        }),
    });
    await expect(client.me.get.query()).rejects.toThrow(/timeout|abort/i);
  });
});

describe('reasonOf', () => {
  it.each([null, undefined, 'text', new Error('plain'), { data: null }, { data: { code: 'X' } }])(
    'is null for %s',
    (value) => {
      expect(reasonOf(value)).toBeNull();
    },
  );
});
