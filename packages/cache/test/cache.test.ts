import { randomUUID } from 'node:crypto';
import { StoreUnavailableError } from '@sparkroom/pools';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type Cache, defineFamily, openCache, readCacheSettings } from '../src/index.ts';
import { openRedisTier } from '../src/redis-tier.ts';
import { hangingServer } from './hanging-server.ts';

const settings = { ...readCacheSettings(process.env), prefix: `sparkroom-test-${randomUUID()}` };
const TEXT = defineFamily<string>({
  name: 'test-text',
  version: 'the test',
  ttlSeconds: 60,
  maxBytes: 1000,
  memory: true,
  redis: true,
});
/** Without memory, so that every read shows what Redis has. */
const PLAIN = defineFamily<string>({ ...TEXT, name: 'test-plain', memory: false });

/** Two processes' worth of caches over one Redis. */
let cache: Cache;
let other: Cache;
beforeAll(async () => {
  cache = openCache({ ...settings, instance: 'one' });
  other = openCache({ ...settings, instance: 'two' });
  await vi.waitFor(() => Promise.all([cache.ping(), other.ping()]));
});
afterAll(() => Promise.all([cache.close(), other.close()]));

const absent = Symbol('absent');
const nothing = async (): Promise<never> => {
  throw absent;
};
/** What a tier has, without loading. */
const peek = (from: Cache, id: string, version: number, family = PLAIN) =>
  from.read(family, { id, version }, nothing).catch((error) => {
    if (error !== absent) throw error;
    return undefined;
  });
/** Reads with a loader, and waits until the fill is in Redis. */
async function fill(id: string, version: number, value: string): Promise<void> {
  expect(await cache.read(PLAIN, { id, version }, async () => value)).toBe(value);
  await vi.waitFor(async () => {
    const story = await cache.story(PLAIN, id);
    expect(story?.notes.some((note) => note.op === 'fill' && note.version === version)).toBe(true);
  });
}

test('what one process has loaded another reads, and only as long as nothing newer is wanted', async () => {
  await fill('a', 3, '创意 😀');
  expect(await peek(other, 'a', 3)).toBe('创意 😀');
  expect(await peek(other, 'a', 2)).toBe('创意 😀');
  expect(await peek(other, 'a', 4)).toBeUndefined();
});

/** Reads version 1, is held up by the store, and fills when `between` is done. */
async function lateFill(by: Cache, id: string, between: () => Promise<void>): Promise<void> {
  let release: (value: string) => void = () => {};
  const loading = Promise.withResolvers<void>();
  const slow = by.read(PLAIN, { id, version: 1 }, () => {
    loading.resolve();
    return new Promise((resolve) => {
      release = resolve;
    });
  });
  await loading.promise;
  await between();
  release('one');
  expect(await slow).toBe('one');
}

