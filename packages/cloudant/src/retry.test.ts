import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isUnavailable, jitter, parseRetryAfter } from './retry.ts';

describe('parseRetryAfter', () => {
  const now = Date.parse('2026-01-01T00:00:00Z');
  it.each([
    ['2', 2000],
    [' 0 ', 0],
    ['Thu, 01 Jan 2026 00:00:05 GMT', 5000],
    ['Wed, 31 Dec 2025 23:59:00 GMT', 0],
    ['soon', undefined],
    ['', undefined],
    [undefined, undefined],
  ])('reads %j as %j ms', (value, ms) => {
    expect(parseRetryAfter(value, now)).toBe(ms);
  });
});

describe('jitter', () => {
  it('lies between 0 and a bound that doubles up to a second', () => {
    fc.assert(
      fc.property(
        fc.nat(100),
        fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
        (repetition, random) => {
          const ms = jitter(repetition, () => random);
          expect(ms).toBeGreaterThanOrEqual(0);
          expect(ms).toBeLessThanOrEqual(Math.min(1000, 50 * 2 ** repetition));
        },
      ),
    );
    expect(jitter(1, () => 0.5)).toBe(50);
  });
});

describe('isUnavailable', () => {
  it('is about what passes', () => {
    expect([429, 502, 503, 504].every(isUnavailable)).toBe(true);
    expect([400, 401, 404, 409, 413, 500].some(isUnavailable)).toBe(false);
  });
});
