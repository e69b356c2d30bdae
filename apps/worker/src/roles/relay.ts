import { startRelay } from '@sparkroom/events';
import { outboxOf, PARTITIONS } from '@sparkroom/mysql';
import { every } from '../every.ts';
import type { Role, RoleContext } from '../role.ts';

/** Carries committed events from the outbox into the stream, and clears away those that left a day ago. */
export function relayRole({ mysql, events, log, metrics }: RoleContext): Role {
  const outbox = outboxOf(mysql);
  const relay = startRelay({ outbox, events, partitions: PARTITIONS, log, metrics: metrics.relay });
  metrics.watchRelay(relay, () => outbox.depth());
  const purge = every(10 * 60_000, 'outbox purge', log, async (signal) => {
    while (!signal.aborted && (await outbox.purge(24, 1_000)) === 1_000);
  });
  return {
    consumers: [],
    async stop() {
      await Promise.all([purge.stop(), relay.stop()]);
    },
  };
}
