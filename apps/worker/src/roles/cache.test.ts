import type { AnyDomainEvent } from '@sparkroom/contract';
import { describe, expect, it } from 'vitest';
import { staleKeys } from './cache.ts';

const event = (type: string, payload: object): AnyDomainEvent =>
  ({ type, payload, aggregate: { type: 'idea', id: 'i1', version: 9 } }) as AnyDomainEvent;

describe('staleKeys', () => {
  it.each(['idea.created', 'idea.revised', 'idea.removed', 'guidance.published', 'guidance.removed'])(
    'of %s is the body, by its own version and not by the event’s',
    (type) => {
      expect(staleKeys(event(type, { bodyVersion: 4 }))).toEqual([{ family: 'body', id: 'i1', version: 4 }]);
    },
  );

  it('of what touches no cached value is nothing', () => {
    expect(staleKeys(event('idea.rated', { userId: 'u', raters: 1, first: true }))).toEqual([]);
    expect(staleKeys(event('idea.bodyStored', { bodyVersion: 4 }))).toEqual([]);
  });
});
