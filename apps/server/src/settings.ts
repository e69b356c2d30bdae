/** What the host itself needs to know; the stores read their own settings. */
export interface ServerSettings {
  port: number;
  host: string;
  /** The address people type, `https://sparkroom.example`. Cookies, links and the origin check follow it. */
  url: string;
  /** At least 32 characters. Signs sessions. */
  authSecret: string;
  production: boolean;
  /** Proxies in front whose X-Forwarded-For is believed: addresses or networks, comma separated. */
  trustProxy: string | false;
  /** Calls in one batched request at most. */
  maxBatchSize: number;
  /** Body of one request at most, in bytes. */
  bodyLimit: number;
  /** Requests of one address in a minute at most. */
  requestsPerMinute: number;
  /** Longest life of a live feed in milliseconds, give or take a fifth. */
  liveMs: number;
  logLevel: string;
}

/**
 * Reads SPARKROOM_PORT (3000), SPARKROOM_HOST (127.0.0.1), SPARKROOM_URL, SPARKROOM_AUTH_SECRET, SPARKROOM_TRUST_PROXY,
 * SPARKROOM_MAX_BATCH (20), SPARKROOM_BODY_LIMIT (1 MiB), SPARKROOM_REQUESTS_PER_MINUTE (100,000), SPARKROOM_LIVE_MS
 * (30 minutes), SPARKROOM_LOG_LEVEL and NODE_ENV.
 * @throws Error naming the variable that is missing or wrong; there is no default secret, in production or elsewhere
 */
export function readServerSettings(env: NodeJS.ProcessEnv): ServerSettings {
  const port = whole(env, 'SPARKROOM_PORT', 3000, 0, 65_535);
  const host = env.SPARKROOM_HOST || '127.0.0.1';
  const url = env.SPARKROOM_URL || `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  if (!URL.canParse(url)) throw new Error('SPARKROOM_URL must be an address like https://sparkroom.example');
  const authSecret = env.SPARKROOM_AUTH_SECRET ?? '';
  if (authSecret.length < 32) {
    throw new Error(
      'SPARKROOM_AUTH_SECRET must have at least 32 characters. "npm start" makes one; elsewhere use: openssl rand -base64 32',
    );
  }
  return {
    port,
    host,
    url,
    authSecret,
    production: env.NODE_ENV === 'production',
    trustProxy: env.SPARKROOM_TRUST_PROXY || false,
    maxBatchSize: whole(env, 'SPARKROOM_MAX_BATCH', 20, 1, 1000),
    bodyLimit: whole(env, 'SPARKROOM_BODY_LIMIT', 1024 * 1024, 1024, 64 * 1024 * 1024),
    requestsPerMinute: whole(env, 'SPARKROOM_REQUESTS_PER_MINUTE', 100_000, 1, 10_000_000),
    liveMs: whole(env, 'SPARKROOM_LIVE_MS', 30 * 60_000, 1_000, 24 * 3_600_000),
    logLevel: env.SPARKROOM_LOG_LEVEL || 'info',
  };
}

function whole(env: NodeJS.ProcessEnv, name: string, fallback: number, min: number, max: number): number {
  const value = env[name] === undefined || env[name] === '' ? fallback : Number(env[name]);
  if (!Number.isInteger(value) || value < min || value > max) {
    throw new Error(`${name} must be a whole number from ${min} to ${max}.`);
  }
  return value;
}
