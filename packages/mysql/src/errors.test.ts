import { StoreUnavailableError } from '@sparkroom/pools';
import { describe, expect, test } from 'vitest';
import { isDuplicate, isTransient, translateError } from './errors.ts';
import { isoOf, partitionOf } from './outbox.ts';
import { readMysqlSettings } from './settings.ts';

const driver = (errno: number, code = '', message = 'x') =>
  Object.assign(new Error(message), { errno, code });

describe('errors of the driver', () => {
  test.each([
    [-111, 'ECONNREFUSED'],
    [0, 'PROTOCOL_CONNECTION_LOST'],
    [0, 'PROTOCOL_SEQUENCE_TIMEOUT'],
    [1053, 'ER_SERVER_SHUTDOWN'],
    [1927, ''],
    [1969, ''],
    [3024, 'ER_QUERY_TIMEOUT'],
  ])('%d %s means that the store is away', (errno, code) => {
    const error = driver(errno, code, 'secret: select 1');
    const translated = translateError(error) as StoreUnavailableError;
    expect(translated).toBeInstanceOf(StoreUnavailableError);
    expect([translated.store, translated.message, translated.cause]).toEqual([
      'mysql',
      'mysql is not available',
      error,
    ]);
    expect(translateError(translated)).toBe(translated);
  });

  test('others stay what they are', () => {
    for (const error of [
      driver(1062, 'ER_DUP_ENTRY'),
      driver(1064, 'ER_PARSE_ERROR'),
      new Error('x'),
      null,
    ]) {
      expect(translateError(error)).toBe(error);
    }
  });

  test('deadlock, lock wait and changed snapshot are worth another try', () => {
    expect([1213, 1205, 1020].every((n) => isTransient(driver(n)))).toBe(true);
    expect([1062, 1064, 0].some((n) => isTransient(driver(n)))).toBe(false);
    expect(isTransient(undefined)).toBe(false);
  });

  test('a taken key is known by its name', () => {
    const error = driver(1062, 'ER_DUP_ENTRY', "Duplicate entry 'x' for key 'invitation.invitation_open'");
    expect(isDuplicate(error)).toBe(true);
    expect(isDuplicate(error, 'invitation_open')).toBe(true);
    expect(isDuplicate(error, 'user_email')).toBe(false);
    expect(isDuplicate(driver(1213))).toBe(false);
  });
});

test('a stored time reads as UTC', () => {
  expect(isoOf('2026-11-30 09:12:05.123456')).toBe('2026-11-30T09:12:05.123456Z');
});

test('partitions are stable: an aggregate never moves', () => {
  // CRC-32 modulo 4, as any other program computes it. Changing these moves events of living aggregates to another relay while older ones still wait.
  expect(['a', 'b', 'c', 'd'].map((id) => partitionOf('idea', id))).toEqual([0, 2, 0, 3]);
});

describe('settings', () => {
  test('say what is missing or wrong by the variable’s name, never by its value', () => {
    expect(() => readMysqlSettings({})).toThrow('SPARKROOM_MYSQL_URL is not set');
    const env = { SPARKROOM_MYSQL_URL: 'mysql://a:secret@h/d' };
    expect(readMysqlSettings(env)).toEqual({
      url: env.SPARKROOM_MYSQL_URL,
      connections: 20,
      acquireMs: 5000,
      statementMs: 10_000,
    });
    expect(() => readMysqlSettings({ ...env, SPARKROOM_MYSQL_CONNECTIONS: 'many' })).toThrow(
      'SPARKROOM_MYSQL_CONNECTIONS must be a whole number of at least 1.',
    );
  });
});
