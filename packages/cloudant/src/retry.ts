/** Longest pause before the first repetition, doubled for each further one. */
const baseMs = 50;
const capMs = 1000;

/** How often a call that may be repeated is repeated. */
export const maxRetries = 2;

/**
 * A random pause of up to 50 ms, 100 ms, 200 ms ... for repetition 0, 1, 2 ..., so that callers who failed together do
 * not come back together ("full jitter": https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/).
 */
export function jitter(repetition: number, random: () => number = Math.random): number {
  return random() * Math.min(capMs, baseMs * 2 ** repetition);
}

/**
 * Milliseconds asked for by a `Retry-After` header, given in seconds or as a date (RFC 9110, 10.2.3).
 * @returns undefined when there is none or it makes no sense.
 */
export function parseRetryAfter(value: string | undefined, now: number = Date.now()): number | undefined {
  if (value === undefined || value.trim() === '') return undefined;
  if (/^\s*\d+\s*$/.test(value)) return Number(value) * 1000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** Statuses that say "not now" rather than "not so". */
export function isUnavailable(statusCode: number): boolean {
  return statusCode === 429 || statusCode === 502 || statusCode === 503 || statusCode === 504;
}
