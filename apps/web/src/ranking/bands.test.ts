import { expect, it } from 'vitest';
import { bands } from './bands.ts';

it('groups neighbours and keeps the order', () => {
  const ideas = [1, 1, 2, 3, 3, 3].map((band, i) => ({ id: i, band }));
  expect(bands(ideas).map((b) => [b.band, b.ideas.map((i) => i.id)])).toEqual([
    [1, [0, 1]],
    [2, [2]],
    [3, [3, 4, 5]],
  ]);
  expect(bands([])).toEqual([]);
});
