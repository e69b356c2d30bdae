import { expect, it } from 'vitest';
import { steps } from './next-step.ts';

it('leads forward and keeps the rest', () => {
  expect(steps('open', ['shortlisted', 'declined', 'archived'])).toEqual({
    next: 'shortlisted',
    others: ['declined', 'archived'],
  });
  expect(steps('shortlisted', ['open', 'accepted', 'declined'])).toEqual({
    next: 'accepted',
    others: ['open', 'declined'],
  });
  expect(steps('declined', ['open'])).toEqual({ next: null, others: ['open'] });
  expect(steps('open', [])).toEqual({ next: null, others: [] });
});
