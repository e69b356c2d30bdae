import { expect, it } from 'vitest';
import { randomOf } from './random.ts';
import { compare } from './verdict.ts';

const event = (id: string, version: number) => ({ id, aggregate: 'idea i', version });

it('tells what is missing, twice, and out of turn', () => {
  const found = { lost: [] as string[], doubled: [] as string[], reordered: [] as string[] };
  compare('the stream', new Set(['a', 'b']), [event('a', 1), event('b', 2)], found);
  expect(found).toEqual({ lost: [], doubled: [], reordered: [] });
  compare(
    'the stream',
    new Set(['a', 'b', 'c', 'd']),
    [event('a', 1), event('c', 3), event('b', 2), event('a', 1)],
    found,
  );
  expect(found).toEqual({
    lost: ['d is not in the stream'],
    doubled: ['a is twice in the stream'],
    reordered: ['idea i: version 2 after 3 in the stream'],
  });
});

it('gives the same numbers for the same seed', () => {
  const take = (seed: number): number[] => Array.from({ length: 5 }, randomOf(seed));
  expect(take(7)).toEqual(take(7));
  expect(take(7)).not.toEqual(take(8));
  expect(take(7).every((n) => n >= 0 && n < 1)).toBe(true);
});
