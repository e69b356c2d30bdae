import { recordTiming, StoreUnavailableError } from '@sparkroom/pools';
import { Redis, type Result } from 'ioredis';
import { consumeScript, fillScript, invalidateScript } from './scripts.ts';
import type { CacheSettings } from './settings.ts';

/** One cached value: `version` is that of the row it was read with. */
export interface Entry {
  version: number;
  body: unknown;
}

/** A key: a family from the list of families in core, and an id. */
export interface Key {
  family: string;
  id: string;
}

export interface Cache {
  /**
   * Entries by id. `available: false` means Redis did not answer in time: that is not a miss, so the caller reads the
   * store but does not fill.
   */
  getMany(
    family: string,
    ids: readonly string[],
  ): Promise<{ entries: Map<string, Entry>; available: boolean }>;
  /**
   * Stores a value unless a newer version, or a tombstone of a newer version, is there.
   * @returns whether it was stored; false too when Redis did not answer
   */
  fill(key: Key, version: number, body: unknown, ttlSeconds: number): Promise<boolean>;
  /**
   * Drops what is older than `version` and leaves a tombstone, so that a slow reader cannot bring it back.
   * @throws StoreUnavailableError: an invalidation that was not done must be done again
   */
  invalidate(key: Key, version: number): Promise<void>;
  /**
   * Counts one use of `key` and says whether it is within `max` for each `windowSeconds` (fixed window from first use).
   * @throws StoreUnavailableError
   */
  consume(
    key: Key,
    rule: { max: number; windowSeconds: number },
  ): Promise<{ allowed: boolean; retryAfterSeconds: number }>;
  /** @throws StoreUnavailableError */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** Longer than any reader can hold a value it read before the change: statement deadline plus retries. */
const TOMBSTONE_SECONDS = 60;

declare module 'ioredis' {
  interface RedisCommander<Context> {
    sparkFill(key: string, version: number, body: string, ttl: number): Result<number, Context>;
    sparkInvalidate(key: string, version: number, ttl: number): Result<number, Context>;
    sparkConsume(key: string, windowMs: number): Result<[count: number, leftMs: number], Context>;
  }
}

/** Connects to Redis. The site works without it, so this does not wait for the connection. */
export function openCache(settings: CacheSettings, onError: (error: Error) => void = () => {}): Cache {
  const redis = new Redis(settings.url, {
    // Waiting in a queue for a Redis that is away would make every request wait.
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    commandTimeout: settings.commandMs,
    connectTimeout: 2000,
    retryStrategy: (times) => Math.min(1000, 50 * times),
    keyPrefix: `${settings.prefix}:`,
  });
  redis.on('error', onError);
  redis.defineCommand('sparkFill', { numberOfKeys: 1, lua: fillScript });
  redis.defineCommand('sparkInvalidate', { numberOfKeys: 1, lua: invalidateScript });
  redis.defineCommand('sparkConsume', { numberOfKeys: 1, lua: consumeScript });

  async function timed<T>(work: () => Promise<T>): Promise<T> {
    const started = performance.now();
    try {
      return await work();
    } catch (error) {
      throw new StoreUnavailableError('redis', { cause: error });
    } finally {
      recordTiming('redis', performance.now() - started);
    }
  }
  const name = (key: Key) => `${key.family}:${key.id}`;

  return {
    async getMany(family, ids) {
      const entries = new Map<string, Entry>();
      if (ids.length === 0) return { entries, available: true };
      try {
        await timed(async () => {
          const pipeline = redis.pipeline();
          for (const id of ids) pipeline.hmget(name({ family, id }), 'v', 'body');
          const results = (await pipeline.exec()) ?? [];
          results.forEach(([error, value], i) => {
            if (error) throw error;
            const [version, body] = value as [string | null, string | null];
            const id = ids[i];
            if (id !== undefined && version !== null && body !== null) {
              entries.set(id, { version: Number(version), body: JSON.parse(body) });
            }
          });
        });
        return { entries, available: true };
      } catch (error) {
        onError(error as Error);
        return { entries: new Map(), available: false };
      }
    },
    async fill(key, version, body, ttlSeconds) {
      try {
        return (
          (await timed(() => redis.sparkFill(name(key), version, JSON.stringify(body), ttlSeconds))) === 1
        );
      } catch (error) {
        onError(error as Error);
        return false;
      }
    },
    async invalidate(key, version) {
      await timed(() => redis.sparkInvalidate(name(key), version, TOMBSTONE_SECONDS));
    },
    async consume(key, { max, windowSeconds }) {
      const [count, left] = await timed(() => redis.sparkConsume(name(key), windowSeconds * 1000));
      return { allowed: count <= max, retryAfterSeconds: Math.max(1, Math.ceil(left / 1000)) };
    },
    async ping() {
      await timed(() => redis.ping());
    },
    async close() {
      // QUIT waits for what is on its way; a Redis that is away has nothing to wait for.
      await redis.quit().catch(() => redis.disconnect());
    },
  };
}
