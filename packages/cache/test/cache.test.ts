import { randomUUID } from 'node:crypto';
import { StoreUnavailableError } from '@sparkroom/pools';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type Cache, openCache, readCacheSettings } from '../src/index.ts';

let cache: Cache;
beforeAll(async () => {
  cache = openCache({ ...readCacheSettings(process.env), prefix: `sparkroom-test-${randomUUID()}` });
  await vi.waitFor(() => cache.ping());
});
afterAll(() => cache.close());

const read = async (id: string) => (await cache.getMany('body', [id])).entries.get(id);
const key = (id: string) => ({ family: 'body', id });

test('what is filled is read, with its version; other ids are absent', async () => {
  expect(await cache.fill(key('a'), 3, { text: '创意 😀' }, 60)).toBe(true);
  const { entries, available } = await cache.getMany('body', ['a', 'missing']);
  expect(available).toBe(true);
  expect([...entries]).toEqual([['a', { version: 3, body: { text: '创意 😀' } }]]);
});

test('a fill from an old snapshot is refused, before and after the new value', async () => {
  await cache.fill(key('b'), 5, 'five', 60);
  expect(await cache.fill(key('b'), 4, 'four', 60)).toBe(false);
  expect(await read('b')).toEqual({ version: 5, body: 'five' });
});

test('an invalidation leaves a tombstone that a late reader cannot overwrite', async () => {
  await cache.fill(key('c'), 1, 'one', 60);
  await cache.invalidate(key('c'), 2);
  expect(await read('c')).toBeUndefined();
  expect(await cache.fill(key('c'), 1, 'one again', 60)).toBe(false);
  expect(await cache.fill(key('c'), 2, 'two', 60)).toBe(true);
  expect(await read('c')).toEqual({ version: 2, body: 'two' });
});

test('repeated and reordered invalidations do not drop what is newer', async () => {
  await cache.invalidate(key('d'), 7);
  await cache.fill(key('d'), 7, 'seven', 60);
  await cache.invalidate(key('d'), 7);
  await cache.invalidate(key('d'), 6);
  expect(await read('d')).toEqual({ version: 7, body: 'seven' });
});

test('uses are counted within a window, all at once too', async () => {
  const rule = { max: 3, windowSeconds: 60 };
  const answers = await Promise.all(
    Array.from({ length: 5 }, () => cache.consume({ family: 'rate', id: 'a' }, rule)),
  );
  expect(answers.filter((a) => a.allowed)).toHaveLength(3);
  expect(answers[4]?.retryAfterSeconds).toBeGreaterThan(50);
  expect((await cache.consume({ family: 'rate', id: 'b' }, rule)).allowed).toBe(true);
});

test('a Redis that is away is told from a miss, in time', async () => {
  const gone = openCache({ url: 'redis://127.0.0.1:1', prefix: 'x', commandMs: 100 });
  const started = performance.now();
  expect(await gone.getMany('body', ['a'])).toEqual({ entries: new Map(), available: false });
  expect(await gone.fill(key('a'), 1, 'x', 60)).toBe(false);
  await expect(gone.invalidate(key('a'), 1)).rejects.toThrow(StoreUnavailableError);
  expect(performance.now() - started).toBeLessThan(2000);
  await gone.close();
});
