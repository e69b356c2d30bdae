import { describe, expect, it } from 'vitest';
import { Bell, growing, pause, within } from './waiting.ts';

describe('waiting', () => {
  it('ends a pause early when told', async () => {
    const control = new AbortController();
    const waiting = pause(60_000, control.signal);
    control.abort();
    expect(await waiting).toBe(false);
    expect(await pause(60_000, control.signal)).toBe(false);
    expect(await pause(1, new AbortController().signal)).toBe(true);
  });

  it('grows delays up to a bound, for any number of tries', () => {
    for (let attempt = 1; attempt < 5_000; attempt += 7) {
      const delay = growing(attempt, 100, 5_000);
      expect(delay).toBeGreaterThanOrEqual(80);
      expect(delay).toBeLessThanOrEqual(6_000);
    }
  });

  it('tells whether a promise came in time', async () => {
    expect(await within(Promise.resolve(), 1_000)).toBe(true);
    expect(await within(new Promise(() => {}), 5)).toBe(false);
  });

  it('remembers one ring for the next waiter', async () => {
    const bell = new Bell();
    bell.ring();
    bell.ring();
    expect(await bell.wait(1_000)).toBe(true);
    expect(await bell.wait(1)).toBe(false);
    const waiting = bell.wait(60_000);
    bell.ring();
    expect(await waiting).toBe(true);
  });
});
