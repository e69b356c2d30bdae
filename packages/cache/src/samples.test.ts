import { expect, test } from 'vitest';
import { createLeases } from './leases.ts';
import { cacheSamples } from './samples.ts';

test('every figure has a name of ours, help and the labels it declares', () => {
  const leases = createLeases(() => 0);
  const figures = {
    hitMemory: 1,
    hitRedis: 2,
    missAbsent: 3,
    missExpired: 4,
    coalesced: 5,
    refusedFills: 6,
    tooLarge: 7,
    errors: 8,
    bytesRead: 9,
    bytesFilled: 10,
  };
  const samples = cacheSamples({
    leases,
    figures: () => ({ families: new Map([['body', figures]]), memoryBytes: 11, memoryEntries: 12 }),
  });
  for (const { name, help, labels, values } of samples) {
    expect(name).toMatch(/^sparkroom_cache_[a-z_]+$/);
    expect(help).not.toBe('');
    for (const value of values) expect(Object.keys(value.labels)).toEqual(labels);
  }
  const values = samples.flatMap(({ values }) => values.map(({ value }) => value));
  for (let value = 1; value <= 12; value++) expect(values).toContain(value);
});
