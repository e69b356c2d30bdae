import { recordTiming, StoreUnavailableError } from '@sparkroom/pools';
import { Cluster, Redis, type RedisOptions, type Result } from 'ioredis';
import { consumeScript, fillScript, invalidateScript, NOTES } from './scripts.ts';
import type { CacheSettings } from './settings.ts';

declare module 'ioredis' {
  interface RedisCommander<Context> {
    sparkFill(
      key: string,
      version: number,
      field: string,
      body: string,
      ttl: number,
      note: string,
    ): Result<number, Context>;
    sparkInvalidate(key: string, version: number, ttl: number, note: string): Result<number, Context>;
    sparkConsume(key: string, windowMs: number): Result<[count: number, leftMs: number], Context>;
  }
}

/**
 * A tombstone outlives any reader that may still hold what it read before the change (statement deadline plus
 * retries: under a minute), and stays a while longer so that people can see what emptied a key.
 */
export const TOMBSTONE_SECONDS = 600;

/** Milliseconds for which Redis is not asked after it did not answer: a hanging one costs one reader, not every. */
const RESTING_MS = 500;

/** What is stored under a key; `body` is JSON, null on a tombstone or when this variant is not there. */
export interface Stored {
  version: number;
  body: string | null;
}

/** One line of a key's story. */
export interface Note {
  op: 'fill' | 'drop';
  version: number;
  /** Milliseconds since 1970 on the clock of the process that did it. */
  at: number;
  /** The process: role, host and pid. */
  by: string;
  eventId?: string | undefined;
  event?: string | undefined;
  actorId?: string | undefined;
  requestId?: string | undefined;
}

export interface KeyStory {
  version: number;
  /** Seconds until it goes by itself. */
  ttlSeconds: number;
  variants: Array<{ name: string; bytes: number }>;
  refusedFills: number;
  /** Newest first. */
  notes: Note[];
}

/** The commands on Redis, one server or a cluster. Every command has a deadline; all throw StoreUnavailableError. */
export interface RedisTier {
  /** Whether it is worth asking: false for half a second after a failure. */
  readonly awake: boolean;
  /** In the order of `keys`; null where there is no such key. */
  getMany(keys: ReadonlyArray<{ key: string; variant: string }>): Promise<Array<Stored | null>>;
  /** @returns whether it was stored, was there already, or was refused because something newer is */
  fill(
    key: string,
    variant: string,
    value: { version: number; body: string; ttlSeconds: number },
    note: Note,
  ): Promise<'stored' | 'same' | 'refused'>;
  /** @returns whether anything older than `version` was there or a tombstone was left */
  invalidate(key: string, version: number, note: Note): Promise<boolean>;
  consume(key: string, windowMs: number): Promise<[count: number, leftMs: number]>;
  story(key: string): Promise<KeyStory | null>;
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** Connects. The site works without Redis, so this does not wait for the connection. */
export function openRedisTier(settings: CacheSettings, onError: (error: Error) => void): RedisTier {
  const redis = connect(settings);
  redis.on('error', onError);
  redis.defineCommand('sparkFill', { numberOfKeys: 1, lua: fillScript });
  redis.defineCommand('sparkInvalidate', { numberOfKeys: 1, lua: invalidateScript });
  redis.defineCommand('sparkConsume', { numberOfKeys: 1, lua: consumeScript });
  let restingUntil = 0;

  async function timed<T>(work: () => Promise<T>): Promise<T> {
    const started = performance.now();
    try {
      const value = await work();
      restingUntil = 0;
      return value;
    } catch (error) {
      restingUntil = performance.now() + RESTING_MS;
      onError(error as Error);
      throw new StoreUnavailableError('redis', { cause: error });
    } finally {
      recordTiming('redis', performance.now() - started);
    }
  }

  return {
    get awake() {
      return performance.now() >= restingUntil;
    },
    getMany(keys) {
      // One command for each key, written in one go: a pipeline over several slots is refused by a cluster.
      return timed(() =>
        Promise.all(
          keys.map(async ({ key, variant }) => {
            const [version, body] = await redis.hmget(key, 'v', `b:${variant}`);
            return version == null ? null : { version: Number(version), body: body ?? null };
          }),
        ),
      );
    },
    async fill(key, variant, { version, body, ttlSeconds }, note) {
      const done = await timed(() =>
        redis.sparkFill(key, version, `b:${variant}`, body, ttlSeconds, JSON.stringify(note)),
      );
      return done === 1 ? 'stored' : done === 2 ? 'same' : 'refused';
    },
    async invalidate(key, version, note) {
      return (
        (await timed(() => redis.sparkInvalidate(key, version, TOMBSTONE_SECONDS, JSON.stringify(note)))) ===
        1
      );
    },
    consume: (key, windowMs) => timed(() => redis.sparkConsume(key, windowMs)),
    story(key) {
      return timed(async () => {
        const [hash, ttl] = await Promise.all([redis.hgetall(key), redis.ttl(key)]);
        if (hash.v === undefined) return null;
        // A ring: the newest note is at the place of the count.
        const count = Number(hash.n ?? 0);
        const notes = Array.from({ length: NOTES }, (_, back) => hash[`t${(count + NOTES - back) % NOTES}`])
          .filter((text) => text !== undefined)
          .map((text) => JSON.parse(text) as Note);
        return {
          version: Number(hash.v),
          ttlSeconds: ttl,
          variants: Object.entries(hash)
            .filter(([field]) => field.startsWith('b:'))
            .map(([field, body]) => ({ name: field.slice(2), bytes: Buffer.byteLength(body) })),
          refusedFills: Number(hash.r ?? 0),
          notes,
        };
      });
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

function connect(settings: CacheSettings): Redis | Cluster {
  const each: RedisOptions = {
    maxRetriesPerRequest: 0,
    commandTimeout: settings.commandMs,
    connectTimeout: 2000,
  };
  const keyPrefix = `${settings.prefix}:`;
  if (!settings.url.startsWith('redis-cluster:')) {
    return new Redis(settings.url, {
      ...each,
      keyPrefix,
      // Waiting in a queue for a Redis that is away would make every request wait.
      enableOfflineQueue: false,
      retryStrategy: (times) => Math.min(1000, 50 * times),
    });
  }
  const first = new URL(settings.url.split(',')[0] as string);
  const nodes = settings.url
    .replace(/^redis-cluster:\/\/(?:[^@]*@)?/, '')
    .split(',')
    .map((node) => ({ host: node.split(':')[0] as string, port: Number(node.split(':')[1] ?? 6379) }));
  return new Cluster(nodes, {
    keyPrefix,
    enableOfflineQueue: false,
    slotsRefreshTimeout: 2000,
    clusterRetryStrategy: (times) => Math.min(1000, 50 * times),
    // Short: a node that went away is asked again only until its replica has taken over or the deadline ends.
    retryDelayOnFailover: 50,
    redisOptions: { ...each, ...(first.password ? { password: decodeURIComponent(first.password) } : {}) },
  });
}
