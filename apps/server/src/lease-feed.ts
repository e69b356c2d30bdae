import type { Leases } from '@sparkroom/cache';
import { leaseOf, touchedBy } from '@sparkroom/core';
import { type ChangeFeed, type Events, type Log, openChangeFeed } from '@sparkroom/events';

/** Ends a process's leases as the events come by that make them old; without events none is believed. */
export function feedLeases(leases: Leases, events: Events, log: Log): ChangeFeed {
  return openChangeFeed({
    events,
    log,
    onEvent(event) {
      const { payload } = event;
      const touches = touchedBy({
        type: event.type,
        aggregateId: event.aggregate.id,
        workspaceId: event.workspaceId,
        userId: 'userId' in payload ? payload.userId : event.actorId,
      });
      for (const { scope, id } of touches) leases.drop(leaseOf(scope, id), Date.parse(event.at));
    },
    onBeat: (at) => leases.beat(at),
    onInterrupted: () => leases.interrupted(),
  });
}
