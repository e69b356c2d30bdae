import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Mysql } from '@sparkroom/mysql';
import { findSession } from '@sparkroom/mysql';
import type { ServerSettings } from './settings.ts';

/** Name of the session cookie, without the prefix that HTTPS adds. */
export const COOKIE_PREFIX = 'sparkroom';
const COOKIE = new RegExp(`(?:^|;\\s*)(?:__Secure-)?${COOKIE_PREFIX}\\.session_token=([^;]+)`);

export interface SessionUser {
  userId: string;
  role: 'user' | 'admin';
  /** Version of the person's lists, read in the same query. */
  listsVersion: number;
}

export interface SessionReader {
  /**
   * The person of a valid session that has not expired, or null.
   * @throws StoreUnavailableError when the database is away
   */
  read(headers: {
    cookie?: string | undefined;
    authorization?: string | undefined;
  }): Promise<SessionUser | null>;
}

/** What a token can be; anything else would only trouble the database. */
const TOKEN = /^[\x21-\x7e]{1,255}$/;

/**
 * Checks the session of a request: one HMAC and one SQL look-up. better-auth makes, renews and ends the sessions; its
 * own check runs its whole request pipeline, which cost a third of the CPU of a small call. A test compares the two
 * answer by answer. (Format: `<token>.<base64 HMAC-SHA-256 of the token>`, in the cookie URL-encoded.)
 */
export function sessionReader(settings: ServerSettings, mysql: Mysql): SessionReader {
  const signatureOf = (token: string): Buffer =>
    createHmac('sha256', settings.authSecret).update(token).digest();

  function verify(value: string): string | null {
    const decoded = decode(value);
    const dot = decoded.lastIndexOf('.');
    if (dot < 1) return null;
    const token = decoded.slice(0, dot);
    const given = Buffer.from(decoded.slice(dot + 1), 'base64');
    const right = signatureOf(token);
    return given.length === right.length && timingSafeEqual(given, right) ? token : null;
  }

  /** The token of a request: a bearer token (signed, or bare as sign-in's answer has it) comes before the cookie. */
  function tokenOf(headers: {
    cookie?: string | undefined;
    authorization?: string | undefined;
  }): string | null {
    const bearer = /^bearer\s+(\S+)\s*$/i.exec(headers.authorization ?? '')?.[1];
    if (bearer) {
      const token = bearer.includes('.') ? verify(bearer) : decode(bearer);
      if (token) return token;
    }
    const cookie = COOKIE.exec(headers.cookie ?? '')?.[1];
    return cookie ? verify(cookie) : null;
  }

  return {
    async read(headers) {
      const token = tokenOf(headers);
      if (token === null || !TOKEN.test(token)) return null;
      const session = await findSession(mysql.db, token);
      if (!session) return null;
      return { userId: session.userId, role: session.role, listsVersion: Number(session.version) };
    },
  };
}

function decode(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}
