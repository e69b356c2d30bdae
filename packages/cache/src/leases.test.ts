import { beforeEach, describe, expect, test } from 'vitest';
import { createLeases, type Leases } from './leases.ts';

let now = 0;
let leases: Leases;
beforeEach(() => {
  now = 1_000;
  leases = createLeases(() => now);
  leases.beat(now);
});

const grant = (key: string, version: number) => leases.grant(key, version, leases.begin());

describe('a lease', () => {
  test('holds until its event comes', () => {
    grant('room:a', 3);
    expect(leases.get('room:a')).toBe(3);
    leases.drop('room:a');
    expect(leases.get('room:a')).toBeUndefined();
  });

  test('ends after five seconds, however well the feed is', () => {
    grant('room:a', 3);
    now += 5_000;
    leases.beat(now);
    expect(leases.get('room:a')).toBe(3);
    now += 1;
    expect(leases.get('room:a')).toBeUndefined();
  });

  test('does not count while the feed is late, and counts again when it has caught up', () => {
    grant('room:a', 3);
    now += 2_501;
    expect(leases.get('room:a')).toBeUndefined();
    leases.beat(now);
    expect(leases.get('room:a')).toBe(3);
  });

  test('is not given to what was read before the event came', () => {
    const begun = leases.begin();
    leases.drop('room:a');
    leases.grant('room:a', 3, begun);
    expect(leases.get('room:a')).toBeUndefined();
    grant('room:a', 4);
    expect(leases.get('room:a')).toBe(4);
  });

  test('is not given to what was read before the feed broke, and needs a new beat', () => {
    const begun = leases.begin();
    grant('room:b', 1);
    leases.interrupted();
    leases.beat(now);
    leases.grant('room:a', 3, begun);
    expect(leases.get('room:a')).toBeUndefined();
    expect(leases.get('room:b')).toBeUndefined();
    leases.interrupted();
    grant('room:a', 3);
    expect(leases.get('room:a')).toBeUndefined();
  });

  test('never goes back', () => {
    grant('room:a', 4);
    grant('room:a', 3);
    expect(leases.get('room:a')).toBe(4);
  });
});

test('answers given between the commit and its event are counted as stale', () => {
  grant('room:a', 3);
  leases.get('room:a');
  leases.drop('room:a', Date.now() - 50);
  grant('room:b', 3);
  leases.get('room:b');
  leases.drop('room:b', Date.now() + 50);
  expect(leases.figures()).toMatchObject({ served: 2, servedStale: 1 });
});
