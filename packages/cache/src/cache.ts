import { hostname } from 'node:os';
import { LRUCache } from 'lru-cache';
import type { Family } from './families.ts';
import { type FamilyFigures, Figures } from './figures.ts';
import { createLeases, type Leases } from './leases.ts';
import { type KeyStory, type Note, openRedisTier, type RedisTier } from './redis-tier.ts';
import type { CacheSettings } from './settings.ts';

/** A value and the version that it is at least as new as. */
export interface Versioned<T> {
  version: number;
  value: T;
}

/** Which value: of what, in which form, and how new it must be at least. */
export interface Wanted {
  id: string;
  /** A page length, an order, a person: all variants of an id share its version. Default `_`. */
  variant?: string;
  /** Known before the value is loaded: from the query that checked the right, or from a lease. */
  version: number;
}

/** Why a key is emptied; kept with the key. */
export interface Cause {
  eventId?: string | undefined;
  event?: string | undefined;
  actorId?: string | null | undefined;
  requestId?: string | null | undefined;
}

export interface Cache {
  /**
   * The value, at least as new as `wanted.version`: from memory, from Redis, or from `load`, which several callers that
   * want the same share. An older one is never returned. When Redis does not answer within its deadline (300 ms),
   * `load` is asked, and Redis is left alone for half a second.
   * @throws what `load` throws
   */
  read<T>(family: Family<T>, wanted: Wanted, load: () => Promise<T>): Promise<T>;
  /**
   * Several values of a family at once, by id.
   * @param load gets the ids that no tier had; what it leaves out is left out
   */
  readMany<T>(
    family: Family<T>,
    wanted: ReadonlyMap<string, number>,
    load: (ids: string[]) => Promise<ReadonlyMap<string, Versioned<T>>>,
  ): Promise<Map<string, T>>;
  /**
   * Drops what is older than `version` from Redis and leaves a tombstone there. Repeating it or coming late is harmless.
   * (Memory needs none: what is there is compared with the wanted version on every read.)
   * @throws StoreUnavailableError: an invalidation that was not done must be done again
   */
  invalidate(family: Family, id: string, version: number, cause?: Cause): Promise<void>;
  /** Versions that this process believes without asking the store. */
  readonly leases: Leases;
  /** What a key holds and what happened to it last, or null. @throws StoreUnavailableError */
  story(family: Family, id: string): Promise<KeyStory | null>;
  /** Running totals by family, and what memory holds. */
  figures(): {
    families: ReadonlyMap<string, Readonly<FamilyFigures>>;
    memoryEntries: number;
    memoryBytes: number;
  };
  /**
   * Counts one use of a name and says whether it is within `max` for each `windowSeconds` (fixed window from first use).
   * @throws StoreUnavailableError
   */
  consume(
    key: { family: string; id: string },
    rule: { max: number; windowSeconds: number },
  ): Promise<{ allowed: boolean; retryAfterSeconds: number }>;
  /** @throws StoreUnavailableError */
  ping(): Promise<void>;
  close(): Promise<void>;
}

interface Remembered {
  version: number;
  value: unknown;
  bytes: number;
}

const MEMORY_ENTRIES = 20_000;
/** Names of values that were loaded once. */
const ONCE_ENTRIES = 50_000;

/**
 * Connects to Redis. The site works without it, so this does not wait for the connection.
 * @param redis the commands on Redis; given only where a test puts something in between
 */
