import { expect, test } from 'vitest';
import { saysDiskFull } from './trouble.ts';

test.each([
  Object.assign(new Error('write'), { code: 'ENOSPC' }),
  '[ERROR] InnoDB: preallocating 100663296 bytes for file ./ib_logfile101 failed with error 28',
  'mariadbd: Error writing file \'./aria_log.00000001\' (Errcode: 28 "No space left on device")',
  'OS error number 28',
  'Disk quota exceeded',
])('a full disk is seen in %s', (said) => expect(saysDiskFull(said)).toBe(true));

test.each([new Error('ECONNREFUSED'), 'error 281', 'table is full', 'ready for connections'])(
  'no full disk is seen in %s',
  (said) => expect(saysDiskFull(said)).toBe(false),
);
