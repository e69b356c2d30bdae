import type { Cause } from '@sparkroom/cache';
import type { AnyDomainEvent } from '@sparkroom/contract';
import { BODY, invalidateTouched, touchedBy } from '@sparkroom/core';
import { type Consumer, startConsumer } from '@sparkroom/events';
import { inboxOf, type Touch } from '@sparkroom/mysql';
import { drainMs, type Role, type RoleContext } from '../role.ts';

/** What an event makes old in the cache: a text below a version, and what is filed under older versions of collections. */
export interface Stale {
  body: { id: string; version: number } | null;
  touches: Touch[];
}

/** @param event any event of the catalogue */
export function staleBy(event: AnyDomainEvent): Stale {
  const { aggregate, payload } = event;
  const touches = touchedBy({
    type: event.type,
    aggregateId: aggregate.id,
    workspaceId: event.workspaceId,
    userId: 'userId' in payload ? payload.userId : event.actorId,
  });
  switch (event.type) {
    case 'idea.created':
    case 'idea.revised':
    case 'idea.removed':
    case 'guidance.published':
    case 'guidance.revised':
    case 'guidance.removed':
      return { body: { id: aggregate.id, version: event.payload.bodyVersion }, touches };
    default:
      return { body: null, touches };
  }
}

/**
 * Empties Redis after each change. The server that made the change may have done it too, right after its commit; this
 * is the one that is sure. Versions make repeating and overtaking harmless. Nothing is served wrongly meanwhile, since
 * readers compare versions: this frees memory and keeps late fills out.
 */
export function cacheRole({ mysql, cache, events, log }: RoleContext): Role {
  const consume = (aggregate: 'idea' | 'guidance' | 'membership'): Consumer =>
    startConsumer({
      events,
      name: `cache-${aggregate}-v1`,
      filter: `*.${aggregate}.*`,
      inbox: inboxOf(mysql),
      log,
      concurrency: 16,
      async handler(event) {
        const { body, touches } = staleBy(event);
        const cause: Cause = {
          eventId: event.id,
          event: event.type,
          actorId: event.actorId,
          requestId: event.requestId,
        };
        if (body) await cache.invalidate(BODY, body.id, body.version, cause);
        await invalidateTouched(mysql, cache, touches, () => cause);
      },
    });
  const consumers = [consume('idea'), consume('guidance'), consume('membership')];
  return {
    consumers,
    async stop() {
      await Promise.all(consumers.map((consumer) => consumer.stop(drainMs)));
    },
  };
}