describe('races', () => {
  const refused = () => cache.figures().families.get('test-plain')?.refusedFills ?? 0;

  /** Version 2 is committed and invalidated while somebody still holds version 1. @returns what is read then */
  async function readAfterLateFill(by: Cache, id: string, filled: () => Promise<unknown>): Promise<string> {
    await lateFill(by, id, () => other.invalidate(PLAIN, id, 2));
    await filled();
    return await other.read(PLAIN, { id, version: 2 }, async () => 'two');
  }

  test('a fill that comes after the invalidation is refused', async () => {
    const before = refused();
    const isRefused = () => vi.waitFor(() => expect(refused()).toBe(before + 1));
    expect(await readAfterLateFill(cache, 'b', isRefused)).toBe('two');
    expect((await other.story(PLAIN, 'b'))?.refusedFills).toBe(1);
  });

  test('the same race without the comparison of versions reads the old value', async () => {
    const tier = openRedisTier(settings, () => {});
    await vi.waitFor(() => tier.ping());
    // A plain SET: what is filled counts as the present value, whatever it was read from.
    const careless = openCache(settings, () => {}, {
      ...tier,
      awake: true,
      async fill(key, variant, value, note) {
        const version = (await tier.getMany([{ key, variant }]))[0]?.version ?? value.version;
        return await tier.fill(key, variant, { ...value, version }, note);
      },
    });
    const filled = () =>
      vi.waitFor(async () => expect((await other.story(PLAIN, 'c'))?.variants).toHaveLength(1));
    expect(await readAfterLateFill(careless, 'c', filled)).toBe('one');
    await careless.close();
  });

  test('a fill from an old snapshot does not replace the new value', async () => {
    const before = refused();
    await lateFill(cache, 'd', async () => {
      await other.read(PLAIN, { id: 'd', version: 2 }, async () => 'two');
      await vi.waitFor(async () => expect(await peek(other, 'd', 2)).toBe('two'));
    });
    await vi.waitFor(() => expect(refused()).toBe(before + 1));
    expect(await peek(other, 'd', 1)).toBe('two');
  });

  test('even where the tombstone is lost, the old value is not served to who knows of the new version', async () => {
    await lateFill(cache, 'dd', async () => {});
    await vi.waitFor(async () => expect(await peek(other, 'dd', 1)).toBe('one'));
    expect(await other.read(PLAIN, { id: 'dd', version: 2 }, async () => 'two')).toBe('two');
    await vi.waitFor(async () => expect(await peek(cache, 'dd', 1)).toBe('two'));
  });

  test('repeated and reordered invalidations do not drop what is newer', async () => {
    await cache.invalidate(PLAIN, 'e', 7);
    await fill('e', 7, 'seven');
    await cache.invalidate(PLAIN, 'e', 7);
    await cache.invalidate(PLAIN, 'e', 6);
    expect(await peek(other, 'e', 7)).toBe('seven');
  });
});

test('several who want the same wait for one load; one who wants newer does not', async () => {
  const load = vi.fn(async () => {
    await new Promise((resolve) => setTimeout(resolve, 20));
    return 'once';
  });
  const before = cache.figures().families.get('test-text')?.coalesced ?? 0;
  const newer = vi.fn(async () => 'newer');
  const read = () => cache.read(TEXT, { id: 'f', version: 1 }, load);
  const answers = await Promise.all([
    read(),
    read(),
    read(),
    cache.read(TEXT, { id: 'f', version: 2 }, newer),
  ]);
  expect(answers).toEqual(['once', 'once', 'once', 'newer']);
  expect(load).toHaveBeenCalledTimes(1);
  expect(newer).toHaveBeenCalledTimes(1);
  expect(cache.figures().families.get('test-text')?.coalesced).toBe(before + 2);
});

test('a load that fails fails for all who wait, and is tried again by the next', async () => {
  const broken = () => Promise.reject(new Error('store away'));
  const both = await Promise.allSettled([
    cache.read(TEXT, { id: 'g', version: 1 }, broken),
    cache.read(TEXT, { id: 'g', version: 1 }, broken),
  ]);
  expect(both.map((one) => one.status)).toEqual(['rejected', 'rejected']);
  expect(await cache.read(TEXT, { id: 'g', version: 1 }, async () => 'back')).toBe('back');
});

test('many at once: what is there from either tier, the rest in one load that others join', async () => {
  await other.read(TEXT, { id: 'h1', version: 1 }, async () => 'from redis');
  await vi.waitFor(async () => expect(await peek(cache, 'h1', 1, TEXT)).toBe('from redis'));
  const load = vi.fn(
    async (ids: string[]) =>
      new Map(ids.filter((id) => id !== 'h3').map((id) => [id, { version: 5, value: `loaded ${id}` }])),
  );
  const wanted = new Map([
    ['h1', 1],
    ['h2', 4],
    ['h3', 1],
  ]);
  const [first, second] = await Promise.all([
    cache.readMany(TEXT, wanted, load),
    cache.readMany(TEXT, wanted, load),
  ]);
  expect([...first].sort()).toEqual([
    ['h1', 'from redis'],
    ['h2', 'loaded h2'],
  ]);
  expect(second).toEqual(first);
  expect(load).toHaveBeenCalledTimes(1);
  expect(load).toHaveBeenCalledWith(['h2', 'h3']);
});

