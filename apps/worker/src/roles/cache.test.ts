import type { AnyDomainEvent } from '@sparkroom/contract';
import { describe, expect, it } from 'vitest';
import { staleBy } from './cache.ts';

const event = (type: string, payload: object): AnyDomainEvent =>
  ({
    type,
    payload,
    aggregate: { type: type.slice(0, type.indexOf('.')), id: 'i1', version: 9 },
    workspaceId: 'w',
    actorId: 'a',
  }) as AnyDomainEvent;

const scopes = (one: AnyDomainEvent) => staleBy(one).touches.map(({ scope, id }) => `${scope} ${id}`);

describe('staleBy', () => {
  it.each(['idea.created', 'idea.revised', 'idea.removed', 'guidance.published', 'guidance.removed'])(
    '%s: the text, by its own version and not by the event’s',
    (type) => {
      expect(staleBy(event(type, { bodyVersion: 4 })).body).toEqual({ id: 'i1', version: 4 });
    },
  );

  it('a rating: the lists with scores and what is the rater’s own, not the members', () => {
    const rated = event('idea.rated', { userId: 'u', raters: 1, first: true });
    expect(scopes(rated)).toEqual(['rated w', 'own w:u']);
    expect(staleBy(rated).body).toBeNull();
  });

  it('a membership: the workspace, and the lists of the member rather than of who did it', () => {
    expect(scopes(event('membership.removed', { userId: 'u' }))).toEqual(['room w', 'user u']);
  });

  it('nothing when a text was only copied', () => {
    expect(staleBy(event('idea.bodyStored', { bodyVersion: 4 }))).toEqual({ body: null, touches: [] });
  });
});
