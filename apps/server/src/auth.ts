import type { Cache } from '@sparkroom/cache';
import { Email, line } from '@sparkroom/contract';
import { newId } from '@sparkroom/core';
import { touchPerson } from '@sparkroom/mysql';
import { StoreUnavailableError } from '@sparkroom/pools';
import { betterAuth } from 'better-auth';
import { APIError } from 'better-auth/api';
import { bearer } from 'better-auth/plugins';
import type { Logger } from 'pino';
import { COOKIE_PREFIX } from './sessions.ts';
import type { ServerSettings } from './settings.ts';
import type { Stores } from './stores.ts';

/** The header in which the host tells the auth library who is calling; what a client sends under it is dropped. */
export const ADDRESS_HEADER = 'x-sparkroom-address';

/** Uses of one address in a minute. */
const SIGN_INS = { window: 60, max: 300 };
const SIGN_UPS = { window: 60, max: 60 };

/**
 * Accounts and sessions: e-mail and password (scrypt, the library's own), session cookie or bearer token.
 * Sessions live in MySQL; limits are counted in Redis, in this process while Redis is away.
 */
export function createAuth(
  settings: ServerSettings,
  stores: Pick<Stores, 'authDatabase' | 'cache' | 'mysql' | 'registrations'>,
  log: Logger,
) {
  return betterAuth({
    appName: 'Sparkroom',
    baseURL: settings.url,
    basePath: '/api/auth',
    secret: settings.authSecret,
    trustedOrigins: allowedOrigins(settings),
    database: { db: stores.authDatabase.db, type: 'mysql', transaction: true },
    telemetry: { enabled: false },
    logger: {
      log: (level, message) => log[level === 'error' ? 'error' : 'debug']({ part: 'auth' }, message),
    },
    // What is not an answer comes to our error handler, instead of going to the console as an empty 500.
    onAPIError: { throw: true },
    emailAndPassword: { enabled: true, minPasswordLength: 10, maxPasswordLength: 128 },
    user: {
      fields: { emailVerified: 'email_verified', createdAt: 'created_at', updatedAt: 'updated_at' },
      additionalFields: {
        // Never from input: who could sign up as admin would be one.
        role: { type: 'string', input: false, required: false, defaultValue: 'user' },
      },
    },
    session: { expiresIn: 7 * 86_400, updateAge: 86_400 },
    rateLimit: {
      enabled: true,
      window: 60,
      max: 600,
      customRules: { '/sign-in/*': SIGN_INS, '/sign-up/*': SIGN_UPS, '/change-password': SIGN_UPS },
      customStorage: limiter(stores.cache),
    },
    advanced: {
      database: { generateId: () => newId() },
      ipAddress: { ipAddressHeaders: [ADDRESS_HEADER] },
      defaultCookieAttributes: { sameSite: 'lax', httpOnly: true, secure: settings.url.startsWith('https:') },
      cookiePrefix: COOKIE_PREFIX,
    },
    databaseHooks: {
      user: {
        create: {
          async before(user) {
            if (!Email.safeParse(user.email).success)
              throw invalid('email: Write an e-mail address like ana@example.com.');
            return { data: { ...user, name: personName(user.name), image: null } };
          },
          async after(user) {
            // The account is committed already; what fails here is made good by the worker.
            await stores.registrations
              .announce(user.id)
              .catch((error) => log.warn({ err: error }, 'user.registered is left to the worker'));
          },
        },
        update: {
          async before(user) {
            const { image, ...data } = user;
            if (image) throw invalid('Pictures of people are not taken yet.');
            return { data: data.name === undefined ? data : { ...data, name: personName(data.name) } };
          },
          async after(user) {
            // Names are shown in cached lists. Committed already; one that is not counted is old for an hour at most.
            await touchPerson(stores.mysql.db, user.id).catch((error) =>
              log.warn({ err: error }, 'a changed account is not counted yet'),
            );
          },
        },
      },
    },
    plugins: [bearer()],
  });
}

export type Auth = ReturnType<typeof createAuth>;

/** Origins whose pages may call us with a cookie. */
export function allowedOrigins(settings: ServerSettings): string[] {
  const own = new URL(settings.url);
  const origins = [own.origin];
  if (['127.0.0.1', 'localhost', '[::1]'].includes(own.hostname)) {
    for (const name of ['127.0.0.1', 'localhost', '[::1]'])
      origins.push(`${own.protocol}//${name}:${own.port}`);
  }
  return [...new Set(origins)];
}

const PersonName = line(1, 100);

const invalid = (message: string): APIError =>
  new APIError('BAD_REQUEST', { code: 'INVALID_INPUT', message });

/** A name by the rules of every text people type. @throws APIError 400 in words */
function personName(name: string): string {
  const parsed = PersonName.safeParse(name);
  if (!parsed.success) throw invalid(`name: ${parsed.error.issues[0]?.message ?? 'Write a name.'}`);
  return parsed.data;
}

/** What of the library is open; the rest of its paths answer as if they were not there. */
export const authPaths: ReadonlySet<string> = new Set(
  [
    'ok',
    'get-session',
    'sign-up/email',
    'sign-in/email',
    'sign-out',
    'update-user',
    'change-password',
    'list-sessions',
    'revoke-session',
    'revoke-sessions',
    'revoke-other-sessions',
  ].map((path) => `/api/auth/${path}`),
);

/** Counts in Redis; while it is away, in this process, so that a dead cache opens no door. */
function limiter(cache: Cache) {
  const local = new Map<string, { count: number; until: number }>();
  return {
    async consume(key: string, rule: { window: number; max: number }) {
      try {
        const { allowed, retryAfterSeconds } = await cache.consume(
          { family: 'rate', id: key },
          { max: rule.max, windowSeconds: rule.window },
        );
        return { allowed, retryAfter: allowed ? null : retryAfterSeconds };
      } catch (error) {
        if (!(error instanceof StoreUnavailableError)) throw error;
        const now = Date.now();
        if (local.size > 10_000) for (const [k, v] of local) if (v.until <= now) local.delete(k);
        let entry = local.get(key);
        if (!entry || entry.until <= now) {
          entry = { count: 0, until: now + rule.window * 1000 };
          local.set(key, entry);
        }
        entry.count++;
        const allowed = entry.count <= rule.max;
        return { allowed, retryAfter: allowed ? null : Math.ceil((entry.until - now) / 1000) };
      }
    },
  };
}
