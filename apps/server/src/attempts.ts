import type { Cache } from '@sparkroom/cache';

const FAILURES = { max: 10, windowSeconds: 600 };
const WINDOW_MS = FAILURES.windowSeconds * 1000;

/**
 * Guards one account against guessing: after ten failed sign-ins from an address within ten minutes, further ones are
 * refused before the password is looked at. Keyed by account *and* address, so that nobody can lock a colleague out.
 */
export function signInAttempts(cache: Pick<Cache, 'consume'>) {
  // Beside Redis, so that flushing or losing it does not hand out ten more guesses to this process.
  const local = new Map<string, { failures: number; until: number }>();
  /** Attempts whose end is not known yet, by key, and who waits for one of them to end. */
  const open = new Map<string, { count: number; waiting: Array<() => void> }>();
  const keyOf = (email: string, address: string) => `${address}|${email.trim().toLowerCase()}`.slice(0, 320);

  const failuresOf = (key: string): number => {
    const entry = local.get(key);
    return entry && entry.until > Date.now() ? entry.failures : 0;
  };

  /** Counts a failure; other processes' failures count too as soon as one is counted here. */
  async function failed(key: string): Promise<void> {
    const now = Date.now();
    if (local.size > 10_000) for (const [k, v] of local) if (v.until <= now) local.delete(k);
    const entry = local.get(key);
    local.set(
      key,
      entry && entry.until > now
        ? { ...entry, failures: entry.failures + 1 }
        : { failures: 1, until: now + WINDOW_MS },
    );
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
  }

  return {
    /**
     * Runs one sign-in, unless there were too many failures. Attempts at the same moment count as failures until they
     * have ended, and further ones wait for them: a hundred guesses at once are ten.
     * @param attempt answers whether the sign-in failed for its password
     * @returns seconds to wait when refused, 0 when `attempt` ran
     */
    async run(email: string, address: string, attempt: () => Promise<boolean>): Promise<number> {
      const key = keyOf(email, address);
      let present: { count: number; waiting: Array<() => void> } | undefined;
      for (;;) {
        const failures = failuresOf(key);
        if (failures >= FAILURES.max) {
          return Math.max(1, Math.ceil(((local.get(key)?.until ?? 0) - Date.now()) / 1000));
        }
        present = open.get(key);
        if (!present || failures + present.count < FAILURES.max) break;
        const { waiting } = present;
        await new Promise<void>((resolve) => waiting.push(resolve));
      }
      present ??= { count: 0, waiting: [] };
      open.set(key, present);
      present.count++;
      try {
        if (await attempt()) await failed(key);
      } finally {
        present.count--;
        if (present.count === 0) open.delete(key);
        for (const go of present.waiting.splice(0)) go();
      }
      return 0;
    },
  };
}
