import type { CoherenceSettings } from '../settings.ts';
import type { Tier } from './checker.ts';

/** Milliseconds for one answer. */
const DEADLINE_MS = 5_000;

/**
 * A server's public procedures over HTTP, as the one account whose token is configured. What that account has no right
 * to answers null and decides nothing.
 */
export function serverTier(name: string, url: string, { token, userId }: CoherenceSettings): Tier {
  return {
    name,
    as: userId,
    async read({ reading }) {
      const input =
        reading.input === null ? '' : `?input=${encodeURIComponent(JSON.stringify(reading.input))}`;
      const response = await fetch(`${url}/trpc/${reading.procedure}${input}`, {
        headers: { authorization: `Bearer ${token}` },
        signal: AbortSignal.timeout(DEADLINE_MS),
      });
      const body = (await response.json()) as { result?: { data: unknown } };
      if (response.ok && body.result) return body.result.data;
      if (response.status === 404 || response.status === 403) return null;
      throw new Error(`${url} answered ${response.status}`);
    },
  };
}