export function openCache(
  settings: CacheSettings,
  onError: (error: Error) => void = () => {},
  redis: RedisTier = openRedisTier(settings, onError),
): Cache {
  const figures = new Figures();
  const memory = new LRUCache<string, Remembered>({
    max: MEMORY_ENTRIES,
    maxSize: settings.memoryBytes,
    sizeCalculation: (entry) => entry.bytes + 200,
  });
  const once = new LRUCache<string, true>({ max: ONCE_ENTRIES });
  const flights = new Map<string, Promise<unknown>>();
  const by = settings.instance ?? `${hostname()}/${process.pid}`;
  const nameOf = (family: string, id: string) => `${family}:${id}`;
  const flightOf = (family: Family, id: string, variant: string, version: number) =>
    `${nameOf(family.name, id)}:${variant}@${version}`;

  function remember(family: Family, name: string, version: number, value: unknown, bytes: number): void {
    if (!family.memory || (memory.peek(name)?.version ?? -1) > version) return;
    memory.set(name, { version, value, bytes }, { ttl: family.ttlSeconds * 1000 });
  }

  /** Keeps a loaded value where it belongs; nobody waits for this. */
  function keep(family: Family, id: string, variant: string, version: number, value: unknown): void {
    const name = `${nameOf(family.name, id)}:${variant}`;
    if (family.keptFrom === 'second' && !once.has(name)) {
      once.set(name, true);
      return;
    }
    const body = JSON.stringify(value);
    const bytes = Buffer.byteLength(body);
    const count = figures.of(family.name);
    if (bytes > family.maxBytes) {
      count.tooLarge++;
      return;
    }
    remember(family, name, version, value, bytes);
    if (!family.redis || !redis.awake) return;
    const note: Note = { op: 'fill', version, at: Date.now(), by };
    redis.fill(nameOf(family.name, id), variant, { version, body, ttlSeconds: family.ttlSeconds }, note).then(
      (done) => {
        if (done === 'refused') count.refusedFills++;
        else if (done === 'stored') count.bytesFilled += bytes;
      },
      () => void count.errors++,
    );
  }

  function fromMemory<T>(family: Family<T>, name: string, version: number): T | undefined {
    if (!family.memory) return undefined;
    const entry = memory.get(name);
    if (!entry || entry.version < version) return undefined;
    figures.of(family.name).hitMemory++;
    return entry.value as T;
  }

  /** Values by id that Redis has and that are new enough. A Redis that does not answer has none. */
  async function fromRedis<T>(
    family: Family<T>,
    variant: string,
    wanted: ReadonlyArray<readonly [id: string, version: number]>,
  ): Promise<Map<string, T>> {
    const found = new Map<string, T>();
    const count = figures.of(family.name);
    if (wanted.length === 0) return found;
    if (!family.redis) {
      count.missAbsent += wanted.length;
      return found;
    }
    if (!redis.awake) {
      count.errors += wanted.length;
      return found;
    }
    try {
      const stored = await redis.getMany(wanted.map(([id]) => ({ key: nameOf(family.name, id), variant })));
      wanted.forEach(([id, version], i) => {
        const entry = stored[i];
        if (!entry) count.missAbsent++;
        else if (entry.version < version) count.missExpired++;
        else if (entry.body === null) count.missAbsent++;
        else {
          const value = JSON.parse(entry.body) as T;
          const bytes = Buffer.byteLength(entry.body);
          count.hitRedis++;
          count.bytesRead += bytes;
          remember(family, `${nameOf(family.name, id)}:${variant}`, entry.version, value, bytes);
          found.set(id, value);
        }
      });
    } catch {
      count.errors += wanted.length;
    }
    return found;
  }

  return {
    leases: createLeases(),
    async read<T>(family: Family<T>, { id, variant = '_', version }: Wanted, load: () => Promise<T>) {
      const name = `${nameOf(family.name, id)}:${variant}`;
      const remembered = fromMemory(family, name, version);
      if (remembered !== undefined) return remembered;
      // Whoever wants a version knew of it before this flight's load began or joins one that wanted as much.
      const flight = flightOf(family, id, variant, version);
      const running = flights.get(flight) as Promise<T> | undefined;
      if (running) {
        figures.of(family.name).coalesced++;
        return await running;
      }
      const work = (async (): Promise<T> => {
        const stored = (await fromRedis(family, variant, [[id, version]])).get(id);
        if (stored !== undefined) return stored;
        const value = await load();
        keep(family, id, variant, version, value);
        return value;
      })();
      flights.set(flight, work);
      try {
        return await work;
      } finally {
        flights.delete(flight);
      }
    },
    async readMany<T>(
      family: Family<T>,
      wanted: ReadonlyMap<string, number>,
      load: (ids: string[]) => Promise<ReadonlyMap<string, Versioned<T>>>,
    ) {
      const found = new Map<string, T>();
      const asked: Array<readonly [string, number]> = [];
      for (const [id, version] of wanted) {
        const value = fromMemory(family, `${nameOf(family.name, id)}:_`, version);
        if (value === undefined) asked.push([id, version]);
        else found.set(id, value);
      }
      for (const [id, value] of await fromRedis(family, '_', asked)) found.set(id, value);
      const joined: Array<readonly [string, Promise<unknown>]> = [];
      const missing: string[] = [];
      for (const [id, version] of asked) {
        if (found.has(id)) continue;
        const running = flights.get(flightOf(family, id, '_', version));
        if (running) joined.push([id, running]);
        else missing.push(id);
      }
      if (missing.length > 0) {
        const loading = load(missing);
        const names = missing.map((id) => {
          const flight = flightOf(family, id, '_', wanted.get(id) ?? 0);
          const one = loading.then((values) => values.get(id)?.value);
          // Whoever started it hears of the failure below.
          one.catch(() => {});
          flights.set(flight, one);
          return flight;
        });
        try {
          for (const [id, { version, value }] of await loading) {
            found.set(id, value);
            keep(family, id, '_', version, value);
          }
        } finally {
          for (const flight of names) flights.delete(flight);
        }
      }
      for (const [id, running] of joined) {
        figures.of(family.name).coalesced++;
        const value = (await running) as T | undefined;
        if (value !== undefined) found.set(id, value);
      }
      return found;
    },
    async invalidate(family, id, version, cause = {}) {
      const note: Note = {
        op: 'drop',
        version,
        at: Date.now(),
        by,
        eventId: cause.eventId,
        event: cause.event,
        actorId: cause.actorId ?? undefined,
        requestId: cause.requestId ?? undefined,
      };
      await redis.invalidate(nameOf(family.name, id), version, note);
    },
    story: (family, id) => redis.story(nameOf(family.name, id)),
    figures: () => ({
      families: figures.all(),
      memoryEntries: memory.size,
      memoryBytes: memory.calculatedSize,
    }),
    async consume({ family, id }, { max, windowSeconds }) {
      const [count, left] = await redis.consume(nameOf(family, id), windowSeconds * 1000);
      return { allowed: count <= max, retryAfterSeconds: Math.max(1, Math.ceil(left / 1000)) };
    },
    ping: () => redis.ping(),
    close: () => redis.close(),
  };
}
