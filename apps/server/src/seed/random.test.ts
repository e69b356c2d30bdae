import fc from 'fast-check';
import { expect, test } from 'vitest';
import { apportion, Random, starsFor } from './random.ts';

test('the same key gives the same numbers, another key others', () => {
  const numbers = (key: string) => {
    const random = new Random(key);
    return Array.from({ length: 50 }, () => random.next());
  };
  expect(numbers('1/a')).toEqual(numbers('1/a'));
  expect(numbers('1/a')).not.toEqual(numbers('2/a'));
  expect(numbers('1/a/0')).not.toEqual(numbers('1/a/1'));
});

test('numbers are spread evenly', () => {
  const random = new Random('even');
  const tenths = Array.from({ length: 10 }, () => 0);
  for (let i = 0; i < 20_000; i++) {
    const tenth = Math.floor(random.next() * 10);
    tenths[tenth] = (tenths[tenth] ?? 0) + 1;
  }
  for (const count of tenths) expect(count).toBeGreaterThan(1500);
});

test('a sample has different items and never more than there are', () => {
  fc.assert(
    fc.property(
      fc.string(),
      fc.integer({ min: 0, max: 40 }),
      fc.integer({ min: 0, max: 60 }),
      (key, size, count) => {
        const sample = new Random(key).sample([...Array(size).keys()], count);
        expect(sample).toHaveLength(Math.min(size, count));
        expect(new Set(sample).size).toBe(sample.length);
      },
    ),
  );
});

test('shares have exactly the sum asked for, within their limits', () => {
  const parts = fc.array(fc.integer({ min: 0, max: 50 }), { minLength: 1, maxLength: 30 });
  fc.assert(
    fc.property(parts, fc.double({ min: 0, max: 1, noNaN: true }), (caps, share) => {
      const room = caps.reduce((a, b) => a + b, 0);
      fc.pre(room > 0);
      const total = Math.floor(room * share);
      const shares = apportion(total, caps, caps);
      expect(shares.reduce((a, b) => a + b, 0)).toBe(total);
      for (const [i, part] of shares.entries()) expect(part).toBeLessThanOrEqual(caps[i] as number);
    }),
  );
  expect(() => apportion(5, [1, 1], [2, 2])).toThrow('no room for 1 of 5');
});

test('ids are ULIDs whose order is that of their times', () => {
  const random = new Random('ids');
  const ids = [1, 1000, Date.UTC(2026, 0, 1), Date.UTC(2026, 10, 1)].map((time) => random.ulid(time));
  for (const id of ids) expect(id).toMatch(/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/);
  expect(ids.toSorted()).toEqual(ids);
});

test('stars are whole and follow worth and temper', () => {
  const mean = (worth: number, temper: number) => {
    const random = new Random('stars');
    const stars = Array.from({ length: 500 }, () => starsFor(random, worth, temper));
    for (const s of stars) expect([1, 2, 3, 4, 5]).toContain(s);
    return stars.reduce((a, b) => a + b, 0) / stars.length;
  };
  expect(mean(4.5, 0)).toBeGreaterThan(mean(2, 0) + 1.5);
  expect(mean(3, 0.8)).toBeGreaterThan(mean(3, -0.8) + 1);
});