test('variants of one id go together', async () => {
  const page = (variant: string, version: number, value: string) =>
    cache.read(PLAIN, { id: 'i', variant, version }, async () => value);
  await page('newest 20', 1, 'a');
  await page('title 20', 1, 'b');
  await vi.waitFor(async () => expect((await cache.story(PLAIN, 'i'))?.variants).toHaveLength(2));
  await cache.invalidate(PLAIN, 'i', 2);
  expect(await cache.story(PLAIN, 'i')).toMatchObject({ version: 2, variants: [] });
});

test('where most is read once, the first load is not kept', async () => {
  const rare = { ...PLAIN, keptFrom: 'second' } as const;
  const load = vi.fn(async () => 'loaded');
  const read = () => cache.read(rare, { id: 'rare', version: 1 }, load);
  await read();
  await read();
  expect(load).toHaveBeenCalledTimes(2);
  await vi.waitFor(async () => expect(await peek(other, 'rare', 1)).toBe('loaded'));
  await read();
  expect(load).toHaveBeenCalledTimes(2);
});

test('what is larger than its family allows is not kept', async () => {
  const big = 'x'.repeat(2000);
  expect(await cache.read(TEXT, { id: 'j', version: 1 }, async () => big)).toBe(big);
  expect(await cache.read(TEXT, { id: 'j', version: 1 }, async () => 'again')).toBe('again');
  expect(cache.figures().families.get('test-text')?.tooLarge).toBe(1);
});

test('every key tells what filled and emptied it: process, event, person, request', async () => {
  await fill('k', 1, 'one');
  await other.invalidate(PLAIN, 'k', 2, {
    eventId: 'E',
    event: 'idea.revised',
    actorId: 'ana',
    requestId: 'R',
  });
  for (let version = 3; version < 20; version++) await other.invalidate(PLAIN, 'k', version);
  const story = await cache.story(PLAIN, 'k');
  expect(story?.notes).toHaveLength(8);
  expect(story?.notes[0]).toMatchObject({ op: 'drop', version: 19, by: 'two' });
  await cache.invalidate(PLAIN, 'l', 1, {
    eventId: 'E',
    event: 'idea.revised',
    actorId: 'ana',
    requestId: 'R',
  });
  expect((await cache.story(PLAIN, 'l'))?.notes).toEqual([
    {
      op: 'drop',
      version: 1,
      at: expect.any(Number),
      by: 'one',
      eventId: 'E',
      event: 'idea.revised',
      actorId: 'ana',
      requestId: 'R',
    },
  ]);
  expect(await cache.story(PLAIN, 'nobody')).toBeNull();
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

describe('a Redis that is away is no miss', () => {
  test('refusing: the store answers at once, memory still helps, what must not be lost is said', async () => {
    const gone = openCache({ ...settings, url: 'redis://127.0.0.1:1' });
    const load = vi.fn(async () => 'from the store');
    const started = performance.now();
    expect(await gone.read(TEXT, { id: 'm', version: 1 }, load)).toBe('from the store');
    expect(await gone.read(TEXT, { id: 'm', version: 1 }, load)).toBe('from the store');
    expect(performance.now() - started).toBeLessThan(300);
    expect(load).toHaveBeenCalledTimes(1);
    expect(gone.figures().families.get('test-text')).toMatchObject({ missAbsent: 0, hitMemory: 1 });
    expect(gone.figures().families.get('test-text')?.errors).toBeGreaterThan(0);
    await expect(gone.invalidate(TEXT, 'm', 1)).rejects.toThrow(StoreUnavailableError);
    await gone.close();
  });

  test('hanging: one reader waits for the deadline, those after it do not', async () => {
    const server = await hangingServer();
    const hung = openCache({ ...settings, url: `redis://127.0.0.1:${server.port}`, commandMs: 200 });
    await server.connected;
    const timed = async (id: string): Promise<number> => {
      const started = performance.now();
      expect(await hung.read(PLAIN, { id, version: 1 }, async () => 'store')).toBe('store');
      return performance.now() - started;
    };
    await timed('n0');
    expect(await timed('n1')).toBeLessThan(100);
    await hung.close();
    await server.close();
  });
});
