import type { AnyDomainEvent } from '@sparkroom/contract';
import { BODY_FAMILY } from '@sparkroom/core';
import { type Consumer, startConsumer } from '@sparkroom/events';
import { inboxOf } from '@sparkroom/mysql';
import { drainMs, type Role, type RoleContext } from '../role.ts';

/** A cached value that an event makes old, with the version below which it is. */
export interface StaleKey {
  family: string;
  id: string;
  version: number;
}

/** Which cached values an event makes old. */
export function staleKeys(event: AnyDomainEvent): StaleKey[] {
  switch (event.type) {
    case 'idea.created':
    case 'idea.revised':
    case 'idea.removed':
    case 'guidance.published':
    case 'guidance.revised':
    case 'guidance.removed':
      return [{ family: BODY_FAMILY, id: event.aggregate.id, version: event.payload.bodyVersion }];
    default:
      return [];
  }
}

/**
 * Empties cached values after each change. Whoever made the change may have done it too, right after its commit; this
 * is the one that is sure. Versions make repeating and overtaking harmless.
 */
export function cacheRole({ mysql, cache, events, log }: RoleContext): Role {
  const consume = (aggregate: 'idea' | 'guidance'): Consumer =>
    startConsumer({
      events,
      name: `cache-${aggregate}-v1`,
      filter: `*.${aggregate}.*`,
      inbox: inboxOf(mysql),
      log,
      concurrency: 16,
      async handler(event) {
        await Promise.all(
          staleKeys(event).map(({ family, id, version }) => cache.invalidate({ family, id }, version)),
        );
      },
    });
  const consumers = [consume('idea'), consume('guidance')];
  return {
    consumers,
    async stop() {
      await Promise.all(consumers.map((consumer) => consumer.stop(drainMs)));
    },
  };
}
