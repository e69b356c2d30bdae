/** Where Redis is and how long a command may take. */
export interface CacheSettings {
  /** `redis://[:password@]host:port`, or `redis-cluster://[:password@]host:port,host:port`. */
  url: string;
  /** First part of every key: `<prefix>:<family>:<id>`. */
  prefix: string;
  /** Deadline of one command in milliseconds; after it the caller goes to the store behind. */
  commandMs: number;
  /** Bytes of values that this process remembers at most. */
  memoryBytes: number;
  /** How this process signs what it fills and drops. Default: host and pid. */
  instance?: string;
}

/**
 * Reads `SPARKROOM_REDIS_URL`, `SPARKROOM_REDIS_PREFIX` (default `sparkroom`), `SPARKROOM_REDIS_COMMAND_MS` (300),
 * `SPARKROOM_CACHE_MEMORY_MB` (64).
 * @throws Error naming the variable that is missing or wrong
 */
export function readCacheSettings(env: NodeJS.ProcessEnv): CacheSettings {
  const url = env.SPARKROOM_REDIS_URL;
  if (!url) throw new Error('SPARKROOM_REDIS_URL is not set. Example: redis://127.0.0.1:6379');
  const whole = (name: string, fallback: number): number => {
    const value = Number(env[name] || fallback);
    if (!Number.isInteger(value) || value < 1)
      throw new Error(`${name} must be a whole number of at least 1.`);
    return value;
  };
  return {
    url,
    prefix: env.SPARKROOM_REDIS_PREFIX || 'sparkroom',
    commandMs: whole('SPARKROOM_REDIS_COMMAND_MS', 300),
    memoryBytes: whole('SPARKROOM_CACHE_MEMORY_MB', 64) * 1024 * 1024,
  };
}
