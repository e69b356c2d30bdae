/** Where Redis is and how long a command may take. */
export interface CacheSettings {
  /** `redis://[:password@]host:port` */
  url: string;
  /** First part of every key: `<prefix>:<family>:<id>`. */
  prefix: string;
  /** Deadline of one command in milliseconds; after it the caller goes to the store behind. */
  commandMs: number;
}

/**
 * Reads `SPARKROOM_REDIS_URL`, `SPARKROOM_REDIS_PREFIX` (default `sparkroom`), `SPARKROOM_REDIS_COMMAND_MS` (300).
 * @throws Error naming the variable that is missing or wrong
 */
export function readCacheSettings(env: NodeJS.ProcessEnv): CacheSettings {
  const url = env.SPARKROOM_REDIS_URL;
  if (!url) throw new Error('SPARKROOM_REDIS_URL is not set. Example: redis://127.0.0.1:6379');
  const commandMs = Number(env.SPARKROOM_REDIS_COMMAND_MS || 300);
  if (!Number.isInteger(commandMs) || commandMs < 1) {
    throw new Error('SPARKROOM_REDIS_COMMAND_MS must be a whole number of at least 1.');
  }
  return { url, prefix: env.SPARKROOM_REDIS_PREFIX || 'sparkroom', commandMs };
}
