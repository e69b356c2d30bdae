import { expect, it } from 'vitest';
import { onScale } from './score-scale.ts';

it.each([
  [1, 0],
  [3, 50],
  [4.2, 80],
  [5, 100],
  [0.4, 0],
  [5.3, 100],
])('%d is at %d %%', (score, place) => {
  expect(onScale(score)).toBeCloseTo(place);
});
