import type { Cache } from '@sparkroom/cache';

const FAILURES = { max: 10, windowSeconds: 600 };
const WINDOW_MS = FAILURES.windowSeconds * 1000;

/**
 * Guards one account against guessing: after ten failed sign-ins from an address within ten minutes, further ones are
 * refused before the password is looked at. Keyed by account *and* address, so that nobody can lock a colleague out.
 */
export function signInAttempts(cache: Cache) {
  // Beside Redis, so that flushing or losing it does not hand out ten more guesses to this process.
  const local = new Map<string, { failures: number; until: number }>();
  const keyOf = (email: string, address: string) => `${address}|${email.trim().toLowerCase()}`.slice(0, 320);

  return {
    /** Seconds to wait, 0 when the attempt may go on. */
    blockedFor(email: string, address: string): number {
      const entry = local.get(keyOf(email, address));
      if (!entry || entry.until <= Date.now() || entry.failures < FAILURES.max) return 0;
      return Math.ceil((entry.until - Date.now()) / 1000);
    },
    /** Counts a failure; other processes' failures count too as soon as one is counted here. */
    async failed(email: string, address: string): Promise<void> {
      const key = keyOf(email, address);
      const now = Date.now();
      if (local.size > 10_000) for (const [k, v] of local) if (v.until <= now) local.delete(k);
      const entry = local.get(key);
      const next =
        entry && entry.until > now
          ? { ...entry, failures: entry.failures + 1 }
          : { failures: 1, until: now + WINDOW_MS };
      local.set(key, next);
      try {
        const shared = await cache.consume(
          { family: 'signin', id: key },
          { ...FAILURES, max: FAILURES.max - 1 },
        );
        if (!shared.allowed) {
          local.set(key, { failures: FAILURES.max, until: now + shared.retryAfterSeconds * 1000 });
        }
      } catch {
        // Redis is away: this process counts alone.
      }
    },
  };
}
